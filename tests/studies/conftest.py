"""A small study of the demo's shape: consent, about you, instructions, scenarios with linked questions, a check."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from studies.models import Session, Study
from studies.platform_api import PlatformClient
from studies.services import create_study, open_study
from studies.services.platform_accounts import connect_study, save_account
from studies.walk.forms import Page, read_page
from tests.studies.platform_server import SECRET, STUDY, TOKEN, PlatformServer

ACTIONS = [{"code": "culture", "text_field": "option_culture"}, {"code": "preference", "text_field": "option_personal"}]
LINKED = {"kind": "choice", "options": ACTIONS, "randomise": True, "order_group": "action"}
QUESTIONS = [
    {**LINKED, "code": "personal", "text": "What would you do?"},
    {**LINKED, "code": "norm", "text": "What would most people there find right?"},
    {"kind": "scale", "code": "importance", "text": "How important is the custom?", "required": False},
    {"kind": "text", "code": "why", "text": "Why?", "required": False, "max_length": 200},
]
DEMOGRAPHICS = [
    {
        "kind": "choice",
        "code": "country",
        "text": "Where do you live?",
        "reason": "Answers are compared between countries.",
        "options": [{"code": "United Kingdom", "text": "United Kingdom"}, {"code": "Brazil", "text": "Brazil"}],
    },
    {
        "kind": "choice",
        "code": "age_group",
        "text": "How old are you?",
        "options": [{"code": "younger", "text": "18 to 39"}, {"code": "older", "text": "40 or over"}],
    },
]
CHECK = {
    "question": {
        "kind": "choice",
        "code": "colour",
        "text": "To show that you read this, choose Blue.",
        "options": [
            {"code": "red", "text": "Red"},
            {"code": "blue", "text": "Blue"},
            {"code": "green", "text": "Green"},
        ],
    },
    "expected": "blue",
}
KNOWS = {
    "kind": "choice",
    "code": "about",
    "text": "What are the situations about?",
    "options": [{"code": "customs", "text": "Customs"}, {"code": "sums", "text": "Sums"}],
}
DESIGN = {
    "items_each": 3,
    "seed": 7,
    "balance": ["relation"],
    "item_template": {"item_fields": ["situation", {"field": "expectation", "label": "What is usual there"}]},
    "attention_checks": [CHECK],
    "minutes": 4,
    "contact": "team@example.org",
}
TEXTS = {
    "title": "Everyday customs",
    "consent": "We store **your answers**.",
    "instructions": "Read each situation.",
    "debrief": "This was about customs.",
}
CODES = {"completed": "DONE42", "failed_attention": "FAIL42", "no_consent": "NONE42"}


def content(index: int) -> dict[str, Any]:
    return {
        "situation": f"Situation {index}.",
        "expectation": f"People there do A{index}.",
        "option_culture": f"Do A{index}.",
        "option_personal": f"Do B{index}.",
        "relation": ("same", "close", "far")[index % 3],
    }


@pytest.fixture
def draft(project, make_dataset, make_instrument) -> Callable[..., Study]:
    """`draft(items=..., design={...}, ...)`: a study that is not open yet; what is given replaces the defaults."""

    def make(*, items: Callable[[int], dict[str, Any]] = content, n: int = 9, slug: str = "customs", **given) -> Study:
        return create_study(
            project=project,
            name="Customs",
            slug=slug,
            dataset=make_dataset(project, n=n, slug=f"{slug}-items", content=items),
            instrument=make_instrument(project, questions=given.pop("questions", QUESTIONS), name=slug),
            demographics=given.pop("demographics", DEMOGRAPHICS),
            texts=TEXTS | given.pop("texts", {}),
            design=DESIGN | given.pop("design", {}),
            completion_codes=given.pop("completion_codes", CODES),
            **given,
        )

    return make


@pytest.fixture
def study(draft) -> Study:
    return open_study(study=draft(), by=None)


@dataclass
class Participant:
    """A person with a browser without JavaScript, on the page in `page`."""

    study: Study
    pid: str = "5f0c1a2b3c4d5e6f7a8b9c0d"
    submission: str = "submission1"

    def __post_init__(self) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.response: Any = None

    def enter(self) -> Page:
        query = f"?PROLIFIC_PID={self.pid}&STUDY_ID=study1&SESSION_ID={self.submission}"
        return self.get(f"/s/{self.study.key}/{query}")

    def get(self, url: str) -> Page:
        self.response = self.client.get(url, follow=True)
        return self.page

    def send(self, answers: dict[str, Any], page: Page | None = None) -> Page:
        page = page or self.page
        form = {"asked": list(page.fields)} | answers
        self.response = self.client.post(page.action, form, follow=True)
        return self.page

    @property
    def html(self) -> str:
        return self.response.content.decode()

    @property
    def page(self) -> Page:
        return read_page(self.html)

    @property
    def session(self) -> Session:
        key = re.search(r"/s/[\w-]+/([\w-]+)/", self.page.action or self.response.redirect_chain[-1][0])
        return Session.objects.get(key=key.group(1))

    def right_answers(self) -> dict[str, Any]:
        """Answers that pass this page."""
        by_kind = {
            "consent": {"consent": "yes"},
            "demographics": {"country": "Brazil", "age_group": "older"},
            "item": {"personal": "preference", "norm": "culture", "importance": "4"},
            "attention": {"colour": "blue"},
        }
        return by_kind.get(self.page.screen, {})

    def go_to_next(self, answers: dict[str, Any]) -> Page:
        """The next page, after these answers and, where they say nothing, right ones; at first, the first page."""
        return self.send(self.right_answers() | answers) if self.response is not None else self.enter()

    def go_to(self, kind: str) -> Page:
        """Answer until a page of this kind (or, for "", the end) is shown."""
        if self.response is None:
            self.enter()
        for _ in range(30):
            if self.page.screen == kind:
                return self.page
            self.send(self.right_answers())
        raise AssertionError(f"no page of kind {kind!r}")


@pytest.fixture
def participant(study) -> Participant:
    return Participant(study)


@pytest.fixture
def platform() -> Iterator[PlatformServer]:
    cache.clear()
    with PlatformServer() as server:
        yield server


@pytest.fixture
def connected(study, platform, monkeypatch) -> Study:
    """The open study, connected to the server on loopback; nobody waits."""
    account = save_account(project=study.project, name="Lab", token=TOKEN, webhook_secret=SECRET)
    account.base_url = platform.base_url
    account.save()
    connect_study(study=study, account=account, platform_study_id=STUDY, signed_entry=False, by=None)
    monkeypatch.setattr(PlatformClient.__init__, "__kwdefaults__", {"wait": lambda seconds: None})
    return study
