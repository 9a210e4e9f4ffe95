"""What a scripted server can be told to do."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model_server.dialects import DIALECTS, PLAIN, Dialect

MODEL = "scripted-model"
FIELDS_TO_REJECT = (
    "max_tokens",
    "max_completion_tokens",
    "json_schema",
    "json_object",
    "system",
    "seed",
    "temperature",
    "top_p",
    "logprobs",
)

STATUS_BEHAVIOURS = {f"error_{code}": code for code in (400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503)}
REPLY_BEHAVIOURS = (
    "ok", "length", "content_filter", "refusal", "think", "think_unclosed", "reasoning_content", "reasoning",
    "json_in_reasoning", "parts", "no_usage", "unparseable", "empty_content", "null_content", "no_choices", "nul_bytes",
    "error_in_200",
)  # fmt: skip
WIRE_BEHAVIOURS = (
    "rate_limited", "rate_limited_date", "quota", "content_filter_400", "html_200", "html_502", "hang", "trickle",
    "cut", "cut_headers", "empty_200", "invalid_json", "redirect", "huge", "huge_packed", "odd_charset",
)  # fmt: skip
BEHAVIOURS = (*REPLY_BEHAVIOURS, *WIRE_BEHAVIOURS, *STATUS_BEHAVIOURS)


def split_words(text: str) -> list[str]:
    """Tokens as most models have them: a word with the space before it, or a single sign.

    >>> split_words('Answer: "A"')
    ['Answer', ':', ' ', '"', 'A', '"']
    """
    return re.findall(r" ?[^\W_]+|.", text, re.DOTALL)


@dataclass(frozen=True)
class Script:
    """How the server behaves. `behaviours` are used up in order of arrival, then `probabilities` decide.

    A choice by probability is a function of the seed, the messages and how often they were asked, not of the order of
    arrival. `answer` replaces the answer's text (it gets the request body). `requests_per_second` answers 429 with
    Retry-After 1 beyond that rate. `rejects` names request fields that are answered 400, in `error_shape`.

    `dialect` names one of DIALECTS, whose own fields and refusals come on top. `split` makes the tokens of an answer,
    by which the token limit cuts and log probabilities come; `alternatives` gives, for a token and its place, the
    probability of each token at that place.

    `batch_polls`: so many looks at a batch until it is done; `batch_seconds`: so long instead. `batch_fails` fails its
    validation, `batch_expires_after` lets it expire after so many lines, and the last `batch_loses` answers are in
    neither file. `batch_behaviours` are faults of the requests to /files and /batches themselves, used up in order of
    arrival.
    """

    behaviours: Sequence[str] = ()
    probabilities: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    latency_seconds: float = 0.0
    answer: Callable[[dict[str, Any]], str] | None = None
    requests_per_second: float | None = None
    rejects: Sequence[str] = ()
    error_shape: str = ""
    api_key: str = ""
    models: Sequence[str] = (MODEL,)
    honours_schema: bool = True
    dialect: str = ""
    split: Callable[[str], list[str]] = split_words
    alternatives: Callable[[str, int], Mapping[str, float]] | None = None
    max_top_logprobs: int | None = None
    batch_polls: int = 3
    batch_seconds: float | None = None
    batch_fails: bool = False
    batch_expires_after: int | None = None
    batch_loses: int = 0
    batch_behaviours: Sequence[str] = ()

    def __post_init__(self) -> None:
        unknown = {*self.behaviours, *self.probabilities} - set(BEHAVIOURS) | set(self.rejects) - set(FIELDS_TO_REJECT)
        unknown |= set(self.batch_behaviours) - {"ok", *WIRE_BEHAVIOURS, *STATUS_BEHAVIOURS}
        unknown |= {self.dialect} - {"", *DIALECTS}
        if unknown:
            raise ValueError(f"The script names {', '.join(sorted(unknown))}; known are {', '.join(BEHAVIOURS)}.")

    @property
    def shape(self) -> str:
        """The shape of errors."""
        return self.error_shape or self.spoken.error_shape

    @property
    def spoken(self) -> Dialect:
        """The dialect; a plain server's, which can do everything, without a name."""
        return DIALECTS[self.dialect] if self.dialect else PLAIN
