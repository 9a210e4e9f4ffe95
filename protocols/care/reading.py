"""Reads posts, comments and articles from JSON lines and names the place of every fault. Nothing is fetched.

Posts and comments have the field names of pushshift's dumps; other fields of theirs are left out.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from materials.reading_faults import Fault
from materials.reading_plan import Source
from materials.reading_text import json_line_rows
from protocols.care.addresses import article_id

_BOT_NAME = re.compile(r"AutoModerator|.*(?:[-_]bot|[a-z0-9]Bot|BOT)")
_WORDS = {
    "missing": "it is missing",
    "string_type": "a text is needed here",
    "string_too_short": "it is empty",
    "int_type": "a whole number is needed here",
    "int_parsing": "a whole number is needed here",
    "int_from_float": "a whole number is needed here",
}


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @property
    def content(self) -> dict[str, Any]:
        """The fields of an item, whose id stands beside them."""
        return self.model_dump(mode="json", exclude={"id"})


class Post(_Row):
    id: str = Field(min_length=1)
    community: str = Field(min_length=1, validation_alias=AliasChoices("subreddit", "community"))
    created_at: datetime = Field(validation_alias=AliasChoices("created_utc", "created_at"))
    title: str
    body: str = Field(default="", validation_alias=AliasChoices("selftext", "body"))
    url: str = ""
    n_comments: int = Field(validation_alias=AliasChoices("num_comments", "n_comments"))

    @field_validator("created_at", mode="before")
    @classmethod
    def _time(cls, value: Any) -> datetime:
        return utc(value)


class Comment(_Row):
    """`post` and `parent` without the kind before the id; no parent is the top level. Of the author is kept only
    whether the name is a bot's."""

    id: str = Field(min_length=1)
    post: str = Field(min_length=1, validation_alias=AliasChoices("link_id", "post"))
    parent: str | None = Field(validation_alias=AliasChoices("parent_id", "parent"))
    created_at: datetime = Field(validation_alias=AliasChoices("created_utc", "created_at"))
    score: int
    bot: bool = Field(default=False, validation_alias=AliasChoices("bot", "author"))
    stickied: bool = False
    text: str = Field(validation_alias=AliasChoices("body", "text"))

    @field_validator("created_at", mode="before")
    @classmethod
    def _time(cls, value: Any) -> datetime:
        return utc(value)

    @field_validator("bot", mode="before")
    @classmethod
    def _bot(cls, value: Any) -> Any:
        return bool(_BOT_NAME.fullmatch(value)) if isinstance(value, str) else value

    @field_validator("post", mode="before")
    @classmethod
    def _post(cls, value: Any) -> Any:
        return value.removeprefix("t3_") if isinstance(value, str) else value

    @field_validator("parent", mode="before")
    @classmethod
    def _parent(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return None if value.startswith("t3_") else value.removeprefix("t1_")


class Article(_Row):
    """`id`: the canonical address."""

    url: str
    title: str
    text: str = Field(min_length=1)
    published_at: str = ""
    language: str = ""

    @field_validator("url")
    @classmethod
    def _address(cls, value: str) -> str:
        if not article_id(value):
            raise ValueError("give a web address that begins with http:// or https://")
        return value

    @property
    def id(self) -> str:
        return article_id(self.url)


def read_posts(file: IO[bytes]) -> Iterator[tuple[int, Post] | Fault]:
    """Each line's number and post, or what is wrong with the line."""
    return _read(file, Post)


def read_comments(file: IO[bytes]) -> Iterator[tuple[int, Comment] | Fault]:
    """Each line's number and comment, or what is wrong with the line."""
    return _read(file, Comment)


def read_articles(file: IO[bytes]) -> Iterator[tuple[int, Article] | Fault]:
    """Each line's number and article, or what is wrong with the line."""
    return _read(file, Article)


def utc(value: Any) -> datetime:
    """The time of seconds since 1970 or of an ISO text, in UTC; raises ValueError for anything else.

    >>> utc("1583020800"), utc("2020-03-01T01:00:00+01:00") == utc(1583020800.0)
    (datetime.datetime(2020, 3, 1, 0, 0, tzinfo=datetime.timezone.utc), True)
    """
    try:
        return datetime.fromtimestamp(float(value), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        pass
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("give the time as seconds since 1970 or as 2020-03-01T00:00:00Z") from None


def _read(file: IO[bytes], form: type[Any]) -> Iterator[Any]:
    faults: list[Fault] = []
    for entry in json_line_rows(file, Source(format="jsonl"), faults):
        yield from faults
        bad = {fault.row for fault in faults}
        faults.clear()
        if isinstance(entry, Fault):
            yield entry
        elif entry[0] not in bad:
            yield _parsed(*entry, form)
    yield from faults


def _parsed(row: int, fields: Mapping[str, Any], form: type[Any]) -> Any:
    try:
        return row, form.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        column = str(first["loc"][0]) if first["loc"] else ""
        what = _WORDS.get(first["type"]) or first["msg"].removeprefix("Value error, ")
        return Fault(row, column, f"{what}.")
