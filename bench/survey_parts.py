"""What many participants cost, what they wait, and whether the export holds each answer that was acknowledged once."""

import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from statistics import median, quantiles

from django.urls import reverse

from bench.processor import tree_seconds
from bench.services import web_server
from bench.survey_visitors import Load, Visits, visit
from bench.targets import Part, Target
from config.processes import Child, StartError
from materials.importing import import_items
from materials.models import Dataset
from materials.reading import read_items
from materials.services import publish_instrument
from projects.models import Project
from protocols.pact.demo import SCENARIO_FIELDS
from protocols.pact.instruments import CONSENT, DEBRIEF, DEMOGRAPHICS, PAIRED_QUESTIONS
from protocols.pact.scenarios import SCENARIOS_FILE
from responses.export import export_responses, table_lines
from studies.models import Screen, Study
from studies.services import create_study, open_study
from studies.simulation import simulation_header
from studies.walk.browser import Browser, WalkError
from studies.walk.forms import Page, read_page

ITEMS_EACH = 7
SCREENS = ITEMS_EACH + 3  # with consent, questions about the person and debriefing
LOADS = {"thinking": Load(200, 120.0, 30.0), "burst": Load(200, 0.0, 0.0), "crowd": Load(1_000, 120.0, 30.0)}
QUICK_LOADS = {"thinking": Load(10, 2.0, 0.8), "burst": Load(30, 0.0, 0.0), "crowd": Load(24, 1.0, 0.8)}
WARM_UP = Load(8, 0.0, 0.0)
SEND_TWICE = 10  # one person in so many sends every page about an item twice, the second time with other answers
SEED = 1

COST_TARGET = 20.0  # milliseconds of processor time of a page
WAIT_TARGET = 300.0  # milliseconds, 95th percentile, where people think


@dataclass
class Site:
    """A published study of ten screens and the processes that serve it. `people` counts who was sent."""

    url: str
    web: Child
    postgres: Child
    study: Study
    people: int = 0

    def processor(self) -> tuple[float, float]:
        """Seconds of gunicorn and PostgreSQL until now; NaN where there is no /proc."""
        return tree_seconds(self.web.process.pid), tree_seconds(self.postgres.process.pid)


@contextmanager
def site(folder: Path, postgres: Child) -> Iterator[Site]:
    project = Project.objects.create(name="Benchmark of studies", slug="bench-survey")
    records = read_items(BytesIO(SCENARIOS_FILE.read_bytes()), filename=SCENARIOS_FILE.name)
    import_items(project=project, dataset_slug="scenarios", records=records, source=SCENARIOS_FILE.name, by=None)
    study = create_study(
        project=project,
        name="Benchmark",
        slug="bench",
        dataset=Dataset.objects.get(project=project),
        instrument=publish_instrument(project=project, name="paired", title="Paired", questions=PAIRED_QUESTIONS),
        texts={"title": "Customs and preferences", "consent": CONSENT, "debrief": DEBRIEF},
        design={
            "items_each": ITEMS_EACH,
            "seed": SEED,
            "strata": ["country"],
            "balance": ["receiver_country", "receiver_gender"],
            "item_template": {"item_fields": list(SCENARIO_FIELDS)},
            "minutes": 5,
        },
        demographics=DEMOGRAPHICS,
        completion_codes={"completed": "BENCH1"},
    )
    with web_server(folder) as (url, web):
        yield Site(url, web, postgres, open_study(study=study, by=None))


@dataclass
class Participant:
    """`acknowledged` has the answers to each screen about an item, by the session's key and the screen's position."""

    browser: Browser
    entry: str
    headers: Mapping[str, str]
    rng: random.Random
    sends_twice: bool
    page: Page = field(default_factory=Page)
    acknowledged: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)

    def enter(self) -> bool:
        self.page = read_page(self.browser.get(self.entry, self.headers))
        return bool(self.page.screen)

    def answer(self) -> bool:
        shown, answers = self.page, self._draw(self.page)
        self.page = read_page(self.browser.post(shown.action, {"asked": list(shown.fields), **answers}))
        if self.page.action == shown.action:
            raise WalkError(f"The answers to {shown.screen} were not accepted.")
        if shown.screen == "item":
            *_, session, position = shown.action.strip("/").split("/")
            self.acknowledged[session, int(position)] = answers
            if self.sends_twice:
                self.browser.post(shown.action, {"asked": list(shown.fields), **self._draw(shown)})
        return bool(self.page.screen)

    def rest(self) -> None:
        self.browser.close()

    def _draw(self, page: Page) -> dict[str, str]:
        """An answer to every question, or consent."""
        if page.screen == "consent":
            return {"consent": "yes"}
        return {name: self.rng.choice(found.values) for name, found in page.fields.items()}


