"""A job described in a TOML file: reading it and checking its form. docs/jobs.md is the reference. Pure code.

Nothing is looked up here; llm.files.jobfile_plan finds or makes what the file names.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo, model_validator

from llm.planning.grid import Factor
from llm.planning.personas import check_persona, crossed
from llm.reading.parsing import ANSWER_MODES
from materials.questions import Frozen

MAX_FILE_BYTES = 20_000_000
NAME = r"^[-a-zA-Z0-9_]{1,80}$"
VERSIONED = r"^[-a-zA-Z0-9_]{1,80}( v?[0-9]{1,9})?$"
WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "nothing of this name belongs here",
    "string_pattern_mismatch": "a short name is needed here: 1 to 80 letters, digits, hyphens and underscores",
    "model_type": "a table of names and values is needed here",
    "dict_type": "a table of names and values is needed here",
    "list_type": "a list is needed here",
}
Problems = list[str]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]


class JobFileError(ValueError):
    """A file that makes no job. `problems`: a sentence for each fault, with its place."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


def _named(value: Any) -> Any:
    """A bare text names something that is there."""
    return {"name": value} if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _scalar(value: Any) -> Any:
    """As an item's field is compared: by its text, which JSON writes in lower case for true and false."""
    if not isinstance(value, str | int | float):
        raise ValueError("a text, a number, true or false is needed here")
    return str(value).lower() if isinstance(value, bool) else value


def _read_text(value: str, info: ValidationInfo) -> str:
    """The text of a file beside the job's own."""
    folder: Path = (info.context or {}).get("folder", Path())
    try:
        text = (folder / value).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{value} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{value} is not UTF-8; save it as UTF-8") from error
    if "\x00" in text:
        raise ValueError(f"{value} holds a NUL character, which cannot be stored; remove it")
    return text


class DatasetPart(Frozen):
    """A dataset by its slug; with `file`, the file's items are imported into it first."""

    name: str = Field(pattern=NAME)
    file: str = ""
    id_column: str = ""

    @property
    def id_columns(self) -> list[str]:
        return [column.strip() for column in self.id_column.split(",") if column.strip()]


class InstrumentPart(Frozen):
    """`NAME` (its newest version) or `NAME VERSION`; with `questions`, a JSON file, published under the name."""

    name: str = Field(pattern=VERSIONED)
    title: str = Field(default="", max_length=200)
    questions: str = ""


