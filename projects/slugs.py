"""Short names for addresses, from the names that people give."""

from collections.abc import Collection
from itertools import chain, count

from django.utils.html import strip_tags
from django.utils.text import slugify

# Letters that Unicode does not take apart into a Latin letter and a mark.
LATIN = str.maketrans({"œ": "oe", "æ": "ae", "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i"})
LONGEST = 70  # leaves room for a number in fields of 80 characters


def free_slug(name: str, *, taken: Collection[str], otherwise: str) -> str:
    """The name as a slug, numbered when it is taken; from `otherwise` for a name without Latin letters or digits.

    >>> free_slug("Café 2", taken={"cafe-2"}, otherwise="project"), free_slug("茶道", taken=(), otherwise="project")
    ('cafe-2-2', 'project')
    >>> free_slug("Étude cœur & <b>customs</b>", taken=(), otherwise="project")
    'etude-coeur-customs'
    """
    base = slugify(strip_tags(name).lower().translate(LATIN))[:LONGEST].strip("-") or otherwise
    numbered = (f"{base}-{n}" for n in count(2))
    return next(slug for slug in chain([base], numbered) if slug not in taken)
