"""The list of tones and which attitude each stands for.

A tone is what the speaker does with the reaction (accuses, thanks, warns), not what it is about; an attitude is the
direction towards the event that the tone expresses. Source: CARE, section 4.1; the list is this project's own.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

Attitude = Literal["negative", "neutral", "positive"]

SHIPPED = Path(__file__).parent / "data" / "tones.v1.json"
ATTITUDES: Mapping[str, int] = {"negative": -1, "neutral": 0, "positive": 1}
ATTITUDE_TEXTS = {"negative": "Negative", "neutral": "Neutral or mixed", "positive": "Positive"}
MOST_TONES = 26  # as many as there are letters to choose by


class ToneListError(ValueError):
    """A file that is no list of tones; one sentence with the place and what to do."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tone(_Strict):
    """`attitude` is a draft: what counts is what people decide."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")
    definition: str = Field(min_length=1)
    example: str = ""
    attitude: Attitude | None = None


class ToneList(_Strict):
    """A version of the list; another list, or a changed one, has another number."""

    version: int = Field(ge=1)
    tones: tuple[Tone, ...] = Field(min_length=2, max_length=MOST_TONES)

    @field_validator("tones")
    @classmethod
    def _named_once(cls, tones: tuple[Tone, ...]) -> tuple[Tone, ...]:
        names = [tone.name for tone in tones]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{', '.join(twice)} stands there twice; name each tone once")
        return tones


def read_tones(text: str) -> ToneList:
    """The list in a JSON text. Raises ToneListError."""
    try:
        return ToneList.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise ToneListError(f"The list of tones is not JSON (line {error.lineno}: {error.msg}).") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise ToneListError(f"The list of tones, at {place or 'the top'}: {what}.") from error


def tone_question(names: Sequence[str]) -> dict[str, Any]:
    """The question that asks for the one primary tone of a reaction."""
    return {
        "kind": "choice",
        "code": "tone",
        "text": "Which tone does the reaction have?",
        "options": [{"code": name, "text": name} for name in names],
    }


def attitude_question() -> dict[str, Any]:
    """The question that asks which attitude a tone stands for."""
    return {
        "kind": "choice",
        "code": "attitude",
        "text": "Which attitude towards the event does this tone express?",
        "options": [{"code": code, "text": text} for code, text in ATTITUDE_TEXTS.items()],
    }


def attitude_of(tone: str, mapping: Mapping[str, str]) -> int:
    """-1, 0 or 1 for the tone; raises KeyError for one without an attitude.

    >>> attitude_of("grateful", {"grateful": "positive"})
    1
    """
    return ATTITUDES[mapping[tone]]
