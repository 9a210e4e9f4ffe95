"""From a model's reply to values of an instrument's questions, or to the reason why there are none.

Pure code. A reply is never guessed at: what is not clearly one answer is `unparsed`, with a sentence that says what was
wrong and can be shown to the model when it is asked again. Models see letters (A is the option shown first); what comes
out are the instrument's stable codes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llm.reading.answer_formats import (
    ANSWER_MODES,
    NO_CONTENT,
    AnswerMode,
    LetteredOption,
    Orders,
    answer_format,
    answer_schema,
    answer_sentences,
    check_mode,
    labelled_options,
    lettered_options,
)
from llm.reading.replytext import (
    UnclearError,
    json_objects,
    marked_answer,
    marked_letters,
    plain_sentence,
    sentences_in,
    split_think,
)
from materials.questions import TIE, AnswerError, check_value, is_shown
from materials.spans import find_quote

__all__ = [
    "ANSWER_MODES",
    "AnswerMode",
    "LetteredOption",
    "Parsed",
    "answer_format",
    "answer_schema",
    "check_mode",
    "lettered_options",
    "parse_reply",
    "split_reasoning",
]

MAX_ENTRIES = 200  # entries of one list of options

ParsedStatus = Literal["ok", "unparsed"]
ParsedMode = Literal["", "json", "letter", "label", "number", "text", "sentence", "sentence_last"]


@dataclass(frozen=True)
class Parsed:
    """What a reply says: values by question code (only when `ok`), how they were read, and otherwise what was wrong.

    `mode` is the one that read the reply: what "auto" came down to, otherwise the mode that was asked for.
    """

    status: ParsedStatus
    values: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    mode: ParsedMode = ""


def parse_reply(
    text: str,
    questions: Sequence[Any],
    orders: Orders,
    *,
    content: Mapping[str, Any] = NO_CONTENT,
    mode: AnswerMode = "auto",
    sentence: str = "",
) -> Parsed:
    """Read a reply (without reasoning, or with it inline) to `questions` whose options were shown in `orders`.

    `content` is the item's, for options whose text is a field of the item. What sounds like a refusal is `unparsed`:
    whether a model refused is for its server to say (`Reply.status`). Raises ValueError when the mode does not fit the
    questions.

    auto: a JSON object; without one, a single question may be answered in words.
    json: a JSON object.
    letter, label: the letter, or nothing but the text, of one option (multi and rank: a list of them, separated by
        commas).
    number: nothing but a number.
    sentence: exactly one of the sentences made from `sentence`, as written; two different ones are unparsed.
    sentence_last: the last of them, whatever their case, quotes and kind of punctuation.
    """
    check_mode(mode, sentence, questions)
    answer, _ = split_think(text)
    if not answer:
        return Parsed("unparsed", problem="The reply is empty.")
    try:
        if mode in ("auto", "json"):
            found = _find_answers(json_objects(answer), questions)
            if found is not None:
                return Parsed("ok", _read_all(found, questions, orders, content), mode="json")
            if mode == "json" or len(questions) != 1:
                raise UnclearError("The reply holds no JSON object with the answers.")
        (question,) = questions
        order = orders.get(question.code, ())
        options = labelled_options(question, order, content)
        if mode in ("sentence", "sentence_last"):
            value, read_as = _read_sentence(answer, question, options, sentence, mode)
        else:
            read = _WORDS[question.kind] if mode == "auto" else _MODES[mode]
            value, read_as = read(answer, question, options)
        return Parsed("ok", {question.code: check_value(question, value)}, mode=read_as)
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
        value = check_value(question, None if raw is None else _read_value(raw, question, orders, content), content)
        if value is not None:
            values[question.code] = value
    return values


def _read_value(raw: Any, question: Any, orders: Orders, content: Mapping[str, Any]) -> Any:
    if question.kind == "span":
        return _located(raw, question, content)
    options = lettered_options(question, orders.get(question.code, ()), content)
    if not options:
        return raw
    if question.kind == "best_worst" and isinstance(raw, dict):
        return {place: _read_option(entry, question, options) for place, entry in raw.items()}
    if question.kind == "rank" and not isinstance(raw, list):
        raise UnclearError(f"{question.code}: give a list of letters, the best first.")
    if question.kind in ("multi", "rank"):
        return [_read_option(entry, question, options) for entry in (raw if isinstance(raw, list) else [raw])]
    return _read_option(raw, question, options)


def _located(raw: Any, question: Any, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The passages that a list of quotes with labels means, each of which must stand in the text exactly once."""
    names = {name.casefold(): label.code for label in question.labels for name in (label.text, label.code)}
    text, spans = question.text_of(content), []
    for entry in raw if isinstance(raw, list) else [raw]:
        quote, label = (entry.get("text"), entry.get("label")) if isinstance(entry, dict) else (None, None)
        if not isinstance(quote, str) or not isinstance(label, str):
            raise UnclearError(f'{question.code}: give a list of {{"text": ..., "label": ...}}.')
        try:
            start, end = find_quote(text, quote)
        except ValueError as error:
            raise UnclearError(f"{question.code}: {error}") from error
        spans.append({"start": start, "end": end, "label": names.get(label.strip().casefold(), label)})
    return spans


