"""Other labelling tools with as many items and the same questions in the same run, where an environment has them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Protocol

import httpx2

from bench.annotate_parts import WARM_UP, Site, round_trips
from bench.annotate_peer_label_studio import LabelStudio
from bench.annotate_peer_potato import Potato
from bench.processor import tree_seconds
from bench.targets import Part, spread
from config.embedded import free_port
from config.healthcheck import problem
from config.processes import Child, StartError, last_line, start, wait_until
from protocols.pact.scenarios import all_scenarios

ITEMS = 1_000
READY_SECONDS = 600.0  # Label Studio makes its database first, a minute of processor time
NOTHING_OUTWARD = {  # of Label Studio, whose pages and server report to its makers
    "COLLECT_ANALYTICS": "False",
    "FRONTEND_SENTRY_DSN": "",
    "LATEST_VERSION_CHECK": "False",
    "SENTRY_DSN": "",
}


class Peer(Protocol):
    """One person at work, by the requests with which the tool's page submits an item and gets the next.

    All but `arguments` raise `httpx2.HTTPError`.
    """

    def __init__(self, http: httpx2.Client) -> None: ...

    @staticmethod
    def arguments(folder: Path, port: int, texts: Sequence[str]) -> Sequence[object]:
        """Write what the tool reads into `folder`; what starts its server there, after the name of its program."""

    def first(self, texts: Sequence[str]) -> str:
        """Log in, with these items in the project, and return the id of the first."""

    def answer(self, item: str) -> str:
        """Submit the item and return the id of the next; empty when none is shown."""


PEERS: dict[str, type[Peer]] = {"label-studio": LabelStudio, "potato": Potato}


def measure_peer(site: Site, *, peer: str, program: Path, rounds: int) -> Part:
    """One person answers so many items in Concord and then in the peer. Raises StartError when it does not go on."""
    own = round_trips(site, site.label_project(items=ITEMS, overlap=1), site.annotators[:1], each=rounds)
    scenarios = all_scenarios()
    texts = [f"{number}. {scenarios[number % len(scenarios)]['situation']}" for number in range(ITEMS)]
    with _server(peer, program, texts) as (url, server), _http(url) as http:
        try:
            person = PEERS[peer](http)
            *_, (item, _) = answers(person, person.first(texts), WARM_UP)
            before = tree_seconds(server.process.pid)
            seconds = [seconds for _, seconds in answers(person, item, rounds)]
            processor = 1000 * (tree_seconds(server.process.pid) - before) / rounds
        except httpx2.HTTPError as error:
            raise StartError(f"{peer} did not go on: {error}") from error
    return Part(
        f"{processor:.1f} ms of processor time, wait {1000 * median(seconds):.0f} ms; Concord {own.processor:.1f} ms, "
        f"wait {own.middle:.0f}: {spread(own.processor, processor):.1f} times the processor time"
    )


def answers(person: Peer, item: str, times: int) -> Iterator[tuple[str, float]]:
    """Submit so many items from this one on; the next item and the seconds of each. Raises StartError at a repetition.

    A page that stays at an item has not taken its answers.
    """
    seen = {item}
    for _ in range(times):
        started = perf_counter()
        item = person.answer(item)
        seconds = perf_counter() - started
        if not item or item in seen:
            raise StartError(f"After {len(seen)} items the next was {item or 'none'}, which cannot be.")
        seen.add(item)
        yield item, seconds


@contextmanager
def _server(peer: str, program: Path, texts: Sequence[str]) -> Iterator[tuple[str, Child]]:
    folder = Path(os.environ["CONCORD_VAR"]) / peer
    folder.mkdir()
    port, log = free_port(), folder / "server.log"
    command = [program, *PEERS[peer].arguments(folder, port, texts)]
    # Nothing of this environment, which names Concord's database and settings.
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **NOTHING_OUTWARD}
    server = start(peer, command, log=log, cwd=folder, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: not server.alive or not problem(f"{url}/health"), READY_SECONDS)
        if not server.alive or problem(f"{url}/health"):
            raise StartError(f"{peer} is not ready: {last_line(log)}.")
        yield url, server
    finally:
        server.stop(timeout=1)


def _http(url: str) -> httpx2.Client:
    def refuse(response: httpx2.Response) -> None:
        if response.is_error:
            response.raise_for_status()

    return httpx2.Client(base_url=url, timeout=60, trust_env=False, event_hooks={"response": [refuse]})
