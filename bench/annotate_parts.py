"""Which part of the labelling benchmark measures what."""

import gzip
import os
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any
from urllib.parse import urljoin, urlsplit

import redis
from django.core.cache import cache
from django.db import connections
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from annotation.models import Assignment, LabelProject
from annotation.services import create_label_project
from bench.annotate_client import Client, client
from bench.importing import measure_import
from bench.memory import PeakMemory
from bench.processor import tree_seconds
from bench.services import web_server
from bench.targets import Part, Target, spread
from config.processes import Child, StartError
from materials.models import Dataset, Instrument, Item
from materials.services import publish_instrument
from projects.models import Project, Role, User
from projects.services import set_member
from protocols.pact.scenarios import all_scenarios
from responses.models import RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many

CLIENTS = 16
SIZES, QUICK_SIZES = (100, 10_000, 100_000), (100, 10_000)
ROUNDS, QUICK_ROUNDS = 400, 128  # round trips of one client, and of 16 together
TURNS, TURNS_TOGETHER = (
    8,
    2,
)  # the round trips of a size, in as many parts; of one person, each time another, and of all
WARM_UP = 5  # of all clients together, at least one each
THINKING = (0.5, 1.5)  # seconds; faster than people are
RACE_ITEMS, QUICK_RACE_ITEMS = 96, 32
RACE_SECONDS = 120.0
IMPORTED, QUICK_IMPORTED = 100_000, 10_000
EXPORTED, QUICK_EXPORTED = 100_000, 10_000

COST_TARGET = 15.0  # milliseconds of processor time of a round trip
FLAT_TARGET = 1.15  # the dearest round trip as a multiple of the cheapest
LATENCY_TARGET = 100.0  # milliseconds, 95th percentile with 16 clients
IMPORT_TARGET, EXPORT_TARGET = 20.0, 10.0  # seconds for 100,000
EXPORT_MEMORY_TARGET = 64.0  # MiB that the export adds to the web processes
PAGE_TARGET = 80.0  # kB of the first page and all it loads, gzipped

YES_NO = [{"code": "yes", "text": "Yes", "hotkey": "y"}, {"code": "no", "text": "No", "hotkey": "n"}]
QUESTIONS: list[dict[str, Any]] = [
    *(
        {"kind": "choice", "code": code, "text": f"Is the scenario {code}?", "options": YES_NO}
        for code in ("plausible", "clear", "neutral")
    ),
    {"kind": "text", "code": "note", "text": "Note", "required": False},
]
ANSWERS = {"plausible": "yes", "clear": "no", "neutral": "yes"}
FORM = {**{f"answer_{code}": value for code, value in ANSWERS.items()}, "answer_note": ""}


@dataclass
class Site:
    """A project with annotators, and the processes that serve it."""

    url: str
    web: Child
    postgres: Child
    project: Project
    instrument: Instrument
    owner: User
    annotators: list[User]

    def label_project(self, *, items: int, overlap: int) -> LabelProject:
        """A labelling project of a dataset of its own."""
        slug = f"items-{items}-{Dataset.objects.count()}"
        dataset = Dataset.objects.create(project=self.project, name=slug, slug=slug)
        scenarios = all_scenarios()
        Item.objects.bulk_create(
            (
                Item(
                    dataset=dataset,
                    external_id=f"{number}",
                    content=scenarios[number % len(scenarios)],
                    content_hash=f"{number}",
                    position=number,
                )
                for number in range(items)
            ),
            batch_size=5000,
        )
        return create_label_project(
            project=self.project, name=slug, dataset=dataset, instrument=self.instrument, by=None, overlap=overlap
        )

    @contextmanager
    def clients(self, label_project: LabelProject, users: Sequence[User]) -> Iterator[list[Client]]:
        path = f"/p/{self.project.slug}/labelling/{label_project.slug}/work/"
        with ExitStack() as stack:
            yield [stack.enter_context(client(self.url, path, user)) for user in users]

    def processor(self) -> tuple[float, float, float]:
        """Seconds of gunicorn, PostgreSQL and Valkey until now; NaN where there is no /proc."""
        with redis.Redis.from_url(os.environ["REDIS_URL"]) as server:
            used = server.info("cpu")
        valkey = sum(float(used[name]) for name in ("used_cpu_user", "used_cpu_sys"))
        return tree_seconds(self.web.process.pid), tree_seconds(self.postgres.process.pid), valkey


