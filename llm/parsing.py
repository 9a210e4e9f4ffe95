"""From a model's reply to values of an instrument's questions, or to the reason why there are none.

Pure code. A reply is never guessed at: what is not clearly one answer is `unparsed`, with a sentence that says what was
wrong and can be shown to the model when it is asked again. Models see letters (A is the option shown first); what comes
out are the instrument's stable codes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llm.replytext import UnclearError, json_objects, marked_answer, marked_letters, split_think
from materials.questions import TIE, AnswerError, check_value, is_shown, option_codes, option_label

Orders = Mapping[str, Sequence[str]]
ParsedStatus = Literal["ok", "unparsed"]
ParsedMode = Literal["", "json", "option_text", "option_letter", "number", "letter_list", "text"]

NO_CONTENT: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Parsed:
    """What a reply says: values by question code (only when `ok`), how they were read, and otherwise what was wrong."""

    status: ParsedStatus
    values: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    mode: ParsedMode = ""


@dataclass(frozen=True)
class LetteredOption:
    """One option as a model sees it: `letter` by position, `label` its text for this item, `code` what is stored."""

    letter: str
    code: str
    label: str


def lettered_options(
    question: Any, order: Sequence[str] = (), content: Mapping[str, Any] = NO_CONTENT
) -> tuple[LetteredOption, ...]:
    """The options of a choice, multi or pairwise question in the order shown; empty for all other kinds.

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


def answer_schema(questions: Sequence[Any], orders: Orders) -> dict[str, Any]:
    """The JSON schema of the answer object: one required property per question code.

    choice and pairwise: a letter; multi: a list of letters; scale: an integer within its bounds; number: a number (or
    integer) within its bounds; text: a string. A question that is optional or shown on a condition may be null.
    """
    return {
        "type": "object",
        "properties": {question.code: _property(question, orders) for question in questions},
        "required": [question.code for question in questions],
        "additionalProperties": False,
    }


def answer_format(questions: Sequence[Any], orders: Orders) -> str:
    """The same as one paragraph for the prompt, for servers that cannot be given a schema."""
    parts = [f'"{question.code}": {_in_words(question, orders)}' for question in questions]
    return f"Answer with one JSON object and nothing else: {{{', '.join(parts)}}}."


def parse_reply(
    text: str,
    questions: Sequence[Any],
    orders: Orders,
    *,
    content: Mapping[str, Any] = NO_CONTENT,
) -> Parsed:
    """Read a reply (without reasoning, or with it inline) to `questions` whose options were shown in `orders`.

    `content` is the item's, for options whose text is a field of the item. What sounds like a refusal is `unparsed`:
    whether a model refused is for its server to say (`Reply.status`). A JSON object is looked for first; without one, a
    single question may be answered in words.
    """
    answer, _ = split_think(text)
    if not answer:
        return Parsed("unparsed", problem="The reply is empty.")
    try:
        found = _find_answers(json_objects(answer), questions)
        if found is not None:
            return Parsed("ok", _read_all(found, questions, orders, content), mode="json")
        if len(questions) != 1:
            raise UnclearError("The reply holds no JSON object with the answers.")
        value, mode = _read_words(answer, questions[0], orders, content)
        return Parsed("ok", {questions[0].code: check_value(questions[0], value)}, mode=mode)
    except (UnclearError, AnswerError) as error:
        return Parsed("unparsed", problem=str(error))


def split_reasoning(message: Mapping[str, Any]) -> tuple[str, str]:
    """The answer and the reasoning of a chat message: from `reasoning_content`, `reasoning` and inline `<think>`.

    `content` may be null, a string or a list of parts. A `<think>` that is never closed leaves no answer, unless the
    text ends with a JSON object.
    """
    answer, inline = split_think(_joined(message.get("content")))
    given = [_joined(message.get(name)).strip() for name in ("reasoning_content", "reasoning")]
    parts = dict.fromkeys(part for part in [*given, inline] if part)  # some servers fill both fields alike
    return answer, "\n\n".join(parts)


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "".join(part for part in parts if isinstance(part, str))


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


def _in_words(question: Any, orders: Orders) -> str:
    letters = ", ".join(f'"{letter}"' for letter in _letters(question, orders))
    low, high = getattr(question, "minimum", None), getattr(question, "maximum", None)
    bounds = (f" of at least {low:g}" if low is not None else "") + (
        f" of at most {high:g}" if high is not None else ""
    )
    words = {
        "choice": f"one of {letters}",
        "pairwise": f"one of {letters}",
        "multi": f"a list of letters among {letters}",
        "scale": f"a whole number{bounds}",
        "number": f"a number{bounds}",
        "text": "a text",
    }[question.kind]
    return f"{words} or null" if _may_be_null(question) else words