def _read_option(raw: Any, question: Any, options: Sequence[LetteredOption]) -> str:
    codes = _matching(raw, question, options) if isinstance(raw, str) else set()
    return _only(codes, str(raw), question, [option.letter for option in options])


def _only(codes: set[str], raw: str, question: Any, names: Sequence[str]) -> str:
    if len(codes) != 1:
        fault = "fits several" if codes else "is not one"
        raise UnclearError(f"{question.code}: {raw[:80]!r} {fault} of {', '.join(names)}.")
    return next(iter(codes))


def _matching(raw: str, question: Any, options: Sequence[LetteredOption]) -> set[str]:
    """The codes that a text names by letter, by the option's text, or by both ("B. No": two codes if they disagree)."""
    plain = _plain(raw)
    codes = {option.code for option in options if plain and plain in (_plain(option.letter), _plain(option.label))}
    if question.kind == "pairwise" and question.allow_tie and plain == TIE:
        codes.add(TIE)
    return codes or _by_letter_and_text(raw, options)


def _by_letter_and_text(raw: str, options: Sequence[LetteredOption]) -> set[str]:
    both = re.match(r"\W*([A-Za-z]{1,2})\W*[.):\-]\W*(?=\w)(.+)$", _short(raw), re.DOTALL)
    if both is None:
        return set()
    by_text = {option.code for option in options if _plain(option.label) == _plain(both.group(2))}
    by_letter = {option.code for option in options if option.letter == both.group(1).upper()}
    return by_text | by_letter if by_text else set()


def _read_choice_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    for candidate in dict.fromkeys([text, marked_answer(text)]):
        if _matching(candidate, question, options):
            code = _read_option(candidate, question, options)
            is_letter = _plain(candidate) in [_plain(option.letter) for option in options]
            return code, "letter" if is_letter else "label"
    return _marked_option(text, question, options), "letter"


def _marked_option(text: str, question: Any, options: Sequence[LetteredOption]) -> str:
    letters = marked_letters(text, [option.letter for option in options])
    if len(letters) == 1:
        return next(option.code for option in options if option.letter in letters)
    fault = f"names {' and '.join(sorted(letters))}" if letters else "names none"
    names = ", ".join(option.letter for option in options)
    raise UnclearError(f"{question.code}: the reply {fault} of {names}; exactly one is needed.")


def _read_multi_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    entries = _entries(text)
    letters = {_plain(option.letter) for option in options}
    mode: ParsedMode = "letter" if all(_plain(entry) in letters for entry in entries) else "label"
    return [_read_option(entry, question, options) for entry in entries], mode


