"""oTree with as many pages and the same questions in the same run, as `otree prodserver` starts it, with SQLite."""

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

import httpx2

from bench.processor import tree_seconds
from bench.survey_parts import ITEMS_EACH, SCREENS, SEED, WARM_UP, Figures, pages_of
from bench.survey_visitors import Load, visit
from bench.targets import Part, spread
from config.embedded import free_port
from config.processes import Child, StartError, last_line, start, wait_until
from protocols.pact.instruments import CONSENT, DEBRIEF, DEMOGRAPHICS, PAIRED_QUESTIONS, QuestionData
from protocols.pact.scenarios import all_scenarios
from studies.walk.browser import Browser, WalkError
from studies.walk.forms import Page, read_page

READY_SECONDS = 60.0
KEY = "benchmark"  # of its API, with which the session is made
SETTINGS = """\
SECRET_KEY = ADMIN_USERNAME = ADMIN_PASSWORD = "benchmark"
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", False
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1, participation_fee=0)
SESSION_CONFIGS = [dict(name="bench", app_sequence=["bench"], num_demo_participants=1)]
PARTICIPANT_FIELDS = SESSION_FIELDS = []
"""
APP = """\
from otree.api import *

SCENARIOS = {scenarios!r}


class C(BaseConstants):
    NAME_IN_URL = "bench"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = {rounds}


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
{fields}


def scenario(player):
    return SCENARIOS[(player.id_in_subsession + 7 * player.round_number) % len(SCENARIOS)]


def actions(player):
    shown = scenario(player)
    return [["culture", shown["option_culture"]], ["preference", shown["option_preference"]]]


personal_choices = norm_choices = actions


class Consent(Page):
    form_model, form_fields, template_name = "player", ["consent"], "bench/Form.html"

    @staticmethod
    def is_displayed(player):
        return player.round_number == 1

    @staticmethod
    def vars_for_template(player):
        return dict(parts=[{consent!r}])


class Demographics(Page):
    form_model, form_fields, template_name = "player", {demographics!r}, "bench/Form.html"

    @staticmethod
    def is_displayed(player):
        return player.round_number == 1

    @staticmethod
    def vars_for_template(player):
        return dict(parts=[])


class Item(Page):
    form_model, form_fields, template_name = "player", {questions!r}, "bench/Form.html"

    @staticmethod
    def vars_for_template(player):
        shown = scenario(player)
        return dict(parts=[shown[name] for name in ("situation", "cultural_expectation", "personal_preference")])


class Debriefing(Page):
    template_name = "bench/Form.html"

    @staticmethod
    def is_displayed(player):
        return player.round_number == C.NUM_ROUNDS

    @staticmethod
    def vars_for_template(player):
        return dict(parts=[{debrief!r}])


page_sequence = [Consent, Demographics, Item, Debriefing]
"""
FORM = """\
{{ block title }}Customs and preferences{{ endblock }}
{{ block content }}
{{ for part in parts }}<p>{{ part }}</p>{{ endfor }}
{{ formfields }}
{{ next_button }}
{{ endblock }}
"""


def measure(program: Path, load: Load, *, own: Figures) -> Part:
    """The people of Concord's `own` load at oTree. Raises StartError when it does not go on."""
    with _server(program) as (url, server):
        visit(_participants(url, WARM_UP.people), WARM_UP, seed=SEED)
        participants = _participants(url, load.people)
        before = tree_seconds(server.process.pid)
        visits = visit(participants, load, seed=SEED)
        pages = pages_of(visits)
        processor = 1000 * (tree_seconds(server.process.pid) - before) / pages
    stopped = f"; {len(visits.faults)} stopped: {visits.faults[0]}" if visits.faults else ""
    return Part(
        f"{load.people:,} people, {pages:,} pages in {visits.seconds:.0f} s, {pages / visits.seconds:.1f} pages/s; "
        f"{processor:.1f} ms of processor time a page, wait {1000 * median(visits.waits):.0f} ms "
        f"(95 %: {1000 * quantiles(visits.waits, n=20)[-1]:.0f}); "
        f"{spread(own.processor, processor):.1f} times the processor time of Concord{stopped}"
    )


