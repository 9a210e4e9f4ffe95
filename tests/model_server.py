"""A model server for tests: real HTTP on loopback, answers that follow from the request, faults by script.

In a test: `with ScriptedModelServer(Script(behaviours=["error_500"])) as server: server.base_url`. It runs in a
thread of its own, so that worker processes reach it too. By hand:
`python -m tests.model_server --port 8081 --latency 0.2`.
"""

import argparse
import asyncio
import bz2
import hashlib
import json
import random
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Self

from aiohttp import web

MODEL = "scripted-model"
HUGE_BYTES = 200 * 2**20
ERROR_SHAPES = ("openai", "list", "flat", "detail", "html", "text")
FIELDS_TO_REJECT = (
    "max_tokens",
    "max_completion_tokens",
    "json_schema",
    "json_object",
    "system",
    "seed",
    "temperature",
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


@dataclass(frozen=True)
class Script:
    """How the server behaves. `behaviours` are used up in order of arrival, then `probabilities` decide.

    A choice by probability is a function of the seed, the messages and how often they were asked, not of the order of
    arrival. `answer` replaces the answer's text (it gets the request body). `requests_per_second` answers 429 with
    Retry-After 1 beyond that rate. `rejects` names request fields that are answered 400, in `error_shape`.
    """

    behaviours: Sequence[str] = ()
    probabilities: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    latency_seconds: float = 0.0
    answer: Callable[[dict[str, Any]], str] | None = None
    requests_per_second: float | None = None
    rejects: Sequence[str] = ()
    error_shape: str = "openai"
    api_key: str = ""
    models: Sequence[str] = (MODEL,)
    honours_schema: bool = True

    def __post_init__(self) -> None:
        unknown = {*self.behaviours, *self.probabilities} - set(BEHAVIOURS) | set(self.rejects) - set(FIELDS_TO_REJECT)
        if unknown:
            raise ValueError(f"The script names {', '.join(sorted(unknown))}; known are {', '.join(BEHAVIOURS)}.")


class ScriptedModelServer:
    """The server; a context manager on a free port. `bodies`, `headers`, `behaved` record what happened."""

    def __init__(self, script: Script | None = None, *, port: int = 0, keep_bodies: bool = True) -> None:
        self.script = script or Script()
        self.port = port
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.behaved: Counter[str] = Counter()
        self.requests = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self._keep_bodies = keep_bodies
        self._asked: Counter[str] = Counter()
        self._tokens = self.script.requests_per_second or 0.0
        self._refilled_at = time.monotonic()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), name="scripted-model", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the scripted model server did not start")
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def serve(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Listen until stopped; in the thread of the context manager or in the foreground."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/health", self._health)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        when_ready()
        await self._stop.wait()
        await runner.cleanup()

    async def _health(self, request: web.Request) -> web.StreamResponse:
        return _json({"status": "ok"})

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if not self._may(request):
            return self._fault(401, "Incorrect API key provided")
        return _json({"object": "list", "data": [{"id": name, "object": "model"} for name in self.script.models]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if self._keep_bodies:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
        try:
            return await self._respond(request, body)
        finally:
            self.in_flight -= 1

    async def _respond(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        behaviour = self._behaviour(body)
        self.behaved[behaviour] += 1
        if not self._may(request):
            return self._fault(401, f"Incorrect API key provided: {request.headers.get('Authorization', '')}")
        rejected = self._rejected(body)
        if rejected:
            return self._fault(400, f"Unsupported parameter: '{rejected}' is not supported with this model.")
        if behaviour in STATUS_BEHAVIOURS:
            return self._fault(STATUS_BEHAVIOURS[behaviour], f"scripted {behaviour}")
        if behaviour in WIRE_BEHAVIOURS and behaviour != "trickle":
            return await _misbehave(request, behaviour, self.script)
        await asyncio.sleep(self.script.latency_seconds)
        return await _reply(request, behaviour, body, self._answer(body))

    def _behaviour(self, body: dict[str, Any]) -> str:
        if not self._take_token():
            return "rate_limited"
        if self.requests <= len(self.script.behaviours):
            return self.script.behaviours[self.requests - 1]
        if not self.script.probabilities:
            return "ok"
        asked = json.dumps([body.get("messages"), body.get("seed")])
        self._asked[asked] += 1
        point = _random(self.script.seed, asked, self._asked[asked]).random()
        for behaviour, probability in self.script.probabilities.items():
            point -= probability
            if point < 0:
                return behaviour
        return "ok"

    def _take_token(self) -> bool:
        rate = self.script.requests_per_second
        if rate is None:
            return True
        now = time.monotonic()
        self._tokens = min(rate, self._tokens + (now - self._refilled_at) * rate)
        self._refilled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _may(self, request: web.Request) -> bool:
        return not self.script.api_key or request.headers.get("Authorization") == f"Bearer {self.script.api_key}"

    def _rejected(self, body: dict[str, Any]) -> str:
        used = {name for name in body if body[name] is not None}
        used |= {message.get("role") for message in body.get("messages", ())}
        used.add((body.get("response_format") or {}).get("type"))
        return next((name for name in self.script.rejects if name in used), "")

    def _fault(self, status: int, words: str, shape: str = "") -> web.Response:
        return _fault(status, words, shape or self.script.error_shape)

    def _answer(self, body: dict[str, Any]) -> str:
        if self.script.answer:
            return self.script.answer(body)
        rng = _random(self.script.seed, json.dumps([body.get("messages"), body.get("seed")]))
        wanted = body.get("response_format") or {}
        if wanted.get("type") == "json_schema" and self.script.honours_schema:
            return json.dumps(value_for(wanted["json_schema"]["schema"], rng))
        if wanted.get("type") == "json_object":
            return json.dumps({"answer": rng.choice("AB")})
        return f"Answer: {rng.choice('AB')}"


def value_for(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """A value that the JSON schema allows, drawn by `rng`."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        return {name: value_for(part, rng) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        choices = list(schema["items"].get("enum", ())) or ["A"]
        lowest = min(schema.get("minItems", 0), len(choices))
        return rng.sample(choices, rng.randint(lowest, min(schema.get("maxItems", len(choices)), len(choices))))
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        return rng.randint(int(low), int(schema.get("maximum", low + 100)))
    return f"text {rng.randrange(1000)}" if kind == "string" else None


async def _reply(request: web.Request, behaviour: str, body: dict[str, Any], text: str) -> web.StreamResponse:
    payload = _payload(behaviour, body, text)
    if behaviour == "trickle":
        return await _trickle(request, json.dumps(payload).encode())
    return _json(payload)


def _payload(behaviour: str, body: dict[str, Any], text: str) -> dict[str, Any]:
    if behaviour == "no_choices":
        return {"id": "scripted", "object": "chat.completion"}
    if behaviour == "error_in_200":
        return {"error": {"message": "Provider returned error", "code": 502}}
    changes: dict[str, dict[str, Any]] = {
        "length": {"content": text[: len(text) // 2]},
        "content_filter": {"content": ""},
        "refusal": {"content": None, "refusal": "I cannot help with that."},
        "think": {"content": f"<think>First A, then B.</think>\n\n{text}"},
        "think_unclosed": {"content": "<think>First A, then B, and then"},
        "reasoning_content": {"content": text, "reasoning_content": "First A, then B."},
        "reasoning": {"content": text, "reasoning": "First A, then B."},
        "json_in_reasoning": {"content": "", "reasoning_content": text},
        "parts": {"content": [{"type": "text", "text": text[:3]}, {"type": "text", "text": text[3:]}]},
        "unparseable": {"content": "Both have their merits, it depends."},
        "empty_content": {"content": ""},
        "null_content": {"content": None},
        "nul_bytes": {"content": f"{text}\x00\ud800"},
    }
    message = {"role": "assistant", "content": text, **changes.get(behaviour, {})}
    finish = behaviour if behaviour in ("length", "content_filter") else "stop"
    prompt_tokens = sum(len(str(entry.get("content"))) for entry in body.get("messages", ())) // 4
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": max(1, len(text) // 4)}
    usage["total_tokens"] = sum(usage.values())
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", MODEL),
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        **({} if behaviour == "no_usage" else {"usage": usage}),
    }


async def _misbehave(request: web.Request, behaviour: str, script: Script) -> web.StreamResponse:
    if behaviour == "hang":
        await asyncio.sleep(3600)
    if behaviour in ("cut", "cut_headers"):
        return await _cut(request, with_headers=behaviour == "cut")
    if behaviour in ("huge", "huge_packed"):
        return await _huge(request, packed=behaviour == "huge_packed")
    answers: dict[str, Callable[[], web.Response]] = {
        "rate_limited": lambda: _fault(429, "Rate limit reached", script.error_shape, {"Retry-After": "1"}),
        "rate_limited_date": lambda: _fault(
            429, "Rate limit reached", script.error_shape, {"Retry-After": formatdate(time.time() + 7, usegmt=True)}
        ),
        "quota": lambda: _fault(429, "You exceeded your current quota", "openai", code="insufficient_quota"),
        "content_filter_400": lambda: _fault(400, "The prompt was filtered", "openai", code="content_filter"),
        "html_200": lambda: _fault(200, "Please log in", "html"),
        "html_502": lambda: _fault(502, "Bad Gateway", "html"),
        "empty_200": lambda: web.Response(body=b"", content_type="application/json"),
        "invalid_json": lambda: web.Response(text='{"choices": [{"message": }', content_type="application/json"),
        "odd_charset": lambda: web.Response(
            body=bz2.compress(b"{}"), headers={"Content-Type": "application/json; charset=bz2"}
        ),
        "redirect": lambda: web.Response(status=307, headers={"Location": "/elsewhere"}),
    }
    return answers[behaviour]()


async def _cut(request: web.Request, *, with_headers: bool) -> web.StreamResponse:
    """Close the connection in the middle of the body, or before any of the answer."""
    transport = request.transport
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    if with_headers:
        await response.prepare(request)
        await response.write(b'{"id": "scripted", "choices": [{"message": {"content": "{\\"q')
    if transport is not None:
        transport.close()
    return response


async def _huge(request: web.Request, *, packed: bool) -> web.StreamResponse:
    """A body of HUGE_BYTES without a stated length, or one of that length in little gzip."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    pack = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    await response.prepare(request)
    part = b" " * 2**20
    with suppress(ConnectionError):  # who reads it may have enough of it
        for _ in range(HUGE_BYTES // len(part)):
            await response.write(pack.compress(part) if packed else part)
        if packed:
            await response.write(pack.flush())
    return response


async def _trickle(request: web.Request, data: bytes) -> web.StreamResponse:
    """A byte now and then: no single wait is long, the whole is."""
    response = web.StreamResponse(headers={"Content-Length": str(len(data)), "Content-Type": "application/json"})
    await response.prepare(request)
    for byte in data:
        await response.write(bytes([byte]))
        await asyncio.sleep(0.1)
    return response


def _fault(
    status: int, words: str, shape: str, headers: Mapping[str, str] | None = None, *, code: str | None = None
) -> web.Response:
    inner = {"message": words, "type": "scripted", "param": None, "code": code}
    shapes: dict[str, Any] = {
        "openai": {"error": inner},
        "list": [{"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}],
        "flat": {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": status},
        "detail": {"detail": [{"loc": ["body", "messages"], "msg": words, "type": "value_error"}]},
    }
    if shape in shapes:
        return _json(shapes[shape], status=status, headers=headers)
    page = f"<!doctype html><html><head><title>{status} {words}</title></head><body><h1>nginx</h1></body></html>"
    text, kind = (page, "text/html") if shape == "html" else (words, "text/plain")
    return web.Response(status=status, text=text, content_type=kind, headers=headers)


def _json(payload: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(payload, status=status, headers=headers)


def _random(*parts: object) -> random.Random:
    return random.Random(hashlib.sha256(repr(parts).encode()).digest())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8081)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, help="requests a second beyond which it answers 429")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=PROBABILITY", help=", ".join(BEHAVIOURS))
    options = parser.parse_args()
    faults = {name: float(share) for name, _, share in (fault.partition("=") for fault in options.fault)}
    script = Script(
        probabilities=faults, seed=options.seed, latency_seconds=options.latency, requests_per_second=options.rate
    )
    server = ScriptedModelServer(script, port=options.port, keep_bodies=False)
    try:
        asyncio.run(server.serve(lambda: print(f"{server.base_url} serves {MODEL}; Ctrl-C ends it.", flush=True)))
    except KeyboardInterrupt:
        print("Stopped.")


if __name__ == "__main__":
    main()
