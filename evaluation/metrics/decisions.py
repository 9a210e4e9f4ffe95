"""Which of two responses a judge's text decides for."""

import re
from collections.abc import Sequence
from typing import Literal, get_args

from .checks import kind, known_option

Mode = Literal["strict", "sentence", "released"]

_SENTENCES = {letter: f"The final decision is Response {letter}." for letter in "AB"}
# The letter must end there: "Response Both" and "Response A's" name no response.
_SENTENCE = re.compile(r"the\s+final\s+decision\s+is\W{1,4}response\W{1,4}([AB])(?![\w'’])", re.IGNORECASE)
_RELEASED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"the\s*final\s*decision\s*is\s*(?:\*\*)?\s*(?:Response)?\s*([AB])",
        r"final\s*decision\s*[:：]?\s*(?:\*\*)?\s*(?:Response)?\s*([AB])",
        r"最终\s*(?:决定|决策|选择|答案|回答)\s*[是为:：]\s*(?:\*\*)?\s*(?:回应|回复|响应|回答|Response)?\s*([ABＡＢ])",
    )
)
_NARROW = str.maketrans("ＡＢ", "AB")


def parse_decision(text: str, *, mode: Mode) -> str | None:
    """A or B, or None where the text decides for neither.

    strict: exactly one of "The final decision is Response A." and "... B." is in the text, as written.
    sentence: the last such sentence, whatever its case, spacing and punctuation; the letter ends there.
    released: the last hit of three looser patterns, in the text and in the text without white space. No letter has to
    end, so that "the final decision is based on" decides for B. Sources: SenseJudge, section 4.1.2, for strict;
    `extract_final_decision` published with it for released.

    >>> said = "The final decision is **response b**"
    >>> parse_decision(said, mode="strict"), parse_decision(said, mode="sentence")
    (None, 'B')
    >>> parse_decision("The final decision is based on style.", mode="released")
    'B'
    """
    known_option(mode, get_args(Mode), what="mode")
    if not isinstance(text, str):
        raise ValueError(f"A decision is read from a text; this is {kind(text)}: leave out what is missing.")
    if mode == "strict":
        found = [letter for letter, sentence in _SENTENCES.items() if sentence in text]
        return found[0] if len(found) == 1 else None
    if mode == "sentence":
        return _last_letter([_SENTENCE], [text])
    return _last_letter(_RELEASED, [text, "".join(text.split())])


def _last_letter(patterns: Sequence[re.Pattern[str]], texts: Sequence[str]) -> str | None:
    hits = [hit for text in texts for pattern in patterns for hit in pattern.finditer(text)]
    last = max(hits, key=lambda hit: hit.start(1), default=None)
    return last.group(1).upper().translate(_NARROW) if last else None
