"""How a model may answer: the modes, the letters and sentences that stand for options, and what is told to the model.

Pure code. Models see letters (A is the option shown first); what is stored are the instrument's stable codes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from materials.questions import BEST, WORST, apart_codes, option_codes, option_label

Orders = Mapping[str, Sequence[str]]
AnswerMode = Literal["auto", "json", "letter", "label", "number", "sentence", "sentence_last"]

ANSWER_MODES: tuple[tuple[AnswerMode, str], ...] = (
    ("auto", "JSON where the server can, otherwise JSON or words"),
    ("json", "A JSON object only"),
    ("letter", "The letter of an option"),
    ("label", "The text of an option"),
    ("number", "A number alone"),
    ("sentence", "A fixed sentence, strict: exactly one of them, as written"),
    ("sentence_last", "A fixed sentence, lenient: the last of them"),
)

MINIMUM_SENTENCE = 2  # characters beside the option, as in "({letter})"
NO_CONTENT: Mapping[str, Any] = {}

_LETTERED = ("choice", "multi", "pairwise", "rank", "best_worst")
_SINGLE = ("choice", "pairwise", "scale")
_KINDS: dict[AnswerMode, tuple[str, ...]] = {
    "letter": ("choice", "multi", "pairwise", "rank"),
    "label": ("choice", "multi", "pairwise", "scale"),
    "number": ("scale", "number"),
    "sentence": _SINGLE,
    "sentence_last": _SINGLE,
}


@dataclass(frozen=True)
class LetteredOption:
    """One option as a model sees it: `letter` by position, `label` its text for this item, `code` what is stored."""

    letter: str
    code: str
    label: str


def lettered_options(
    question: Any, order: Sequence[str] = (), content: Mapping[str, Any] = NO_CONTENT
) -> tuple[LetteredOption, ...]:
    """The options of a question that has some in the order shown; empty for all other kinds.

    `order` holds every option code once (as `draw_orders` makes it); empty is the instrument's own order. Raises
    ValueError when it does not fit the question.
    """
    if question.kind not in _LETTERED:
        return ()
    codes = list(order) or list(option_codes(question))
    if sorted(codes) != sorted(option_codes(question)):
        raise ValueError(f"{question.code}: the order {', '.join(codes)} does not hold each option once.")
    return tuple(
        LetteredOption(_letter(n), code, option_label(question, code, content)) for n, code in enumerate(codes)
    )


def labelled_options(
    question: Any, order: Sequence[str] = (), content: Mapping[str, Any] = NO_CONTENT
) -> tuple[LetteredOption, ...]:
    """The same with the points of a scale, which have a label (the number itself without one) but no letter."""
    if question.kind != "scale":
        return lettered_options(question, order, content)
    return tuple(LetteredOption("", code, option_label(question, code, content)) for code in option_codes(question))


def answer_sentences(options: Sequence[LetteredOption], sentence: str) -> list[str]:
    """The sentence that stands for each option: `{letter}` or `{text}` in `sentence` filled in."""
    return [sentence.replace("{letter}", option.letter).replace("{text}", option.label) for option in options]


def check_mode(mode: AnswerMode, sentence: str, questions: Sequence[Any]) -> None:
    """Raise ValueError, with one sentence for whoever chose the mode, when these questions cannot be answered in it."""
    names = dict(ANSWER_MODES)
    if mode not in names:
        raise ValueError(f"{str(mode)[:40]!r} is not an answer mode; use one of {', '.join(names)}.")
    if mode not in _KINDS:
        return
    if len(questions) != 1:
        raise ValueError(f"Several questions need the answer mode auto or json; {mode} reads one.")
    (question,) = questions
    if question.kind not in _KINDS[mode]:
        raise ValueError(
            f"The answer mode {mode} reads {' or '.join(_KINDS[mode])} questions; {question.code} is a {question.kind}."
        )
    if mode in ("sentence", "sentence_last"):
        _check_sentence(sentence, question)


def _check_sentence(sentence: str, question: Any) -> None:
    if sentence.count("{letter}") + sentence.count("{text}") != 1:
        raise ValueError("The answer sentence needs {letter} or {text} exactly once.")
    if len(sentence.replace("{letter}", "").replace("{text}", "").strip()) < MINIMUM_SENTENCE:
        raise ValueError(
            "The answer sentence needs words around {letter} or {text}; any option named in passing would count."
        )
    if question.kind == "scale" and "{letter}" in sentence:
        raise ValueError(f"The points of the scale {question.code} have no letters; use {{text}} in the sentence.")


def answer_schema(questions: Sequence[Any], orders: Orders) -> dict[str, Any]:
    """The JSON schema of the answer object: one required property per question code.

    choice and pairwise: a letter; multi and rank: a list of letters; best_worst: an object of two letters; scale: an
    integer within its bounds; number: a number (or integer) within its bounds; text: a string; span: a list of objects
    with a passage's words and its label. A question that is optional or shown on a condition may be null.
    """
    return {
        "type": "object",
        "properties": {question.code: _property(question, orders) for question in questions},
        "required": [question.code for question in questions],
        "additionalProperties": False,
    }


def answer_format(questions: Sequence[Any], orders: Orders, mode: AnswerMode = "auto", sentence: str = "") -> str:
    """What is asked for in this mode, as one paragraph for the prompt.

    Texts that options take from an item's field are not known here and are described instead. Raises ValueError when
    the mode does not fit the questions.
    """
    check_mode(mode, sentence, questions)
    if mode not in _KINDS:
        parts = [f'"{question.code}": {_in_words(question, orders)}' for question in questions]
        return f"Answer with one JSON object and nothing else: {{{', '.join(parts)}}}."
    (question,) = questions
    if mode == "number":
        return f"Answer with {_in_words(question, orders, alone=True)} and nothing else."
    if mode == "letter":
        wanted = _several(question, "letter") if question.kind == "multi" else "the letter of one option"
        if question.kind == "rank":
            wanted = f"the letters of {_how_many(question)}, the best first, separated by commas,"
        known, alone = _letters(question, orders), _only_alone(question, orders, "letter")
    elif mode == "label":
        wanted = _several(question, "exact text") if question.kind == "multi" else "the exact text of one option"
        known = _fixed_labels(question, orders)
        alone = _only_alone(question, orders, "label") if known else ""
    else:
        return _sentence_format(question, orders, sentence.strip())
    return f"Answer with {wanted} and nothing else{': ' if known else ''}{_listed(known)}{alone}."


def _sentence_format(question: Any, orders: Orders, sentence: str) -> str:
    if "{text}" in sentence and not _fixed_labels(question, orders):
        wanted = sentence.replace("{text}", "[the exact text of one option]")
        return f'End your answer with this sentence, filled in, and write it only once: "{wanted}"'
    wanted = _listed(answer_sentences(labelled_options(question, orders.get(question.code, ())), sentence))
    return f"End your answer with exactly one of these sentences and write none of the others: {wanted}"


def _fixed_labels(question: Any, orders: Orders) -> list[str]:
    """The options' texts; none when they are texts of the item."""
    if question.kind == "pairwise" or any(option.text_field for option in getattr(question, "options", ())):
        return []
    return [option.label for option in labelled_options(question, orders.get(question.code, ()))]


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts)


