"""What goes to and comes from the Batch API: a line for each request and each result, and the state of a batch.

Pure code. OpenAI's own server says all of this; others that follow it leave out fields, write states in capitals or put
results that failed among the others, so nothing but ids is relied on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from llm.servers.replies import Reply, load_json, read_body, server_words, status_fault, transport_fault
from llm.servers.transport import MAX_BODY_BYTES

ENDPOINT = "/v1/chat/completions"
METADATA_KEY = "concord_batch"
OVER = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})
NOT_CARRIED_OUT = frozenset({"batch_expired", "batch_cancelled", "batch_canceled"})
MAX_LINE_BYTES = MAX_BODY_BYTES + 2**16  # an answer as long as a live one may be, and what is around it
QUEUE_FULL = frozenset({"token_limit_exceeded", "batch_limit_exceeded"})
SHOWN_ERRORS = 3


@dataclass(frozen=True)
class ServerBatch:
    """A batch as its server describes it. `files`: ids by what they hold (input, output, error), as far as there are.

    `problem`: what the server says is wrong with it, in one line. `queue_full`: that it has no room for it now, while
    others are under way. `created_at`: seconds since 1970, None when not told.
    """

    id: str
    status: str
    files: dict[str, str]
    completed: int = 0
    failed: int = 0
    key: str = ""
    problem: str = ""
    queue_full: bool = False
    created_at: float | None = None

    @property
    def over(self) -> bool:
        return self.status in OVER


@dataclass(frozen=True)
class Result:
    """What became of one request; no `reply` when it was not carried out before the batch ended."""

    custom_id: str
    reply: Reply | None


def request_line(custom_id: str, body: Mapping[str, Any]) -> bytes:
    """One line of the file that is sent."""
    line = {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_batch(payload: Any) -> ServerBatch | None:
    """The batch in a server's answer; None when it is none."""
    if not isinstance(payload, Mapping) or not isinstance(payload.get("id"), str) or not payload["id"]:
        return None
    counts, metadata = _mapping(payload.get("request_counts")), _mapping(payload.get("metadata"))
    files = {kind: payload.get(f"{kind}_file_id") for kind in ("input", "output", "error")}
    created = payload.get("created_at")
    return ServerBatch(
        id=payload["id"],
        status=str(payload.get("status") or "").lower(),
        files={kind: file for kind, file in files.items() if isinstance(file, str) and file},
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        key=str(metadata.get(METADATA_KEY) or ""),
        problem=_problem(faults := _faults(payload.get("errors"))),
        queue_full=any(_mapping(fault).get("code") in QUEUE_FULL for fault in faults),
        created_at=float(created) if isinstance(created, int | float) else None,
    )


def read_page(payload: Any) -> tuple[list[ServerBatch], bool]:
    """One page of a server's list of batches, and whether there are more. Raises ValueError when it is none."""
    entries = payload.get("data") if isinstance(payload, Mapping) else payload
    if not isinstance(entries, list):
        raise ValueError("the server's list of batches is not a list")
    batches = [batch for entry in entries if (batch := read_batch(entry))]
    return batches, bool(_mapping(payload).get("has_more"))


def read_results(file: BinaryIO, *, wants_json: bool) -> Iterator[Result]:
    """The results in a file of lines; lines that are none are left out. Raises ValueError for one beyond all bounds."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"a line of the server's file is longer than {MAX_LINE_BYTES // 2**20} MB")
        if result := read_result(line, wants_json=wants_json):
            yield result


def read_result(line: bytes, *, wants_json: bool) -> Result | None:
    """One line; None when it names no request. `wants_json`: as in llm.servers.replies.read_body."""
    entry = load_json(line.decode("utf-8", "replace"))
    if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
        return None
    response, error = _mapping(entry.get("response")), entry.get("error")
    if response:
        return Result(entry["custom_id"], _reply(response, wants_json=wants_json))
    if _mapping(error).get("code") in NOT_CARRIED_OUT:
        return Result(entry["custom_id"], None)
    words = server_words({"error": error}) or "no answer and no reason"
    return Result(entry["custom_id"], transport_fault(f"The server's batch could not have it answered: {words}."))


def _reply(response: Mapping[str, Any], *, wants_json: bool) -> Reply:
    body = response if "choices" in response else response.get("body")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    status = response.get("status_code")
    if isinstance(status, int) and not 200 <= status < 300:
        return status_fault(status, text, {}, now=0.0)
    return read_body(text, wants_json=wants_json)


def _faults(errors: Any) -> list[Any]:
    found = _mapping(errors).get("data", errors)
    return found if isinstance(found, list) else [found]


def _problem(faults: Sequence[Any]) -> str:
    """The first of the faults that a server found in a file, each with its line."""
    words = []
    for fault in faults[:SHOWN_ERRORS]:
        if said := server_words({"error": fault}):
            line = _mapping(fault).get("line")
            words.append(f"line {line}: {said}" if isinstance(line, int) else said)
    if len(faults) > SHOWN_ERRORS:
        words.append(f"and {len(faults) - SHOWN_ERRORS} more")
    return "; ".join(words)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0
