"""From a model's reply to values of an instrument's questions, or to the reason why there are none.

Pure code. A reply is never guessed at: what is not clearly one answer is `unparsed`, with a sentence that says what was
wrong and can be shown to the model when it is asked again. Models see letters (A is the option shown first); what comes
out are the instrument's stable codes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from materials.questions import TIE, AnswerError, check_value, is_shown, option_codes, option_label

Orders = Mapping[str, Sequence[str]]
ParsedStatus = Literal["ok", "unparsed", "refused"]
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
    raise NotImplementedError


def answer_schema(questions: Sequence[Any], orders: Orders) -> dict[str, Any]:
    """The JSON schema of the answer object: one required property per question code.

    choice and pairwise: a letter; multi: a list of letters; scale: an integer within its bounds; number: a number (or
    integer) within its bounds; text: a string. A question that is optional or shown on a condition may be null.
    """
    raise NotImplementedError


def answer_format(questions: Sequence[Any], orders: Orders) -> str:
    """The same as one paragraph for the prompt, for servers that cannot be given a schema."""
    raise NotImplementedError


def parse_reply(
    text: str,
    questions: Sequence[Any],
    orders: Orders,
    *,
    content: Mapping[str, Any] = NO_CONTENT,
    refusal: str = "",
) -> Parsed:
    """Read a reply (without reasoning, or with it inline) to `questions` whose options were shown in `orders`.

    `content` is the item's, for options whose text is a field of the item. `refusal` is the server's own statement that
    the model refused (`Reply.status == "refused"`); what sounds like a refusal in the text is `unparsed`, not refused.
    """
    raise NotImplementedError


def split_reasoning(message: Mapping[str, Any]) -> tuple[str, str]:
    """The answer and the reasoning of a chat message: from `reasoning_content`, `reasoning` and inline `<think>`.

    `content` may be null, a string or a list of parts. A `<think>` that is never closed leaves no answer, unless the text
    ends with a JSON object.
    """
    raise NotImplementedError