@dataclass
class Participant:
    browser: Browser
    entry: str
    rng: random.Random
    page: Page = field(default_factory=Page)
    answered: int = 0

    def enter(self) -> bool:
        self.page = read_page(self.browser.get(self.entry))
        return True

    def answer(self) -> bool:
        shown = self.browser.path
        answers = {name: self.rng.choice(found.values) for name, found in self.page.fields.items()}
        self.page = read_page(self.browser.post(shown, answers))
        if self.browser.path == shown:
            raise WalkError(f"The answers to page {self.answered + 1} were not accepted.")
        self.answered += 1
        return self.answered < SCREENS

    def rest(self) -> None:
        self.browser.close()


def _participants(url: str, people: int) -> list[Participant]:
    """With a session of so many places in oTree."""
    wanted = {"session_config_name": "bench", "num_participants": people}
    try:
        answer = httpx2.post(f"{url}/api/sessions", json=wanted, headers={"otree-rest-key": KEY}, timeout=120)
        answer.raise_for_status()
    except httpx2.HTTPError as error:
        raise StartError(f"oTree made no session: {error}") from error
    entry = urlsplit(answer.json()["session_wide_url"]).path
    return [Participant(Browser(url), entry, random.Random(f"{SEED}/{n}")) for n in range(people)]


@contextmanager
def _server(program: Path) -> Iterator[tuple[str, Child]]:
    folder = Path(os.environ["CONCORD_VAR"]) / "otree"
    shutil.rmtree(folder, ignore_errors=True)
    write_app(folder)
    port, log = free_port(), folder / "server.log"
    # Nothing of this environment, which names Concord's database and settings.
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder), "OTREE_PRODUCTION": "1"}
    environment["OTREE_REST_KEY"] = KEY
    server = start("otree", [program, "prodserver", f"127.0.0.1:{port}"], log=log, cwd=folder, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        if not wait_until(lambda: not server.alive or _answers(url), READY_SECONDS) or not server.alive:
            raise StartError(f"oTree is not ready: {last_line(log)}.")
        yield url, server
    finally:
        server.stop(timeout=1)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/api/otree_version", headers={"otree-rest-key": KEY}, trust_env=False).is_success
    except httpx2.HTTPError:
        return False


def write_app(folder: Path) -> None:
    """The study as oTree reads it."""
    for name in ("bench", "_static", "_templates"):
        (folder / name).mkdir(parents=True)
    (folder / "settings.py").write_text(SETTINGS)
    (folder / "bench" / "Form.html").write_text(FORM)
    consent: QuestionData = {
        "code": "consent",
        "text": "Do you want to take part?",
        "options": [{"code": "yes", "text": "Yes"}],
    }
    app = APP.format(
        scenarios=all_scenarios(),
        rounds=ITEMS_EACH,
        fields="\n".join(_field(question) for question in (consent, *DEMOGRAPHICS, *PAIRED_QUESTIONS)),
        consent=CONSENT,
        debrief=DEBRIEF,
        demographics=[question["code"] for question in DEMOGRAPHICS],
        questions=[question["code"] for question in PAIRED_QUESTIONS],
    )
    (folder / "bench" / "__init__.py").write_text(app)


def _field(question: QuestionData) -> str:
    """A line of the class Player; the two actions come from the scenario."""
    choices = ""
    if question.get("kind") == "scale":
        choices = f", choices={[f'{point}' for point in range(question['minimum'], question['maximum'] + 1)]!r}"
    elif not any("text_field" in option for option in question["options"]):
        choices = f", choices={[[option['code'], option['text']] for option in question['options']]!r}"
    return (
        f"    {question['code']} = models.StringField(label={question['text']!r}, widget=widgets.RadioSelect{choices})"
    )
