"""From the fields of a form to what was typed for a question, whoever drew the form."""

import re
from typing import Any

from django.http import QueryDict

from materials.questions import BEST, WORST, option_codes

# Some telephones offer nothing but a comma to write decimals with; before three digits it may part thousands.
DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d{1,2}|\d{4,})")


def form_value(question: Any, name: str, form: QueryDict) -> Any:
    """What a form says for the question whose fields have this name; None when none of them was sent.

    multi: the chosen options, maybe none. rank: a place for each option that was given one, in fields named
    `name:option`. best_worst: options in the fields `name:best` and `name:worst`. text, span: a text, as it was typed.
    number: a text with a point before its decimals. All others: a text too, but, as for numbers, a list when several
    were sent, so that none of them is taken for the answer.
    """
    if question.kind == "multi":
        return [clean_text(str(value)) for value in form.getlist(name)]
    if question.kind in ("rank", "best_worst"):
        parts = (BEST, WORST) if question.kind == "best_worst" else option_codes(question)
        given = {part: _only(form, f"{name}:{part}") for part in parts if f"{name}:{part}" in form}
        return {part: value for part, value in given.items() if value} if given else None
    if name not in form:
        return None
    if question.kind in ("text", "span"):
        return clean_text(str(form[name]))
    sent = _only(form, name)
    if question.kind == "number" and isinstance(sent, str) and (split := DECIMAL_COMMA.fullmatch(sent.strip())):
        return ".".join(split.groups())
    return sent


def _only(form: QueryDict, name: str) -> str | list[str]:
    given = list(dict.fromkeys(clean_text(str(value)) for value in form.getlist(name)))
    return given[0] if len(given) == 1 else given


def clean_text(text: str) -> str:
    """A plain form sends line ends as CR LF and a script as LF; one text must not become two answers."""
    return text.replace("\x00", "").replace("\r\n", "\n")
