"""What the platform says of a submission, from its interface or its CSV file.

Pure code.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

STATUSES = (
    "RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED", "RETURNED", "TIMED-OUT",
    "SCREENED OUT",
)  # fmt: skip
NEEDED = ("submission id", "participant id", "status")
TIMES = {"started at": "started_at", "completed at": "completed_at"}
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST_CODE = 60


class NewsError(ValueError):
    """What is said of a submission cannot be read; the text says why, without anybody's id."""


class FileFaultsError(ValueError):
    """A file of submissions with faults: `faults` are sentences, each with its row."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


@dataclass(frozen=True)
class SubmissionNews:
    submission_id: str
    participant_id: str
    status: str  # one of STATUSES
    code: str = ""  # that the person entered
    started_at: datetime | None = None
    completed_at: datetime | None = None
    return_requested_at: datetime | None = None


def read_status(text: Any) -> str:
    """The status as the platform writes it.

    >>> read_status("awaiting review")
    'AWAITING REVIEW'
    """
    status = str(text or "").strip().upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
    if status not in STATUSES:
        raise NewsError(f"the status {str(text)[:40]!r} is none of the platform's")
    return status


def read_time(text: Any) -> datetime | None:
    """A time in ISO format, UTC where it names no zone; None when there is none.

    >>> read_time("2026-11-30T09:05:00Z").isoformat()
    '2026-11-30T09:05:00+00:00'
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(str(text).strip())
    except ValueError as error:
        raise NewsError(f"{str(text)[:40]!r} is no time like 2026-11-30T09:05:00Z") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_submission(found: Mapping[str, Any]) -> SubmissionNews:
    """A submission as the interface describes it. Raises NewsError."""
    return SubmissionNews(
        submission_id=_id(found.get("id"), "submission id"),
        participant_id=_id(found.get("participant_id") or found.get("participant"), "participant id"),
        status=read_status(found.get("status")),
        code=str(found.get("study_code") or found.get("entered_code") or "")[:MOST_CODE],
        started_at=read_time(found.get("started_at")),
        completed_at=read_time(found.get("completed_at")),
        return_requested_at=read_time(found.get("return_requested")),
    )


def read_file(content: bytes) -> list[SubmissionNews]:
    """The submissions of a CSV file downloaded from the platform. Raises FileFaultsError with every fault."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFaultsError(["The file is not UTF-8 text; download it again as CSV."]) from error
    lines = csv.reader(io.StringIO(text.replace("\0", "\N{REPLACEMENT CHARACTER}"), newline=""))
    names = [name.strip().lower() for name in next(lines, [])]
    if missing := [name for name in NEEDED if name not in names]:
        raise FileFaultsError([f"The first row must name the columns; there is no {' and no '.join(missing)}."])
    faults: list[str] = []
    news = list(_rows(lines, names, faults))
    if not news and not faults:
        faults.append("The file has no submissions.")
    if faults:
        raise FileFaultsError(faults)
    return news


def _rows(lines: Iterator[list[str]], names: list[str], faults: list[str]) -> Iterator[SubmissionNews]:
    """The rows that can be read; what is wrong with the others goes to `faults`."""
    seen: dict[str, int] = {}
    for number, cells in enumerate(lines, start=2):
        if not any(map(str.strip, cells)):
            continue
        try:
            if len(cells) != len(names):
                raise NewsError(f"it has {len(cells)} cells and the first row {len(names)}")
            row = _row(dict(zip(names, cells, strict=True)))
            if (first := seen.setdefault(row.submission_id, number)) != number:
                raise NewsError(f"its submission is in row {first} already")
            yield row
        except NewsError as error:
            faults.append(f"Row {number}: {error}.")


def _row(cells: Mapping[str, str]) -> SubmissionNews:
    return SubmissionNews(
        submission_id=_id(cells["submission id"], "submission id"),
        participant_id=_id(cells["participant id"], "participant id"),
        status=read_status(cells["status"]),
        code=cells.get("completion code", "").strip()[:MOST_CODE],
        **{field: read_time(cells.get(name, "")) for name, field in TIMES.items()},
    )


def _id(text: Any, name: str) -> str:
    found = str(text or "").strip()
    if not found:
        raise NewsError(f"there is no {name}")
    if not ID.fullmatch(found):
        raise NewsError(f"its {name} is not made of letters and digits")
    return found
