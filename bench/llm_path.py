"""The whole path of a model job, as `serve` sets it up: worker and beat of their own, a scripted server, a project."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from io import BytesIO
from itertools import count, cycle, islice, product
from pathlib import Path
from typing import Any

from config.embedded import free_port
from config.processes import ROOT, Child, StartError, last_line, python, start, wait_until
from llm.models import Job
from llm.services import plan_job, probe_endpoint, publish_prompt, save_endpoint
from materials.importing import import_items
from materials.models import Dataset, Instrument
from materials.reading import read_items
from materials.services import publish_instrument
from projects.models import Project
from protocols.pact.instruments import MODEL_QUESTION_CODES, PAIRED_QUESTIONS
from protocols.pact.prompts import prompt_text
from protocols.pact.scenarios import all_scenarios
from tests.model_server import MODEL

LATENCY = 0.2  # seconds
CONCURRENCY = 64
CEILING = CONCURRENCY / LATENCY  # calls a second
TIMEOUT_SECONDS = 10.0
START_SECONDS = 60.0
PERSONAS = [
    {"country": country, "gender": gender}
    for country, gender in product(("Brazil", "India", "Kenya", "Poland"), ("female", "male"))
]


@dataclass(frozen=True)
class ModelServer:
    url: str
    figures_port: int

    def figures(self) -> dict[str, Any]:
        """What the server was asked until now; see `bench.llm_server`."""
        connection = HTTPConnection("127.0.0.1", self.figures_port, timeout=10)
        try:
            connection.request("GET", "/")
            found: dict[str, Any] = json.loads(connection.getresponse().read())
            return found
        finally:
            connection.close()

    def answers(self) -> bool:
        try:
            return "requests" in self.figures()
        except OSError:
            return False


@contextmanager
def model_server(folder: Path, *, latency: float = LATENCY, arguments: Sequence[object] = ()) -> Iterator[ModelServer]:
    """The scripted server in a process of its own, `arguments` as for `python -m bench.llm_server`."""
    ports = free_port(), free_port()
    addresses = ("--port", ports[0], "--figures-port", ports[1], "--latency", latency)
    log = folder / "model-server.log"
    child = python("model server", "-m", "bench.llm_server", *addresses, *arguments, log=log, env=os.environ)
    server = ModelServer(f"http://127.0.0.1:{ports[0]}/v1", ports[1])
    try:
        wait_until(lambda: not child.alive or server.answers(), START_SECONDS)
        if not child.alive or not server.answers():
            raise StartError(f"The scripted model server did not start: {last_line(log)}.")
        yield server
    finally:
        child.stop(timeout=3)


@contextmanager
def worker(folder: Path, **environment: str) -> Iterator[Child]:
    """A Celery worker as `serve` starts them, for model jobs and everything else, ready for work."""
    arguments = ("worker", "--concurrency=2", "--loglevel=INFO", "--without-mingle", "--without-gossip")
    log = folder / f"worker-{len(list(folder.glob('worker-*.log')))}.log"
    child = _celery(*arguments, log=log, env=os.environ | environment)
    try:
        wait_until(lambda: not child.alive or bool(last_line(log, " ready.")), START_SECONDS)
        if not child.alive or not last_line(log, " ready."):
            raise StartError(f"The worker did not start: {last_line(log)}.")
        yield child
    finally:
        child.stop(timeout=1)  # what it still holds is not wanted any more


@contextmanager
def beat(folder: Path) -> Iterator[None]:
    """Celery's clock, without which nobody finds what a killed worker left."""
    log = folder / "beat.log"
    child = _celery("beat", "--schedule", folder / "schedule", "--pidfile=", log=log, env=os.environ)
    try:
        yield
    finally:
        child.stop(timeout=1)


def _celery(*arguments: object, log: Path, env: Mapping[str, str]) -> Child:
    return python("Celery", "-m", "celery", "-A", "config.celery", *arguments, log=log, env=env, stop="SIGQUIT")


def run_script(name: str, command: Sequence[object], *, folder: Path, seconds: float, stdin: bytes = b"") -> Any:
    """Run a program to its end and read the JSON in the last line that it printed. Raises StartError."""
    log = folder / f"{name}.log"
    child = start(name, command, log=log, cwd=ROOT, stdin=stdin)
    try:
        if not wait_until(lambda: not child.alive, seconds):
            raise StartError(f"{name} was not done after {seconds:.0f} s.")
    finally:
        child.stop(timeout=1)
    if child.process.returncode != 0:
        raise StartError(f"{name} failed: {last_line(log)}.")
    return json.loads(last_line(log, "{"))


@dataclass
class Site:
    """A project with items, a prompt and two questions, and the processes that serve its jobs."""

    folder: Path
    postgres: Child
    project: Project
    dataset: Dataset
    instrument: Instrument
    capabilities: dict[str, Any]
    _numbers: Iterator[int] = field(default_factory=count)

    def plan(self, server: ModelServer, *, items: int, personas: Sequence[Any] = PERSONAS, **fields: Any) -> Job:
        """A job at an endpoint of its own, so that jobs share neither respondents nor answers."""
        endpoint = save_endpoint(
            project=self.project,
            name=f"server {next(self._numbers)}",
            base_url=server.url,
            model=MODEL,
            concurrency=CONCURRENCY,
            timeout_seconds=TIMEOUT_SECONDS,
            capabilities=self.capabilities,
            price_per_million_in=1,
            price_per_million_out=2,
        )
        return plan_job(
            project=self.project,
            name=f"{items} items",
            kind=Job.Kind.SIMULATE,
            endpoint=endpoint,
            prompts=[self.project.prompts.get()],
            dataset=self.dataset,
            instrument=self.instrument,
            question_codes=MODEL_QUESTION_CODES,
            personas=personas,
            max_items=items,
            max_tokens=40,
            **fields,
        )


def make_site(folder: Path, postgres: Child, *, items: int) -> Site:
    """The protocol's questions and prompt over scenarios that differ by a number, so that no two calls ask the same."""
    project = Project.objects.create(name="Benchmark of models", slug="bench-llm")
    lines = (
        json.dumps({**scenario, "external_id": f"{number}", "situation": f"{number}. {scenario['situation']}"})
        for number, scenario in enumerate(islice(cycle(all_scenarios()), items))
    )
    records = read_items(BytesIO("\n".join(lines).encode()), filename="scenarios.jsonl")
    dataset = import_items(project=project, dataset_slug="numbered", records=records, source="bench", by=None).dataset
    name, version = "human_alignment", 1
    system, user = prompt_text(name, version, "system"), prompt_text(name, version, "user")
    publish_prompt(project=project, name="human-alignment", system=system, user=user)
    instrument = publish_instrument(project=project, name="paired", title="Paired", questions=PAIRED_QUESTIONS)
    return Site(folder, postgres, project, dataset, instrument, _probed(folder, project))


def _probed(folder: Path, project: Project) -> dict[str, Any]:
    """What a test of the scripted server finds out; apart from the measured servers, whose requests are counted."""
    with model_server(folder, latency=0.0) as server:
        endpoint = save_endpoint(project=project, name="probed", base_url=server.url, model=MODEL)
        found = probe_endpoint(endpoint=endpoint)
    if found.get("json_mode") != "json_schema":
        raise StartError(f"The scripted server's test found {found.get('json_mode')!r} instead of schemas.")
    return found