def _read_letters(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    if question.kind in ("multi", "rank"):
        return [_read_letter(entry, question, options) for entry in _entries(text)], "letter"
    if len(_by_letter_and_text(text, options)) > 1:
        raise UnclearError(f"{question.code}: {text[:80]!r} names one option by its letter and another by its text.")
    return _marked_option(text, question, options), "letter"


def _read_letter(entry: str, question: Any, options: Sequence[LetteredOption]) -> str:
    codes = {option.code for option in options if _plain(option.letter) == _plain(entry)}
    return _only(codes, entry, question, [option.letter for option in options])


def _read_labels(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    if question.kind != "multi":
        return _only(_labelled(text, options), text, question, [option.label[:80] for option in options]), "label"
    readings = _label_lists(text.split(",", MAX_ENTRIES), options)
    if len(readings) != 1:
        fault = "can be read in several ways as" if readings else "is not"
        raise UnclearError(f"{question.code}: {text[:80]!r} {fault} a list of the options' texts, separated by commas.")
    return sorted(next(iter(readings))), "label"


def _labelled(text: str, options: Sequence[LetteredOption]) -> set[str]:
    """The options whose text this is: as written, otherwise apart from case and the marks around it."""
    exact = {option.code for option in options if option.label.strip() == text.strip()}
    plain = _plain(text)
    return exact or {option.code for option in options if plain and _plain(option.label) == plain}


def _label_lists(pieces: Sequence[str], options: Sequence[LetteredOption]) -> set[frozenset[str]]:
    """The sets of codes that the pieces between commas can mean, as the options' texts may hold commas themselves.

    Two at most: that is enough to know that the list is unclear.
    """
    lengths = {1 + option.label.count(",") for option in options}
    readings: list[set[frozenset[str]]] = [{frozenset()}]
    for end in range(1, len(pieces) + 1):
        here: set[frozenset[str]] = set()
        for start in (end - length for length in lengths if length <= end):
            for code in _labelled(",".join(pieces[start:end]), options) if readings[start] else ():
                here |= {reading | {code} for reading in readings[start]}
        readings.append(set(sorted(here, key=sorted)[:2]))
    return readings[-1]


def _read_number_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    number = re.fullmatch(r"\W*?([-+]?\d{1,15}(?:\.\d{1,15})?)[^\w.%]*\.?\W*", _short(marked_answer(text)))
    if number is None:
        raise UnclearError(f"{question.code}: the reply is not a number alone.")
    return float(number.group(1)), "number"


def _read_no_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    raise UnclearError(f"{question.code}: the reply holds no JSON object with the answer.")


def _read_text_words(text: str, question: Any, options: Sequence[LetteredOption]) -> tuple[Any, ParsedMode]:
    return text, "text"


def _read_sentence(
    text: str, question: Any, options: Sequence[LetteredOption], sentence: str, mode: AnswerMode
) -> tuple[Any, ParsedMode]:
    named = " or ".join(f'"{entry[:200]}"' for entry in answer_sentences(options, sentence.strip()))
    before, place, after = re.split(r"(\{letter\}|\{text\})", sentence.strip())
    fillings = [option.letter if place == "{letter}" else option.label for option in options]
    if mode == "sentence_last":
        text, before, after = plain_sentence(text), plain_sentence(before), plain_sentence(after).rstrip(" .")
        fillings = [plain_sentence(filling) for filling in fillings]
    if len(set(fillings)) < len(fillings):
        raise UnclearError(f"{question.code}: two options have the same sentence, so no reply can tell them apart.")
    found = sentences_in(text, before, fillings, after)
    if not found:
        raise UnclearError(f"{question.code}: the reply holds none of the sentences {named}; write one, as it stands.")
    if mode == "sentence" and len({index for index, _ in found}) > 1:
        raise UnclearError(f"{question.code}: the reply holds several of the sentences {named}; write only one.")
    return options[found[-1][0]].code, "sentence" if mode == "sentence" else "sentence_last"


def _entries(text: str) -> list[str]:
    entries = re.split(r"\s*(?:,|;|>|\n|\band\b)\s*", _short(marked_answer(text)))
    return [entry for entry in entries if entry]


def _short(text: str) -> str:
    """The text if it is short enough for patterns whose cost grows with its square, else nothing."""
    return text.strip() if len(text) <= 1000 else ""


def _plain(text: str) -> str:
    """Without case, runs of white space, and the marks that models put around an answer."""
    return " ".join(text.casefold().split()).strip(" .!*_`\"'()[]:")


_Reader = Callable[[str, Any, Sequence[LetteredOption]], tuple[Any, ParsedMode]]
_WORDS: dict[str, _Reader] = {
    "choice": _read_choice_words,
    "pairwise": _read_choice_words,
    "multi": _read_multi_words,
    "rank": _read_multi_words,
    "best_worst": _read_no_words,
    "span": _read_no_words,
    "scale": _read_number_words,
    "number": _read_number_words,
    "text": _read_text_words,
}
_MODES: dict[AnswerMode, _Reader] = {"letter": _read_letters, "label": _read_labels, "number": _read_number_words}
