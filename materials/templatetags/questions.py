"""Drawing a question's fields."""

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from materials.presentation import ShownQuestion

register = template.Library()
LONGEST_KEPT = 5000  # characters of all labels; they may be texts of an item, which are seen once and may be long


@register.simple_tag
def question_fields(question: ShownQuestion) -> SafeString:
    """The fields of the form. Unanswered questions look the same for item after item, so that they are drawn once."""
    short = sum(len(option.label) for option in question.options) <= LONGEST_KEPT
    return _kept(question) if short and question.value is None and not question.error else _drawn(question)


def _drawn(question: ShownQuestion) -> SafeString:
    return render_to_string("materials/question.html", {"question": question})


_kept = lru_cache(maxsize=256)(_drawn)
