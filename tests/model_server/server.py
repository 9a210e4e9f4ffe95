"""The scripted server: it counts, decides what to do with each request by its script, and does it."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Self

from aiohttp import web

from tests.model_server.answers import answer_text, completion, seeded
from tests.model_server.batches import Batches
from tests.model_server.faults import fault, json_answer, misbehave, trickle
from tests.model_server.script import STATUS_BEHAVIOURS, WIRE_BEHAVIOURS, Script

MAX_UPLOAD_BYTES = 256 * 2**20


class ScriptedModelServer:
    """The server; a context manager on a free port. `bodies`, `headers`, `behaved` record what happened.

    `requests` and `bodies` are of live calls, `batches.bodies` of the lines of batches; `behaved` counts both.
    """

    def __init__(self, script: Script | None = None, *, port: int = 0, keep_bodies: bool = True) -> None:
        self.script = script or Script()
        self.port = port
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.behaved: Counter[str] = Counter()
        self.requests = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.batches = Batches(self.script, self._answer_line)
        self._keep_bodies = keep_bodies
        self._decided = 0
        self._asked: Counter[str] = Counter()
        self._tokens = self.script.requests_per_second or 0.0
        self._refilled_at = time.monotonic()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), name="scripted-model", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def model(self) -> str:
        """The first model's name, as the server lists it."""
        return self.script.spoken.model_prefix + self.script.models[0]

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
        app = web.Application(client_max_size=MAX_UPLOAD_BYTES, middlewares=[self._doorkeeper])
        app.on_response_prepare.append(self._add_headers)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/health", self._health)
        if self.script.spoken.batch:
            self.batches.add_routes(app)
        app.router.add_route("*", "/{path:.*}", self._unknown)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        when_ready()
        await self._stop.wait()
        await runner.cleanup()

    @web.middleware
    async def _doorkeeper(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        """Keys are looked at before anything but a chat call, which first records what it was sent."""
        if request.path in ("/health", "/v1/chat/completions") or self._may(request):
            return await handler(request)
        return self._wrong_key(request)

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(self.script.spoken.headers)

    async def _health(self, request: web.Request) -> web.StreamResponse:
        return json_answer({"status": "ok"})

    async def _unknown(self, request: web.Request) -> web.StreamResponse:
        status, body = self.script.spoken.unknown_path
        return web.Response(status=status, text=body) if isinstance(body, str) else json_answer(body, status=status)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        dialect = self.script.spoken
        owner = {"owned_by": dialect.owned_by} if dialect.owned_by else {}
        data = [{"id": dialect.model_prefix + name, "object": "model", **owner} for name in self.script.models]
        return json_answer({"object": "list", "data": data})

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
        behaviour = self._behaviour(body) if self._take_token() else "rate_limited"
        self.behaved[behaviour] += 1
        if not self._may(request):
            return self._wrong_key(request)
        answer = self._without_wire(behaviour, body)
        if answer is None:
            return await misbehave(request, behaviour, self.script)
        await asyncio.sleep(self.script.latency_seconds)
        return await trickle(request, answer) if behaviour == "trickle" else answer

    def _answer_line(self, body: dict[str, Any]) -> tuple[int, Any] | None:
        """Status and body for one line of a batch; None when the connection would have gone wrong."""
        behaviour = self._behaviour(body)
        self.behaved[behaviour] += 1
        answer = self._without_wire(behaviour, body)
        return None if answer is None else (answer.status, json.loads(answer.text or "null"))

    def _without_wire(self, behaviour: str, body: dict[str, Any]) -> web.Response | None:
        """The answer as far as it is one; None for a behaviour that is about the connection."""
        heard = {name: value for name, value in body.items() if name not in self.script.spoken.ignores}
        refused = self._refusal(heard)
        if refused is not None:
            return refused
        if behaviour in STATUS_BEHAVIOURS:
            return fault(STATUS_BEHAVIOURS[behaviour], f"scripted {behaviour}", self.script.shape)
        if behaviour in WIRE_BEHAVIOURS and behaviour != "trickle":
            return None
        return json_answer(completion(self.script, behaviour, heard, answer_text(self.script, heard)))

    def _behaviour(self, body: Mapping[str, Any]) -> str:
        self._decided += 1
        if self._decided <= len(self.script.behaviours):
            return self.script.behaviours[self._decided - 1]
        if not self.script.probabilities:
            return "ok"
        asked = json.dumps([body.get("messages"), body.get("seed")])
        self._asked[asked] += 1
        point = seeded(self.script.seed, asked, self._asked[asked]).random()
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

    def _wrong_key(self, request: web.Request) -> web.Response:
        words = f"Incorrect API key provided: {request.headers.get('Authorization', '')}"
        return fault(401, words, self.script.shape)

    def _refusal(self, body: Mapping[str, Any]) -> web.Response | None:
        used: set[Any] = {name for name in body if body[name] is not None}
        used |= {message.get("role") for message in body.get("messages", ())}
        used.add((body.get("response_format") or {}).get("type"))
        rejects = dict.fromkeys(self.script.rejects, 400) | dict(self.script.spoken.rejects)
        for name, status in rejects.items():
            if name in used:
                words = f"Unsupported parameter: '{name}' is not supported with this model."
                return fault(status, words, self.script.shape)
        most = self.script.max_top_logprobs or self.script.spoken.max_top_logprobs
        if (body.get("top_logprobs") or 0) > most:
            return fault(400, f"Invalid value for 'top_logprobs': must be at most {most}.", self.script.shape)
        return None