@contextmanager
def site(folder: Path, postgres: Child) -> Iterator[Site]:
    project = Project.objects.create(name="Benchmark of labelling", slug="bench-label")
    instrument = publish_instrument(project=project, name="criteria", title="Criteria", questions=QUESTIONS)
    users = [User.objects.create_user(username=f"person-{number}") for number in range(CLIENTS + 1)]
    for user in users:
        set_member(project=project, user=user, role=Role.ANNOTATOR if user != users[-1] else Role.OWNER, by=None)
    with web_server(folder) as (url, web):
        yield Site(url, web, postgres, project, instrument, users[-1], users[:-1])


def measure(site: Site, parts: Sequence[str], *, quick: bool) -> Iterator[tuple[str, Part]]:
    """The parts that are asked for, each with its name."""
    if "page" in parts:
        yield "first page", _measure_page(site)
    if "cost" in parts:
        yield from _measure_cost(site, QUICK_SIZES if quick else SIZES, QUICK_ROUNDS if quick else ROUNDS)
    if "race" in parts:
        for overlap in (1, 3):
            yield f"race of {overlap}", _measure_race(site, QUICK_RACE_ITEMS if quick else RACE_ITEMS, overlap)
    if "import" in parts:
        yield "import", _measure_import(site, QUICK_IMPORTED if quick else IMPORTED)
    if "export" in parts:
        yield "export", _measure_export(site, QUICK_EXPORTED if quick else EXPORTED)


@dataclass(frozen=True)
class Cost:
    """Milliseconds of a round trip: processor time of the servers, and what clients wait (median, 95th percentile)."""

    web: float
    database: float
    valkey: float
    middle: float
    late: float

    @property
    def processor(self) -> float:
        return self.web + self.database + self.valkey

    def __str__(self) -> str:
        return (
            f"{self.processor:.1f} ms of processor time (gunicorn {self.web:.1f}, PostgreSQL {self.database:.1f}, "
            f"Valkey {self.valkey:.1f}), wait {self.middle:.0f} ms (95 %: {self.late:.0f})"
        )


