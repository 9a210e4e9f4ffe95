"""Numbers as pages print them."""

from django import template
from django.template.defaultfilters import floatformat

register = template.Library()


@register.filter
def decimals(number: float, places: int) -> str:
    """The number with so many places, a minus sign in place of the hyphen, and no sign on a zero.

    >>> decimals(-0.333, 2), decimals(-0.001, 2)
    ('−0.33', '0.00')
    """
    text = str(floatformat(number, places))
    return text.replace("-", "−") if any(digit in text for digit in "123456789") else text.lstrip("-")


@register.filter
def percent(share: float, places: int) -> str:
    """A share in [0, 1] as `decimals` prints it in per cent.

    >>> percent(0.625, 1)
    '62.5'
    """
    return decimals(100 * share, places)
