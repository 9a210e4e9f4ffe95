"""What a behaviour report costs, from the request to the page, and with what its cost grows."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse

from bench.annotate_client import session_of
from bench.llm_path import worker
from bench.memory import PeakMemory
from bench.processor import tree_seconds
from bench.report_data import PARAMETERS, Size, fill
from bench.running import Parts
from bench.services import web_server
from bench.targets import Part, Target, spread
from config.processes import Child, StartError, wait_until
from evaluation.kept_frames import unpack
from evaluation.models import Report
from evaluation.services import create_report
from projects.models import Membership, Project, Role, User

FULL, QUICK = Size(scenarios=6_640), Size(scenarios=240)  # 318,720 and 11,520 items
SMALL, QUICK_SMALL = Size(scenarios=600), Size(scenarios=60)
TIMES = 4
MOST_SECONDS, MOST_MIB = 60.0, 1536.0
MOST_GROWTH = 1.25  # of the worker's processor time, with four times the answers
BUILD_SECONDS = 900.0


@dataclass(frozen=True)
class Built:
    """A report: seconds from the request to the page, processor seconds, MiB together, rows of counts it keeps."""

    size: Size
    seconds: float
    worker: float
    postgres: float
    memory: float
    rows: int

    def __str__(self) -> str:
        return (
            f"{self.size.answers:,} answers to {self.size.items:,} items: {self.seconds:.1f} s; processor s: worker "
            f"{self.worker:.1f}, PostgreSQL {self.postgres:.1f}; {self.memory:,.0f} MiB; {self.rows:,} rows kept"
        )


def measure(parts: Sequence[str], folder: Path, postgres: Child, *, quick: bool) -> Parts:
    small, full = (QUICK_SMALL, QUICK) if quick else (SMALL, FULL)
    made: dict[Size, Built] = {}

    def report(size: Size) -> Built:
        """The report of this size, which is built once."""
        if size not in made:
            made[size] = build(folder, postgres, size)
        return made[size]

    if "growth" in parts:
        yield from _measure_growth(report, small)
    if "behaviour" in parts:
        built = report(full)
        targets = (
            Target("report s", built.seconds, MOST_SECONDS),
            Target("MiB of web and worker", built.memory, MOST_MIB),
        )
        yield "behaviour", Part(str(built), targets)


def _measure_growth(report: Callable[[Size], Built], small: Size) -> Parts:
    """The same items with more answers to each, and as many answers to more items."""
    once = report(small)
    yield "once", Part(str(once))
    answers = report(replace(small, samples=TIMES))
    yield f"answers x {TIMES}", Part(f"{answers}: {_growth(once, answers)}")
    items = report(replace(small, scenarios=TIMES * small.scenarios))
    yield f"items x {TIMES}", Part(f"{items}: {_growth(once, items)}")
    growth = spread(once.worker, answers.worker)
    target = Target(f"worker's processor time, answers x {TIMES}", growth, MOST_GROWTH)
    line = f"{TIMES} times the answers take {growth:.2f} times the worker's processor time, {TIMES} times the items "
    yield "growth", Part(f"{line}{spread(once.worker, items.worker):.2f} times", (target,))


def _growth(once: Built, other: Built) -> str:
    return (
        f"{spread(once.seconds, other.seconds):.2f} times the time, {spread(once.worker, other.worker):.2f} times the "
        f"worker's, {spread(once.postgres, other.postgres):.2f} times PostgreSQL's processor time"
    )


def build(folder: Path, postgres: Child, size: Size) -> Built:
    """Make the answers, then ask for a report and its page, with a worker and a web server fresh from their start."""
    project = fill(size, slug=f"s{size.scenarios}-{size.samples}")
    user = User.objects.create_user(username=project.slug, password=None)
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    with ExitStack() as running:
        url, web = running.enter_context(web_server(folder))
        celery = running.enter_context(worker(folder))
        pids = web.process.pid, celery.process.pid
        memory = [running.enter_context(PeakMemory(pid)) for pid in pids]
        before = tree_seconds(pids[1]), tree_seconds(postgres.process.pid)
        started = time.perf_counter()
        report = _built(project, user)
        _ask(url, reverse("report", args=[project.slug, report.pk]), user)
        seconds = time.perf_counter() - started
        after = tree_seconds(pids[1]), tree_seconds(postgres.process.pid)
    kept = sum(map(len, unpack(bytes(report.data.frames)).values()))
    together = sum(each.together for each in memory)
    return Built(size, seconds, after[0] - before[0], after[1] - before[1], together, kept)


def _built(project: Project, user: User) -> Report:
    report = create_report(project=project, title="Behaviour", kind="behaviour", parameters=PARAMETERS, created_by=user)
    rows = Report.objects.filter(pk=report.pk)
    wait_until(lambda: not rows.filter(status=Report.Status.PENDING).exists(), BUILD_SECONDS)
    report.refresh_from_db()
    if report.status != Report.Status.READY:
        raise StartError(f"The report was not built: {report.problem or 'it took too long'}")
    return report


def _ask(url: str, path: str, user: User) -> None:
    """The page, by somebody who has logged in."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request("GET", path, headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(user)}"})
        response = connection.getresponse()
        if response.status != 200 or b"Drop-one deviance" not in response.read():
            raise StartError(f"{path} was answered with {response.status}, or without the report.")
    finally:
        connection.close()
