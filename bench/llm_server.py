"""`python -m bench.llm_server`: the scripted model server in a process of its own, which tells what it was asked.

It prints nothing. The figures are on a port beside the server's, so that asking for them is no request to a model.
"""

import argparse
import asyncio
import hashlib
import json
import random
import time
from collections import Counter
from typing import Any

from aiohttp import web

from tests.model_server import Script, ScriptedModelServer, value_for


class Tally:
    """Answers every question by its text and counts how often each was answered."""

    def __init__(self, latency: float, plain: str) -> None:
        self._latency, self._plain = latency, plain
        self._answered: Counter[bytes] = Counter()
        self.first_at: float | None = None
        self.body: dict[str, Any] | None = None

    def answer(self, body: dict[str, Any]) -> str:
        if self.first_at is None:
            self.first_at, self.body = time.time() - self._latency, body
        asked = hashlib.sha256(json.dumps([body["messages"], body.get("seed")]).encode()).digest()
        self._answered[asked] += 1
        wanted = body.get("response_format") or {}
        if wanted.get("type") != "json_schema":
            return self._plain
        return json.dumps(value_for(wanted["json_schema"]["schema"], random.Random(asked)))

    def figures(self, server: ScriptedModelServer) -> dict[str, Any]:
        return {
            "requests": server.requests,
            "in_flight": server.in_flight,
            "most_in_flight": server.most_in_flight,
            "behaved": dict(server.behaved),
            "answered": self._answered.total(),
            "questions": len(self._answered),
            "first_at": self.first_at,
            "body": self.body,
        }


async def serve(server: ScriptedModelServer, tally: Tally, figures_port: int) -> None:
    async def figures(request: web.Request) -> web.Response:
        return web.json_response(tally.figures(server))

    app = web.Application()
    app.router.add_get("/", figures)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", figures_port).start()
    await server.serve()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.llm_server", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--figures-port", type=int, required=True)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=PROBABILITY")
    parser.add_argument("--plain", default="A", help="what is answered where no schema is asked for")
    options = parser.parse_args()
    tally = Tally(options.latency, options.plain)
    script = Script(
        probabilities={name: float(share) for name, _, share in (fault.partition("=") for fault in options.fault)},
        latency_seconds=options.latency,
        requests_per_second=options.rate,
        answer=tally.answer,
    )
    server = ScriptedModelServer(script, port=options.port, keep_bodies=False)
    asyncio.run(serve(server, tally, options.figures_port))


if __name__ == "__main__":
    main()