def _find_answers(objects: Sequence[dict[str, Any]], questions: Sequence[Any]) -> dict[str, Any] | None:
    """The answers by question code, from the objects of a reply; None when there is no object at all.

    Several objects (a draft, a quoted instruction) count only when they agree.
    """
    codes = {question.code for question in questions}
    found = [{code: value for code, value in entry.items() if code in codes} for entry in objects]
    if len(questions) == 1:
        (code,) = codes
        found = [
            answers or ({code: entry["answer"]} if "answer" in entry else {})
            for answers, entry in zip(found, objects, strict=True)
        ]
    found = [answers for answers in found if answers]
    if not found:
        if objects:
            raise UnclearError(f"The JSON object has no key {', '.join(sorted(codes))}.")
        return None
    if any(answers != found[0] for answers in found):
        raise UnclearError("The reply holds several JSON objects that differ.")
    return found[0]


def _read_all(
    found: Mapping[str, Any], questions: Sequence[Any], orders: Orders, content: Mapping[str, Any]
) -> dict[str, Any]:
    """Checked values in the order of the questions; a question that its condition hides gets none."""
    values: dict[str, Any] = {}
    for question in questions:
        if not is_shown(question, values):
            continue
        raw = found.get(question.code)
        value = check_value(question, None if raw is None else _read_value(raw, question, orders, content))
        if value is not None:
            values[question.code] = value
    return values


def _read_value(raw: Any, question: Any, orders: Orders, content: Mapping[str, Any]) -> Any:
    if question.kind not in _LETTERED:
        return raw
    options = lettered_options(question, orders.get(question.code, ()), content)
    if question.kind == "multi":
        return [_read_option(entry, question, options) for entry in (raw if isinstance(raw, list) else [raw])]
    return _read_option(raw, question, options)


def _read_option(raw: Any, question: Any, options: Sequence[LetteredOption]) -> str:
    codes = _matching(raw, question, options) if isinstance(raw, str) else set()
    if len(codes) != 1:
        fault = "fits several" if codes else "is not one"
        raise UnclearError(f"{question.code}: {str(raw)[:80]!r} {fault} of {_listed(options)}.")
    return codes.pop()


def _matching(raw: str, question: Any, options: Sequence[LetteredOption]) -> set[str]:
    """The codes that a text names by letter, by the option's text, or by both ("B. No": two codes if they disagree)."""
    codes = {option.code for option in options if _plain(raw) in (_plain(option.letter), _plain(option.label))}
    if question.kind == "pairwise" and question.allow_tie and _plain(raw) == TIE:
        codes.add(TIE)
    both = re.match(r"\W*([A-Za-z]{1,2})\W*[.):\-]\W*(?=\w)(.+)$", _short(raw), re.DOTALL)
    if codes or both is None:
        return codes
    by_text = {option.code for option in options if _plain(option.label) == _plain(both.group(2))}
    by_letter = {option.code for option in options if option.letter == both.group(1).upper()}
    return by_text | by_letter if by_text else set()


def _read_words(text: str, question: Any, orders: Orders, content: Mapping[str, Any]) -> tuple[Any, ParsedMode]:
    return _READERS[question.kind](text, question, lettered_options(question, orders.get(question.code, ()), content))


def _read_choice_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    for candidate in dict.fromkeys([text, marked_answer(text)]):
        if _matching(candidate, question, options):
            code = _read_option(candidate, question, options)
            is_letter = _plain(candidate) in [_plain(option.letter) for option in options]
            return code, "option_letter" if is_letter else "option_text"
    letters = marked_letters(text, [option.letter for option in options])
    if len(letters) == 1:
        (letter,) = letters
        return next(option.code for option in options if option.letter == letter), "option_letter"
    fault = f"names {' and '.join(sorted(letters))}" if letters else "names none"
    raise UnclearError(f"{question.code}: the reply {fault} of {_listed(options)}; exactly one is needed.")


def _read_multi_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    entries = [entry for entry in re.split(r"\s*(?:,|;|\n|\band\b)\s*", _short(marked_answer(text))) if entry]
    return [_read_option(entry, question, options) for entry in entries], "letter_list"


def _read_number_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    number = re.fullmatch(r"\W*?([-+]?\d{1,15}(?:\.\d{1,15})?)[^\w.%]*\.?\W*", _short(marked_answer(text)))
    if number is None:
        raise UnclearError(f"{question.code}: the reply is not a number alone.")
    return float(number.group(1)), "number"


def _read_text_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    return text, "text"


def _short(text: str) -> str:
    """The text if it is short enough for patterns whose cost grows with its square, else nothing."""
    return text.strip() if len(text) <= 1000 else ""


def _plain(text: str) -> str:
    """Without case, runs of white space, and the marks that models put around an answer."""
    return " ".join(text.casefold().split()).strip(" .!*_`\"'()[]:")


def _listed(options: Sequence[LetteredOption]) -> str:
    return ", ".join(option.letter for option in options)


_LETTERED = ("choice", "multi", "pairwise")
_READERS: dict[str, Callable[[str, Any, Sequence[LetteredOption]], tuple[Any, ParsedMode]]] = {
    "choice": _read_choice_words,
    "pairwise": _read_choice_words,
    "multi": _read_multi_words,
    "scale": _read_number_words,
    "number": _read_number_words,
    "text": _read_text_words,
}