def _measure_cost(site: Site, sizes: Sequence[int], rounds: int) -> Iterator[tuple[str, Part]]:
    """One person and all of them at each size, in turns: what else the machine does meets every size alike."""
    most = sizes[-1]
    # Enough places for everybody where the items are few.
    projects = {
        size: site.label_project(items=size, overlap=1 if size >= rounds * 3 else CLIENTS + 1) for size in sizes
    }
    answered = site.label_project(items=most, overlap=1)
    _give(answered, site.annotators[0], most // 2)
    alone, together = defaultdict[str, list[Cost]](list), defaultdict[str, list[Cost]](list)
    for user in site.annotators[:TURNS]:
        for size, label_project in projects.items():
            alone[f"{size:,}"].append(round_trips(site, label_project, [user], each=rounds // TURNS))
        alone["half"].append(round_trips(site, answered, site.annotators[:1], each=rounds // TURNS))
    for _ in range(TURNS_TOGETHER):
        for size, label_project in projects.items():
            each = rounds // CLIENTS // TURNS_TOGETHER
            together[f"{size:,}"].append(round_trips(site, label_project, site.annotators, each=each))
    for number, found in (("1", alone), (f"{CLIENTS}", together)):
        for name, costs in found.items():
            yield f"{name}, {number}", Part(f"{_mean(costs)}")
    for size, label_project in projects.items():
        thinking = round_trips(site, label_project, site.annotators, each=rounds // 2 // CLIENTS, think=True)
        line = f"{CLIENTS} who think before they answer wait {thinking.middle:.0f} ms (95 %: {thinking.late:.0f})"
        yield "", Part(line, (Target(f"wait at {size:,} items", thinking.late, LATENCY_TARGET),))
    means = [_mean(costs).processor for found in (alone, together) for costs in found.values()]
    dearest, cheapest = max(means), min(means)
    targets = (
        Target("processor ms a round trip", dearest, COST_TARGET),
        Target("dearest / cheapest round trip", spread(cheapest, dearest), FLAT_TARGET),
    )
    yield "round trip", Part(f"{cheapest:.1f} to {dearest:.1f} ms of processor time", targets)


def _mean(costs: Iterable[Cost]) -> Cost:
    """Of turns with as many round trips each."""
    return Cost(*(fmean(values) for values in zip(*map(astuple, costs), strict=True)))


def round_trips(
    site: Site, label_project: LabelProject, users: Sequence[User], *, each: int, think: bool = False
) -> Cost:
    with site.clients(label_project, users) as clients, ThreadPoolExecutor(len(clients)) as pool:
        warm_up = max(1, WARM_UP // len(clients))
        at = list(pool.map(lambda person: _answer(person, person.first(), warm_up), clients))
        for person in clients:
            person.seconds.clear()
        before = site.processor()
        list(pool.map(lambda person, path: _answer(person, path, each, think=think), clients, at))
        after = site.processor()
        waits = [1000 * seconds for person in clients for seconds in person.seconds]
    web, database, valkey = (
        1000 * (later - earlier) / len(waits) for earlier, later in zip(before, after, strict=True)
    )
    return Cost(web, database, valkey, median(waits), quantiles(waits, n=20)[-1])


def _answer(person: Client, path: str | None, times: int, *, think: bool = False) -> str | None:
    """Answer so many items, or as many as there are, and return the path of the next."""
    for _ in range(times):
        if path is None:
            break
        if think:
            time.sleep(random.uniform(*THINKING))
        path = person.answer(path, FORM)
    return path


def _give(label_project: LabelProject, user: User, count: int) -> None:
    """Let this person have submitted so many of the free places, one a second.

    The database looks at them at once, as it does by itself within minutes of people who submit so many, and counts
    of before are forgotten, which otherwise are brought forward by a few answers at a time.
    """
    free = Assignment.objects.filter(label_project=label_project, status="free").order_by("rank").values("pk")[:count]
    finished = Now() - ExpressionWrapper((count - F("rank")) * timedelta(seconds=1), DurationField())
    Assignment.objects.filter(pk__in=free).update(
        status="submitted", annotator=user, opened_at=finished, finished_at=finished
    )
    with connections["default"].cursor() as cursor:
        cursor.execute("ANALYZE annotation_assignment")
    cache.clear()


def _measure_race(site: Site, items: int, overlap: int) -> Part:
    label_project = site.label_project(items=items, overlap=overlap)
    wanted = items * overlap
    with site.clients(label_project, site.annotators) as clients, ThreadPoolExecutor(len(clients)) as pool:
        started = time.perf_counter()
        list(pool.map(lambda person: _work_until_done(person, label_project, wanted), clients))
        seconds = time.perf_counter() - started
    submitted = Assignment.objects.filter(label_project=label_project, status="submitted")
    counts = Counter(submitted.values_list("item", flat=True))
    twice = sum(n - 1 for n in Counter(submitted.values_list("item", "annotator")).values())
    over = sum(n > overlap for n in counts.values())
    under = items - sum(n >= overlap for n in counts.values())
    targets = [
        Target(f"{name} at overlap {overlap}", n, 0) for name, n in (("over", over), ("under", under), ("twice", twice))
    ]
    line = f"{CLIENTS} people on {items} items: {over} over, {under} under, {twice} twice ({seconds:.1f} s)"
    return Part(line, tuple(targets))


def _work_until_done(person: Client, label_project: LabelProject, wanted: int) -> None:
    """Answer until nothing is left; what others still hold may come back."""
    over = time.monotonic() + RACE_SECONDS
    try:
        while time.monotonic() < over:
            path = person.first()
            while path is not None:
                path = person.answer(path, FORM)
            if Assignment.objects.filter(label_project=label_project, status="submitted").count() >= wanted:
                return
            time.sleep(0.1)
    finally:
        connections.close_all()


def _measure_import(site: Site, items: int) -> Part:
    seconds = measure_import(site.project, items=items, rounds=1)[0]
    target = Target("import of 100,000 s", seconds * 100_000 / items, IMPORT_TARGET)
    return Part(f"{items:,} items in {seconds:.1f} s", (target,))


def _measure_export(site: Site, answers: int) -> Part:
    items = list(Item.objects.filter(dataset__project=site.project)[: answers // 4])
    _record(site, items, answers)
    path = f"/p/{site.project.slug}/responses/export.csv"
    with site.clients(site.project.label_projects.first() or site.label_project(items=1, overlap=1), [site.owner]) as [
        owner
    ]:
        before = _memory(site)
        with PeakMemory(site.web.process.pid) as memory:
            started = time.perf_counter()
            lines = _lines(owner, path)
            seconds = time.perf_counter() - started
    if lines <= answers:
        raise StartError(f"The export has {lines:,} lines for {answers:,} answers.")
    grown = memory.together - before
    rows = lines - 1
    return Part(
        f"{rows:,} answers in {seconds:.1f} s, {grown:,.0f} MiB more",
        (
            Target("export of 100,000 s", seconds * 100_000 / rows, EXPORT_TARGET),
            Target("export MiB", grown, EXPORT_MEMORY_TARGET),
        ),
    )


def _memory(site: Site) -> float:
    with PeakMemory(site.web.process.pid) as memory:
        pass
    return memory.together


def _record(site: Site, items: Sequence[Item], answers: int) -> None:
    """So many answers about these items, which must be at least a quarter as many."""
    condition = get_condition(project=site.project, factors={})
    people = [
        get_respondent(project=site.project, kind=RespondentKind.ANNOTATOR, key=f"bench:{number}", attributes={})
        for number in range(-(-answers // (3 * len(items))))
    ]
    made = (
        Answer(respondent_id=person.pk, item_id=item.pk, question=code, value="yes", condition_id=condition.pk)
        for person in people
        for item in items
        for code in ("plausible", "clear", "neutral")
    )
    record_many(
        project=site.project,
        instrument=site.instrument,
        answers=made,
        source_kind=SourceKind.IMPORT,
        on_conflict="keep",
    )


def _lines(person: Client, path: str) -> int:
    person.connection.request("GET", path, headers={"Cookie": person.cookies})
    response = person.connection.getresponse()
    if response.status != 200:
        raise StartError(f"GET {path} was answered with {response.status}.")
    return sum(chunk.count(b"\n") for chunk in iter(lambda: response.read(1 << 16), b""))


def _measure_page(site: Site) -> Part:
    label_project = site.label_project(items=10, overlap=1)
    with site.clients(label_project, site.annotators[:1]) as [person]:
        connection, headers = person.connection, {"Cookie": person.cookies}
        sizes = dict(_loaded(connection, person.work, headers))
    total = sum(sizes.values()) / 1000
    page = sizes[person.work] / 1000
    line = f"{total:.1f} kB gzipped in {len(sizes)} files, the page itself {page:.1f} kB"
    return Part(line, (Target("first page kB", total, PAGE_TARGET),))


LINKED = re.compile(rb'(?:href|src|from|import)\s*=?\s*"((?:/static/|\./)[^"]+\.(?:css|js|svg)[^"]*)"')


def _loaded(connection: HTTPConnection, path: str, headers: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The page and what it loads, style sheets and scripts with what those import, each with its bytes gzipped."""
    wanted, seen = [path], set[str]()
    while wanted:
        path = wanted.pop()
        if path in seen:
            continue
        seen.add(path)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise StartError(f"GET {path} was answered with {response.status}.")
        yield path, len(gzip.compress(body))
        wanted += [urlsplit(urljoin(path, found.decode())).path for found in LINKED.findall(body)]