class PromptPart(Frozen):
    """`NAME` (its newest version) or `NAME VERSION`; with texts, or files that hold them, published under the name."""

    name: str = Field(pattern=VERSIONED)
    system: str = ""
    user: str = ""
    system_file: str = ""
    user_file: str = ""

    @property
    def is_new(self) -> bool:
        return bool(self.user)

    @model_validator(mode="before")
    @classmethod
    def _texts(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            return data
        given = dict(data)
        for text in ("system", "user"):
            file = given.get(f"{text}_file")
            if file and given.get(text):
                raise ValueError(f"give {text} or {text}_file, not both")
            if isinstance(file, str) and file:
                given[text] = _read_text(file, info)
        if given.get("system") and not given.get("user"):
            raise ValueError("a prompt with a system text needs a user text as well")
        if given.get("user") and " " in str(given.get("name", "")):
            raise ValueError("a prompt with a text of its own gets its version by itself; give the name alone")
        return given


class EndpointPart(Frozen):
    """An endpoint by its name; with `base_url` and `model` it is made, or changed to what the file says."""

    name: str = Field(min_length=1, max_length=100)
    base_url: str = Field(default="", max_length=500)
    model: str = Field(default="", max_length=200)
    key_variable: str = Field(default="", max_length=100)
    concurrency: Count | None = None
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    timeout_seconds: float | None = Field(default=None, gt=0, le=3600)
    price_per_million_in: Decimal | None = Field(default=None, ge=0, max_digits=12, decimal_places=4)
    price_per_million_out: Decimal | None = Field(default=None, ge=0, max_digits=12, decimal_places=4)
    batch_price_factor: Decimal | None = Field(default=None, ge=0, le=1, max_digits=4, decimal_places=3)

    @property
    def fields(self) -> dict[str, Any]:
        """What the file says of the endpoint besides its name."""
        return self.model_dump(exclude_unset=True, exclude={"name"})

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.fields and not (self.base_url and self.model):
            raise ValueError(
                "an endpoint that is described needs base_url and model; by its name alone it is looked up"
            )
        return self


class ItemsPart(Frozen):
    filter: dict[str, Annotated[list[Annotated[Any, AfterValidator(_scalar)]], BeforeValidator(_listed)]] = {}
    max: Count | None = None
    drawn: bool = False


class DecodingPart(Frozen):
    temperature: float = Field(default=0, ge=0, le=2)
    top_p: float = Field(default=1, ge=0.01, le=1)
    max_tokens: int = Field(default=128, ge=1, le=100_000)


class AnswersPart(Frozen):
    mode: str = "auto"
    sentence: str = Field(default="", max_length=300)
    logprobs: bool = False
    max_parse_attempts: int = Field(default=2, ge=1, le=10)

    @model_validator(mode="after")
    def _known_mode(self) -> Self:
        modes = [mode for mode, _ in ANSWER_MODES]
        if self.mode not in modes:
            raise ValueError(f"there is no answer mode {self.mode}; choose one of {', '.join(modes)}")
        return self


class BudgetPart(Frozen):
    calls: Count | None = None
    tokens: int | None = Field(default=None, ge=1, le=2**63 - 1)
    price: Decimal | None = Field(default=None, ge=0, max_digits=12, decimal_places=4)


class JobFile(Frozen):
    """The whole of a job. The parts' names and defaults are those of docs/jobs.md."""

    project: str
    name: str = Field(min_length=1, max_length=150)
    kind: Literal["simulate", "judge", "annotate", "generate"]
    dataset: Annotated[DatasetPart, BeforeValidator(_named)]
    instrument: Annotated[InstrumentPart, BeforeValidator(_named)]
    questions: list[str] = []
    prompts: list[Annotated[PromptPart, BeforeValidator(_named)]] = Field(min_length=1)
    endpoints: list[Annotated[EndpointPart, BeforeValidator(_named)]] = Field(min_length=1)
    items: ItemsPart = ItemsPart()
    alone: bool | None = None
    personas: list[Annotated[dict[str, Any], BeforeValidator(check_persona)]] = []
    factors: list[dict[str, Any]] = []
    option_orders: Literal["drawn", "written", "both", "rotated"] = "drawn"
    conditions_per_item: Count | None = None
    samples: int = Field(default=1, ge=1, le=1000)
    seed: int = Field(default=1, ge=-(2**63), le=2**63 - 1)
    decoding: DecodingPart = DecodingPart()
    answers: AnswersPart = AnswersPart()
    max_attempts: int = Field(default=6, ge=1, le=100)
    way: Literal["live", "batch"] = "live"
    budget: BudgetPart = BudgetPart()
    pilot: Count | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        given = dict(data)
        for one, several in (("prompt", "prompts"), ("endpoint", "endpoints")):
            if one in given and several in given:
                raise ValueError(f"give {one} or {several}, not both")
            if one in given:
                given[several] = [given.pop(one)]
        if isinstance(given.get("personas"), Mapping):
            personas = given["personas"]
            given["personas"] = crossed({name: _several(name, values) for name, values in personas.items()})
        _check_json(given, "personas")
        _check_json(given, "factors")
        factors = given.get("factors", {})
        if isinstance(factors, Mapping):
            given["factors"] = [_factor(name, levels) for name, levels in factors.items()]
        elif isinstance(factors, list):
            given["factors"] = [Factor.from_json(factor).to_json() for factor in factors]
        return given

    @property
    def all_personas(self) -> list[dict[str, Any]]:
        """Whom the model answers as; {} is itself, which is asked when `alone` says so or nobody else is."""
        alone = not self.personas if self.alone is None else self.alone
        return ([{}] if alone else []) + self.personas

    @property
    def plan_fields(self) -> dict[str, Any]:
        """The fields of the Job that are in the file itself, except its budget."""
        return {
            "kind": self.kind, "question_codes": self.questions, "item_filter": self.items.filter,
            "max_items": self.items.max, "items_drawn": self.items.drawn, "personas": self.all_personas,
            "factors": self.factors, "option_orders": self.option_orders,
            "conditions_per_item": self.conditions_per_item, "samples": self.samples, "seed": self.seed,
            **self.decoding.model_dump(), "answer_mode": self.answers.mode, "answer_sentence": self.answers.sentence,
            "logprobs": self.answers.logprobs, "max_parse_attempts": self.answers.max_parse_attempts,
            "max_attempts": self.max_attempts, "way": self.way,
        }  # fmt: skip


def read_job_file(path: Path) -> JobFile:
    """The job that the file describes. Raises JobFileError with a sentence for each fault."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise JobFileError([f"{path} is larger than {MAX_FILE_BYTES:,} bytes; texts can be in files of their own."])
        document = tomllib.loads(data.decode("utf-8-sig"))
        if "\\u0000" in json.dumps(document, default=str).replace("\\\\", ""):
            raise JobFileError([f"{path} holds a NUL character, which cannot be stored; remove it."])
    except OSError as error:
        raise JobFileError([f"{path} cannot be read: {error.strerror}."]) from error
    except UnicodeDecodeError as error:
        raise JobFileError([f"{path} is not UTF-8; save it as UTF-8."]) from error
    except tomllib.TOMLDecodeError as error:
        raise JobFileError([f"{path} is not TOML: {error}."]) from error
    except RecursionError as error:
        raise JobFileError([f"{path} is nested too deeply."]) from error
    try:
        return JobFile.model_validate(document, context={"folder": path.parent})
    except ValidationError as error:
        raise JobFileError([f"{path}: {sentence}" for sentence in _sentences(error)]) from error


def _sentences(error: ValidationError) -> Iterator[str]:
    for fault in error.errors():
        place = ".".join(str(part + 1) if isinstance(part, int) else part for part in fault["loc"])
        what = WORDS.get(fault["type"], fault["msg"].removeprefix("Value error, ").rstrip("."))
        yield f"At {place}: {what}." if place else f"{what[:1].upper()}{what[1:]}."


def _several(name: str, value: Any) -> list[Any]:
    """The value as a list. Raises ValueError for a bare text that was meant to be one."""
    if isinstance(value, str) and re.search("[,|]", value):
        several = json.dumps([part.strip() for part in re.split("[,|]", value)], ensure_ascii=False)
        raise ValueError(f'"{value}" is one value; write several as a list: {name} = {several}')
    return cast(list[Any], _listed(value))


def _factor(name: str, levels: Any) -> dict[str, Any]:
    """As llm.planning.grid.Factor has it: from a list of levels, or a table of the levels' texts."""
    named = (
        [{"name": level, "value": value} for level, value in levels.items()] if isinstance(levels, Mapping) else None
    )
    return Factor.from_json({"name": name, "levels": named or _several(name, levels)}).to_json()


def _check_json(given: Mapping[str, Any], part: str) -> None:
    """Dates and infinities are TOML and no JSON."""
    try:
        json.dumps(given.get(part, []), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{part} may hold texts, whole and decimal numbers, true and false, lists and tables"
        ) from error
