"""Where in a reply the answer to a question stands, and how each option would have been spelled there.

Pure code. A place is found only for what `parse_reply` has read, and only when it is the one place.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm.reading.answer_formats import LetteredOption
from llm.reading.replytext import CHOOSING, UnclearError, marked_answer, placed_objects, sentences_in, value_place
from materials.questions import TIE

MAX_OCCURRENCES = 1000  # of a letter in one reply

_MARKS = " \t\r\n.!*_`\"'()[]:"
_LETTER_ENDS = re.compile(r"(?![\w'’-])")
_NUMBER_ENDS = re.compile(r"(?!\d|\.\d)")
_TEXT_ENDS = re.compile(r"[\s.!*_`'()\[\]:]*(?:$|[\"<])")
_CHOSEN = re.compile(rf"{CHOOSING}[\s:=*_\"'`(\[]*$", re.IGNORECASE)
_BEGINNING = re.compile(r"\s*(?:$|\n|[.):,*])")


@dataclass(frozen=True)
class Place:
    """`start`: index of the answer's first character. `spellings`: (option code, how it is written there).

    `ends` matches what may follow a spelling that is complete; `fold`: case does not matter.
    """

    start: int
    spellings: tuple[tuple[str, str], ...]
    ends: re.Pattern[str]
    fold: bool = False

    def fitting(self, written: str) -> set[str]:
        """The codes of the options that a text beginning at the place can be, or be the beginning of.

        >>> sorted(Place(0, (("one", "1"), ("ten", "10")), _NUMBER_ENDS).fitting("1"))
        ['one', 'ten']
        >>> Place(0, (("one", "1"), ("ten", "10")), _NUMBER_ENDS).fitting("1}")
        {'one'}
        """
        written = written.casefold() if self.fold else written
        found = set()
        for code, spelling in self.spellings:
            spelled = spelling.casefold() if self.fold else spelling
            complete = written.startswith(spelled) and self.ends.match(written, len(spelled)) is not None
            if complete or spelled.startswith(written):
                found.add(code)
        return found

    def spelled(self, written: str) -> str:
        """The code of the option that is written in full, "" if it is not one."""
        codes = {code for code, spelling in self.spellings if spelling.casefold() == written.casefold()}
        return codes.pop() if len(codes) == 1 else ""


def json_place(answer: str, question: Any, options: Sequence[LetteredOption], code: str) -> Place:
    """The place inside the value of the question's key. Raises UnclearError when there is not one place."""
    places = []
    for opening, entry in placed_objects(answer):
        name = question.code if question.code in entry else "answer"
        places += [value_place(answer, opening, name)] if name in entry else []
    if len(places) != 1:
        raise UnclearError(f"{question.code}: its key stands in {len(places)} JSON objects of the reply.")
    start, end = places[0]
    value = answer[start:end]
    first = start + len(value) - len(value.lstrip(_MARKS))
    if question.kind == "scale":
        return _number_place(first, options)
    texts = [(own, json.dumps(text, ensure_ascii=False)[1:-1]) for own, text in _texts(options)]
    letters = [(option.code, option.letter) for option in options]
    if _plain(value) not in [_plain(text) for _, text in texts]:
        return Place(first, tuple(letters), _LETTER_ENDS, fold=True)
    if _plain(value) in [_plain(letter) for _, letter in letters]:  # then the others could have been either, too
        texts += letters
    return _text_place(answer, first, texts, code)


def letter_place(answer: str, question: Any, options: Sequence[LetteredOption], code: str) -> Place:
    """The place of the letter that was read as `code`: the only one, the one chosen in words, or the one that begins
    the reply. Raises UnclearError when several could be it.
    """
    letter = next(option.letter for option in options if option.code == code)
    starts: list[int] = []
    for spelling in (letter, letter.lower()):
        starts = starts or [match.start() for match in re.finditer(rf"(?<![\w'’-]){spelling}(?![\w'’-])", answer)]
    if len(starts) > MAX_OCCURRENCES:
        starts = []
    chosen = [start for start in starts if _CHOSEN.search(answer[max(0, start - 80) : start])]
    begins = [
        start
        for start in starts[:1]
        if not answer[:start].strip(_MARKS) and _BEGINNING.match(answer, start + len(letter))
    ]
    for found in (starts, chosen, begins):
        if len(found) == 1:
            lower = answer[found[0]].islower()
            spellings = [(option.code, option.letter.lower() if lower else option.letter) for option in options]
            return Place(found[0], tuple(spellings), _LETTER_ENDS)
    raise UnclearError(f"{question.code}: the letter {letter} stands in several places of the reply.")


def label_place(answer: str, options: Sequence[LetteredOption], code: str) -> Place:
    """The place of a text that is the whole reply, or what follows "Answer:"."""
    texts = _texts(options)
    candidate = answer if _plain(answer) in [_plain(text) for _, text in texts] else marked_answer(answer)
    return _text_place(answer, len(answer) - len(candidate.lstrip(_MARKS)), texts, code)


def number_place(answer: str, options: Sequence[LetteredOption]) -> Place:
    """The place of the number that is the whole reply, or what follows "Answer:"."""
    number = re.search(r"[-+]?\d", answer)
    if number is None:
        raise UnclearError("There is no number in the reply.")
    return _number_place(number.start(), options)


def sentence_place(answer: str, question: Any, options: Sequence[LetteredOption], sentence: str) -> Place:
    """The place of what fills the sentence, where it stands as written and only once."""
    before, name, after = re.split(r"(\{letter\}|\{text\})", sentence.strip())
    fillings = [option.letter if name == "{letter}" else option.label for option in options]
    found = sentences_in(answer, before, fillings, after)
    if len(found) != 1:
        raise UnclearError(f"{question.code}: the answer sentence stands in the reply {len(found)} times as written.")
    spellings = [(option.code, filling + after) for option, filling in zip(options, fillings, strict=True)]
    return Place(found[0][1] + len(before), tuple(spellings), _LETTER_ENDS)


def find_place(
    answer: str, question: Any, options: Sequence[LetteredOption], code: str, *, read_as: str, sentence: str
) -> Place:
    """The place of the answer that was read as the option `code` in the mode `read_as`; UnclearError without one."""
    if read_as == "json":
        return json_place(answer, question, options, code)
    if read_as == "letter":
        return letter_place(answer, question, options, code)
    if read_as == "label":
        return label_place(answer, options, code)
    if read_as == "number":
        return number_place(answer, options)
    return sentence_place(answer, question, options, sentence)


def _number_place(start: int, options: Sequence[LetteredOption]) -> Place:
    return Place(start, tuple((option.code, option.code) for option in options), _NUMBER_ENDS)


def _text_place(answer: str, first: int, texts: Sequence[tuple[str, str]], code: str) -> Place:
    """`first`: index of the first character that is no mark. Marks that begin the option's own text stand before it."""
    own = {text[: len(text) - len(text.lstrip(_MARKS))] for text_code, text in texts if text_code == code}
    leading = max((marks for marks in own if answer[:first].endswith(marks)), key=len, default="")
    return Place(first - len(leading), tuple(texts), _TEXT_ENDS, fold=True)


def _texts(options: Sequence[LetteredOption]) -> list[tuple[str, str]]:
    """The options' texts by code; a tie can be called one as well."""
    ties = [(option.code, TIE) for option in options if option.code == TIE]
    return [(option.code, option.label) for option in options] + ties


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_MARKS)