def _letter(position: int) -> str:
    """A to Z, then AA, AB..."""
    return (_letter(position // 26 - 1) if position >= 26 else "") + chr(ord("A") + position % 26)


def _letters(question: Any, orders: Orders) -> list[str]:
    return [option.letter for option in lettered_options(question, orders.get(question.code, ()))]


def _may_be_null(question: Any) -> bool:
    return not question.required or question.show_if is not None


def _property(question: Any, orders: Orders) -> dict[str, Any]:
    schema: dict[str, Any]
    if question.kind in ("choice", "pairwise"):
        schema = {"type": "string", "enum": _letters(question, orders)}
    elif question.kind == "multi":
        letters = _letters(question, orders)
        lowest = max(question.minimum, 1 if question.required else 0)
        highest = len(letters) if question.maximum is None else question.maximum
        items = {"type": "string", "enum": letters}
        return {"type": "array", "items": items, "minItems": lowest, "maxItems": highest}
    elif question.kind == "rank":
        items = {"type": "string", "enum": _letters(question, orders)}
        schema = {"type": "array", "items": items, "minItems": question.places, "maxItems": question.places}
    elif question.kind == "best_worst":
        letter = {"type": "string", "enum": _letters(question, orders)}
        schema = _object({BEST: letter, WORST: letter})
    elif question.kind == "span":
        labels = [label.code for label in question.labels]
        items = _object({"text": {"type": "string"}, "label": {"type": "string", "enum": labels}})
        schema = {"type": "array", "items": items, "minItems": 1 if question.required else 0}
        schema |= {"maxItems": question.most} if question.most else {}
    elif question.kind in ("scale", "number"):
        bounds = {"minimum": question.minimum, "maximum": question.maximum}
        whole = question.kind == "scale" or question.integer
        schema = {"type": "integer" if whole else "number"}
        schema |= {name: int(bound) if whole else bound for name, bound in bounds.items() if bound is not None}
    else:
        schema = {"type": "string"}  # no maxLength: grammars made from it are huge, and the token limit bounds it
    if _may_be_null(question):
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _amount(lowest: int, highest: int | None, what: str) -> str:
    """So many of these in words.

    >>> _amount(0, None, "letter"), _amount(1, None, "letter"), _amount(0, 3, "letter"), _amount(2, 3, "letter")
    ('letters', 'at least 1 letter', 'at most 3 letters', '2 to 3 letters')
    """
    if highest is None:
        number, last = (f"at least {lowest} ", lowest) if lowest else ("", 0)
    elif lowest == highest:
        number, last = f"{highest} ", highest
    else:
        number, last = f"{f'{lowest} to' if lowest else 'at most'} {highest} ", highest
    return f"{number}{what}{'' if last == 1 else 's'}"


def _chosen(question: Any, what: str) -> str:
    return _amount(max(question.minimum, 1 if question.required else 0), question.maximum, what)


def _several(question: Any, what: str) -> str:
    return f"{_chosen(question, what)} of the options, separated by commas,"


def _only_alone(question: Any, orders: Orders, name: Literal["letter", "label"]) -> str:
    """Which of several options exclude all others, by letter or text."""
    options = lettered_options(question, orders.get(question.code, ())) if question.kind == "multi" else ()
    alone = [f'"{getattr(option, name)}"' for option in options if option.code in apart_codes(question)]
    return f" ({' or '.join(alone)} only alone)" if alone else ""


def _how_many(question: Any) -> str:
    return f"the best {question.top} options" if getattr(question, "top", None) else "all options"


def _letters_in_words(question: Any, orders: Orders) -> str:
    if question.kind != "multi":
        return ""
    alone = _only_alone(question, orders, "letter")
    return f"a list of {_chosen(question, 'letter')} among {_listed(_letters(question, orders))}{alone}"


def _marks_in_words(question: Any) -> str:
    if question.kind != "span":
        return ""
    labels = _listed([label.code for label in question.labels])
    means = "; ".join(f"{label.code}: {label.text}" for label in question.labels if label.text != label.code)
    passages = _amount(1 if question.required else 0, question.most, "passage")
    apart = "" if question.overlap else " without overlap"
    return (
        f'a list of {passages}{apart}, each {{"text": words copied exactly from {question.field}, '
        f'"label": one of {labels}}}{f" ({means})" if means else ""}'
    )


def _in_words(question: Any, orders: Orders, *, alone: bool = False) -> str:
    letters = _listed(_letters(question, orders))
    low, high = getattr(question, "minimum", None), getattr(question, "maximum", None)
    bounds = (f" of at least {low:g}" if low is not None else "") + (
        f" of at most {high:g}" if high is not None else ""
    )
    if low is not None and high is not None:
        bounds = f" from {low:g} to {high:g}"
    whole = question.kind == "scale" or getattr(question, "integer", False)
    words = {
        "choice": f"one of {letters}",
        "pairwise": f"one of {letters}",
        "multi": _letters_in_words(question, orders),
        "scale": f"a whole number{bounds}",
        "number": f"a {'whole ' if whole else ''}number{bounds}",
        "text": f"a text of at most {getattr(question, 'max_length', 0):,} characters",
        "rank": f"a list of letters among {letters} that puts {_how_many(question)} in order, the best first",
        "best_worst": f'{{"best": one of {letters}, "worst": another of them}}',
        "span": _marks_in_words(question),
    }[question.kind]
    return f"{words} or null" if _may_be_null(question) and not alone else words