@dataclass(frozen=True)
class Figures:
    """What so many people cost and waited. Processor time in milliseconds a page, waits in milliseconds."""

    load: Load
    pages: int
    seconds: float
    web: float
    database: float
    middle: float
    late: float
    faults: list[str]
    acknowledged: int
    lost: int
    doubled: int

    @property
    def processor(self) -> float:
        return self.web + self.database

    def part(self, name: str) -> Part:
        targets = [Target(f"processor ms a page of {name}", self.processor, COST_TARGET)]
        if self.load.thinking:
            targets.append(Target(f"wait ms of {name}", self.late, WAIT_TARGET))
        wrong = {"unfinished": len(self.faults), "lost": self.lost, "doubled": self.doubled}
        targets += [Target(f"{what} of {name}", n, 0) for what, n in wrong.items()]
        line = f"{self}; {len(self.faults)} stopped: {self.faults[0]}" if self.faults else str(self)
        return Part(line, tuple(targets))

    def __str__(self) -> str:
        return (
            f"{self.load.people:,} people, {self.pages:,} pages in {self.seconds:.0f} s, "
            f"{self.pages / self.seconds:.1f} pages/s; {self.processor:.1f} ms of processor time a page (gunicorn "
            f"{self.web:.1f}, PostgreSQL {self.database:.1f}), wait {self.middle:.0f} ms (95 %: {self.late:.0f}); "
            f"{self.acknowledged:,} answers acknowledged, {self.lost} lost, {self.doubled} doubled"
        )


def measure(site: Site, load: Load) -> Figures:
    """Send the people of this load, after a few who fill caches. Raises StartError when nobody gets through."""
    visit(_participants(site, WARM_UP.people), WARM_UP, seed=SEED)
    participants = _participants(site, load.people)
    before = site.processor()
    visits = visit(participants, load, seed=SEED)
    pages = pages_of(visits)
    web, database = (1000 * (late - early) / pages for early, late in zip(before, site.processor(), strict=True))
    acknowledged = {place: answers for person in participants for place, answers in person.acknowledged.items()}
    lost, doubled = compare(_expected(site.study, acknowledged), _exported(site.study))
    return Figures(
        load=load,
        pages=pages,
        seconds=visits.seconds,
        web=web,
        database=database,
        middle=1000 * median(visits.waits),
        late=1000 * quantiles(visits.waits, n=20)[-1],
        faults=visits.faults,
        acknowledged=sum(map(len, acknowledged.values())),
        lost=lost,
        doubled=doubled,
    )


def pages_of(visits: Visits) -> int:
    """How many pages people waited for. Raises StartError, with what stopped them, when nobody got to a second."""
    if len(visits.waits) < 2:
        raise StartError(f"Nobody got through: {next(iter(visits.faults), 'no page came')}")
    return len(visits.waits)


def _participants(site: Site, people: int) -> list[Participant]:
    entry, headers = reverse("participant_entry", kwargs={"key": site.study.key}), simulation_header(site.study)
    ids = "PROLIFIC_PID=person-{n}&STUDY_ID=bench&SESSION_ID=session-{n}"
    first, site.people = site.people, site.people + people
    return [
        Participant(
            browser=Browser(site.url),
            entry=f"{entry}?{ids.format(n=n)}",
            headers=headers,
            rng=random.Random(f"{SEED}/{n}"),
            sends_twice=n % SEND_TWICE == 0,
        )
        for n in range(first, site.people)
    ]


Answers = Counter[tuple[str, str, str, str]]  # respondent, item, question, value


def _expected(study: Study, acknowledged: Mapping[tuple[str, int], Mapping[str, str]]) -> Answers:
    screens = Screen.objects.filter(session__study=study, kind=Screen.Kind.ITEM)
    shown = {
        (key, position): (f"session:{session}", item)
        for key, position, session, item in screens.values_list(
            "session__key", "position", "session", "item__external_id"
        )
    }
    return Counter(
        (*shown[place], question, value)
        for place, answers in acknowledged.items()
        for question, value in answers.items()
    )


def _exported(study: Study) -> Answers:
    table = export_responses(
        project=study.project, answers=study.project.responses.all(), format="csv", filters="", by=None
    )
    rows = csv.DictReader(table_lines(table, "csv"))
    return Counter((row["respondent"], row["item"], row["question"], row["value"]) for row in rows)


def compare(expected: Answers, exported: Answers) -> tuple[int, int]:
    """How many acknowledged answers the export lacks, and how many of its answers stand beside another to the same
    question by the same person about the same item.
    """
    asked = Counter(key[:3] for key in exported.elements())
    return (expected - exported).total(), sum(n - 1 for n in asked.values())
