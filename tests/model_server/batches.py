"""OpenAI's Batch API: files of requests, answered by the server's script after some polls or seconds."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.model_server.answers import seeded
from tests.model_server.faults import fault, json_answer, misbehave
from tests.model_server.script import STATUS_BEHAVIOURS, Script

MAX_LINES = 50_000
ENDPOINT, WINDOW = "/v1/chat/completions", "24h"
STATES = ("validating", "in_progress", "finalizing", "completed")
UNTIL_EXPIRED_SECONDS = 24 * 3600

LineAnswer = tuple[int, Any] | None


@dataclass
class _File:
    id: str
    name: str
    purpose: str
    content: bytes

    def described(self) -> dict[str, Any]:
        return {
            "id": self.id, "object": "file", "bytes": len(self.content), "created_at": _now(), "filename": self.name,
            "purpose": self.purpose, "status": "processed",
        }  # fmt: skip


@dataclass
class _Batch:
    id: str
    input_file_id: str
    metadata: Any
    lines: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    started: float = field(default_factory=time.monotonic)
    polls: int = 0
    status: str = STATES[0]
    done: int = 0  # lines
    failed: int = 0
    stamps: dict[str, int] = field(default_factory=lambda: {"created_at": _now()})
    files: dict[str, str | None] = field(default_factory=lambda: {"output_file_id": None, "error_file_id": None})

    @property
    def over(self) -> bool:
        return self.status in ("completed", "failed", "expired", "cancelled")

    def become(self, status: str) -> None:
        self.status = status
        if status != STATES[0]:
            self.stamps[f"{status}_at"] = _now()

    def described(self) -> dict[str, Any]:
        counts = {"total": len(self.lines), "completed": self.done - self.failed, "failed": self.failed}
        return {
            "id": self.id, "object": "batch", "endpoint": ENDPOINT, "status": self.status,
            "errors": {"object": "list", "data": self.errors} if self.status == "failed" else None,
            "input_file_id": self.input_file_id, "completion_window": WINDOW, "request_counts": counts,
            "metadata": self.metadata, "expires_at": self.stamps["created_at"] + UNTIL_EXPIRED_SECONDS,
            **dict.fromkeys(f"{state}_at" for state in (*STATES[1:], "failed", "expired", "cancelling", "cancelled")),
            **self.stamps, **self.files,
        }  # fmt: skip


class Batches:
    """Files and batches of one server. `bodies`: the requests in lines that were answered, in their order."""

    def __init__(self, script: Script, answer: Callable[[dict[str, Any]], LineAnswer]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.files: dict[str, _File] = {}
        self.batches: dict[str, _Batch] = {}
        self.requests = 0
        self._script, self._answer = script, answer
        self._uploads = 0
        self._results: dict[str, tuple[list[Any], list[Any]]] = {}

    def add_routes(self, app: web.Application) -> None:
        routes: list[tuple[str, str, Callable[[web.Request], Any]]] = [
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{id}", self._file),
            ("GET", "/v1/files/{id}/content", self._content),
            ("DELETE", "/v1/files/{id}", self._delete),
            ("POST", "/v1/batches", self._create),
            ("GET", "/v1/batches", self._list),
            ("GET", "/v1/batches/{id}", self._look),
            ("POST", "/v1/batches/{id}/cancel", self._cancel),
        ]
        for method, path, handler in routes:
            app.router.add_route(method, path, self._by_script(handler))

    def _by_script(self, handler: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.requests += 1
            faults = self._script.batch_behaviours
            behaviour = faults[self.requests - 1] if self.requests <= len(faults) else "ok"
            if behaviour in STATUS_BEHAVIOURS:
                return fault(STATUS_BEHAVIOURS[behaviour], f"scripted {behaviour}", self._script.shape)
            answer: web.StreamResponse
            answer = await (handler(request) if behaviour == "ok" else misbehave(request, behaviour, self._script))
            return answer

        return handle

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        upload, purpose = form.get("file"), str(form.get("purpose", ""))
        if not isinstance(upload, web.FileField) or purpose != "batch":
            return fault(400, "A file and the purpose batch are required.", self._script.shape)
        return json_answer(self._keep(upload.filename, purpose, upload.file.read()).described())

    async def _file(self, request: web.Request) -> web.StreamResponse:
        file = self.files.get(request.match_info["id"])
        return self._missing("File", request) if file is None else json_answer(file.described())

    async def _content(self, request: web.Request) -> web.StreamResponse:
        file = self.files.get(request.match_info["id"])
        if file is None:
            return self._missing("File", request)
        return web.Response(body=file.content, content_type="application/octet-stream")

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        file = self.files.pop(request.match_info["id"], None)
        if file is None:
            return self._missing("File", request)
        return json_answer({"id": file.id, "object": "file", "deleted": True})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        wanted = await request.json()
        file = self.files.get(str(wanted.get("input_file_id")))
        if file is None or (wanted.get("endpoint"), wanted.get("completion_window")) != (ENDPOINT, WINDOW):
            return fault(400, "input_file_id, endpoint or completion_window is invalid.", self._script.shape)
        lines, errors = _read_lines(file.content)
        if self._script.batch_fails:
            errors = [*errors, _error("token_limit_exceeded", "Enqueued token limit reached.")]
        number = len(self.batches) + 1
        batch = _Batch(f"batch_{number}", file.id, wanted.get("metadata"), lines, errors)
        self.batches[batch.id] = batch
        return json_answer(batch.described())

    async def _look(self, request: web.Request) -> web.StreamResponse:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return self._missing("Batch", request)
        batch.polls += 1
        self._advance(batch)
        return json_answer(batch.described())

    async def _list(self, request: web.Request) -> web.StreamResponse:
        """Newest first, and without moving any on: who only lists does not count as a poll."""
        newest = list(reversed(self.batches.values()))
        after, limit = request.query.get("after"), int(request.query.get("limit", "20"))
        ids = [batch.id for batch in newest]
        start = ids.index(after) + 1 if after in ids else 0
        page = [batch.described() for batch in newest[start : start + limit]]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return json_answer({"object": "list", "data": page, "has_more": start + limit < len(newest), **ends})

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return self._missing("Batch", request)
        if batch.over:
            return fault(409, f"Cannot cancel a batch with status '{batch.status}'.", self._script.shape)
        batch.become("cancelling")
        return json_answer(batch.described())

    def _advance(self, batch: _Batch) -> None:
        """One step for a look at it, or as far as the time has come."""
        if batch.over:
            return
        if batch.status == "cancelling":
            self._finish(batch, "cancelled")
        elif batch.errors:
            batch.become("failed")
        else:
            share = self._share_done(batch)
            state = STATES[min(3, int(share * 3))]
            expires_after = self._script.batch_expires_after
            most = len(batch.lines) if expires_after is None else expires_after
            self._answer_until(batch, min(most, int(share * len(batch.lines))))
            if state == STATES[3]:
                self._finish(batch, "completed" if batch.done == len(batch.lines) else "expired")
            elif state != batch.status:
                batch.become(state)

    def _share_done(self, batch: _Batch) -> float:
        seconds = self._script.batch_seconds
        if seconds is None:
            return min(1.0, batch.polls / max(1, self._script.batch_polls))
        return min(1.0, (time.monotonic() - batch.started) / seconds) if seconds > 0 else 1.0

    def _answer_until(self, batch: _Batch, count: int) -> None:
        results, faults = self._results.setdefault(batch.id, ([], []))
        for line in batch.lines[batch.done : count]:
            self.bodies.append(line["body"])
            answer = self._answer(line["body"])
            entry = {"id": f"batch_req_{batch.id}_{batch.done}", "custom_id": line["custom_id"]}
            if answer is None:
                error = {"code": "server_error", "message": "The request could not be completed."}
                faults.append(entry | {"response": None, "error": error})
            else:
                status, body = answer
                response = {"status_code": status, "request_id": entry["id"], "body": body}
                (results if status == 200 else faults).append(entry | {"response": response, "error": None})
            batch.failed = len(faults)
            batch.done += 1

    def _finish(self, batch: _Batch, status: str) -> None:
        results, faults = self._results.pop(batch.id, ([], []))
        results = results[: len(results) - self._script.batch_loses]
        if status == "expired":
            error = {"code": "batch_expired", "message": "This request was not executed before the batch expired."}
            for number, line in enumerate(batch.lines[batch.done :], batch.done):
                entry = {"id": f"batch_req_{batch.id}_{number}", "custom_id": line["custom_id"]}
                faults.append(entry | {"response": None, "error": error})
        for name, entries in (("output_file_id", results), ("error_file_id", faults)):
            if entries:
                seeded(self._script.seed, batch.id, name).shuffle(entries)
                content = "".join(json.dumps(entry) + "\n" for entry in entries)
                batch.files[name] = self._keep(f"{batch.id}_{name}.jsonl", "batch_output", content.encode()).id
        batch.become(status)

    def _keep(self, name: str, purpose: str, content: bytes) -> _File:
        self._uploads += 1
        file = _File(f"file-{self._uploads}", name, purpose, content)
        self.files[file.id] = file
        return file

    def _missing(self, kind: str, request: web.Request) -> web.Response:
        return fault(404, f"No such {kind} object: {request.match_info['id']}", self._script.shape)


def _read_lines(content: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The requests, and what is wrong with the file."""
    lines: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number, text in enumerate(content.decode(errors="replace").removesuffix("\n").split("\n"), 1):
        try:
            line = json.loads(text)
        except ValueError:
            errors.append(_error("invalid_json_line", "This line is not parseable as valid JSON.", number))
            continue
        problem = _problem(line, seen)
        if problem:
            errors.append(_error(*problem, number))
        else:
            seen.add(line["custom_id"])
            lines.append(line)
    if not content.strip():
        errors = [_error("empty_file", "The batch input file is empty.")]
    if len(lines) > MAX_LINES:
        errors.append(_error("request_limit_exceeded", f"The file has more than {MAX_LINES} requests."))
    return lines, errors


def _problem(line: Any, seen: set[str]) -> tuple[str, str] | None:
    if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
        return "missing_required_parameter", "Missing required parameter: 'custom_id'."
    if line["custom_id"] in seen:
        return "duplicate_custom_id", f"The custom_id {line['custom_id']} is used twice."
    if (line.get("method"), line.get("url")) != ("POST", ENDPOINT):
        return "invalid_url", "The URL of the request does not match the batch's endpoint."
    body = line.get("body")
    if not isinstance(body, dict) or not {"model", "messages"} <= set(body):
        return "invalid_request", "The body needs a model and messages."
    return None


def _error(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "param": None, "line": line}


def _now() -> int:
    return int(time.time())
