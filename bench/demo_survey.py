"""Pages a second of the demo's survey: simulated participants over real HTTP against gunicorn on this machine."""

import resource
import secrets
import time
from dataclasses import dataclass

from bench.processor import tree_seconds
from config.processes import Child
from protocols.pact.demo import STUDY_SLUG, load
from protocols.pact.instruments import PARTICIPANT_COUNTRIES
from studies.models import Screen, Session, Study
from studies.walk import walk

CLIENTS = 16
SEED = 1


@dataclass(frozen=True)
class SurveyCost:
    """`pages` are screens and closing pages as people see them; most take two requests (answer, redirect to next).

    Processor seconds of gunicorn, PostgreSQL and the clients; NaN for the servers where there is no /proc.
    """

    people: int
    pages: int
    requests: int
    seconds: float
    web: float
    database: float
    clients: float

    def __str__(self) -> str:
        web, database, clients = (1000 * part / self.pages for part in (self.web, self.database, self.clients))
        return (
            f"{self.pages / self.seconds:,.0f} pages/s, {self.requests / self.seconds:,.0f} requests/s "
            f"({self.people} people, {CLIENTS} clients, {self.pages:,} pages, {self.seconds:.1f} s); processor a page: "
            f"server {web + database:.1f} ms (gunicorn {web:.1f}, PostgreSQL {database:.1f}), client {clients:.1f} ms"
        )


def measure_survey(url: str, web: Child, database: Child, *, people: int) -> SurveyCost:
    """Load the demo and send `people` simulated participants through its survey, all of them to the end."""
    load(password=secrets.token_urlsafe())
    study = Study.objects.get(project__slug="demo", slug=STUDY_SLUG)
    walk(url, study.key, CLIENTS, SEED, countries=PARTICIPANT_COUNTRIES, concurrency=CLIENTS)  # fills caches
    shown = _pages(study)
    before = _processor(web, database)
    started = time.perf_counter()
    summary = walk(url, study.key, people, SEED + 1, countries=PARTICIPANT_COUNTRIES, concurrency=CLIENTS)
    seconds = time.perf_counter() - started
    spent = [after - earlier for earlier, after in zip(before, _processor(web, database), strict=True)]
    return SurveyCost(people, _pages(study) - shown, summary.requests, seconds, *spent)


def _pages(study: Study) -> int:
    """Screens that were shown, and the closing page of everyone who finished."""
    shown = Screen.objects.filter(session__study=study).exclude(shown_at=None).count()
    return shown + Session.objects.filter(study=study).exclude(finished_at=None).count()


def _processor(web: Child, database: Child) -> tuple[float, float, float]:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return tree_seconds(web.process.pid), tree_seconds(database.process.pid), own.ru_utime + own.ru_stime
