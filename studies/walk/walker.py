"""Walks a study with simulated participants: every page over HTTP, every decision drawn by seed."""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from studies import bots
from studies.models import Study
from studies.simulation import simulation_header
from studies.walk.browser import Browser, WalkError
from studies.walk.forms import Page, PageField, read_page

__all__ = ["WalkError", "WalkSummary", "walk"]

MOST_PAGES = 2000
BEFORE_PLACE = ("consent", "platform_id", "demographics")  # screens, before items are dealt
COUNTRY = "country"
SOME_TEXT = "Because it suits the situation."
WORDS = {
    "completed": "completed",
    "failed_attention": "failed attention checks",
    "failed_comprehension": "failed the comprehension check",
    "no_consent": "gave no consent",
    "screened_out": "were screened out",
    "quota_full": "found the quota full",
    "dropped_out": "dropped out",
}


@dataclass(frozen=True)
class WalkSummary:
    """How the walk went: people by how they ended, requests sent, seconds it took."""

    people: int
    ends: Mapping[str, int]  # by the session's status; "dropped_out" for who left before the end
    requests: int
    seconds: float

    def __str__(self) -> str:
        ends = ", ".join(f"{self.ends[end]} {words}" for end, words in WORDS.items() if self.ends.get(end))
        pace = f"{self.requests} requests in {self.seconds:.1f} s ({self.requests / self.seconds:.0f} a second)"
        return f"{self.people} simulated people: {ends}; {pace}."


@dataclass(frozen=True)
class _Plan:
    """What the bots know of the study besides its pages: its options and the answer that passes the check."""

    study: Study
    base_url: str
    entry: str  # its path
    headers: Mapping[str, str]
    expected: Mapping[str, str]
    understood: Mapping[str, str | list[str]]
    labels: Mapping[str, Mapping[str, str]]
    numbers: Mapping[str, Sequence[int]]
    longest: Mapping[str, int]
    kinds: Mapping[str, str]
    pages: int


def walk(
    base_url: str,
    study_key: str,
    people: int,
    seed: int,
    *,
    drop_out: float = 0.0,
    refuse: float = 0.02,
    inattentive: float = 0.04,
    countries: Sequence[str] = (),
    concurrency: int = 8,
) -> WalkSummary:
    """Send `people` simulated participants through the open study with this key (or slug) at `base_url`.

    With the same seed once more it goes on where it was interrupted: nobody enters twice, who left has left.
    Shares are 0 to 1. They come in one after the other until they have a place, so that the same seed on a fresh study
    gives the same people the same items; then `concurrency` of them answer at a time. `countries` (codes or texts of
    the study's options) restricts where they come from. Raises WalkError when the server answers as it never should.
    """
    study = Study.objects.find(study_key)
    if study is None:
        raise WalkError(f"No study, or more than one project, has the key or slug {study_key}; give the study's key.")
    if people < 1 or concurrency < 1 or not all(0 <= share <= 1 for share in (drop_out, refuse, inattentive)):
        raise WalkError("Give at least one person, a concurrency of at least 1, and shares between 0 and 1.")
    plan = _plan(study, base_url)
    choices = _choices(plan, countries)
    rates = bots.Rates(drop_out=drop_out, refuse=refuse, inattentive=inattentive)
    drawn = [
        bots.draw_person(index, seed=seed, choices=choices, balanced=COUNTRY, rates=rates, pages=plan.pages)
        for index in range(people)
    ]
    started = time.monotonic()
    entered = [_come_in(plan, person) for person in drawn]
    with ThreadPoolExecutor(concurrency) as pool:
        walks = [pool.submit(_walk_one, plan, person, *start) for person, start in zip(drawn, entered, strict=True)]
        ends = [done.result() for done in walks]
    return WalkSummary(
        people=people,
        ends=Counter(end for end, _ in ends),
        requests=sum(requests for _, requests in ends),
        seconds=time.monotonic() - started,
    )


def _plan(study: Study, base_url: str) -> _Plan:
    design = study.parsed_design
    expected = {check.question.code: check.expected for check in design.attention_checks}
    understood = design.comprehension.expected if design.comprehension else {}
    questions = study.questions.values()
    for question in questions:
        if question.kind == "span" and question.required:
            raise WalkError(f"Simulated people cannot mark passages; make {question.code} optional.")
    return _Plan(
        study=study,
        base_url=base_url,
        entry=reverse("participant_entry", kwargs={"key": study.key}),
        headers=simulation_header(study),
        expected={code: str(value) for code, value in expected.items()},
        understood={code: _as_typed(value) for code, value in understood.items()},
        labels={
            question.code: {option.code: option.text for option in question.options}
            for question in study.demographic_questions
            if question.kind == "choice"
        },
        numbers={question.code: _whole_numbers(question) for question in questions if question.kind == "number"},
        kinds={question.code: question.kind for question in questions},
        longest={question.code: question.max_length for question in questions if question.kind == "text"},
        pages=study.page_count,
    )


def _as_typed(value: Any) -> str | list[str]:
    return [str(part) for part in value] if isinstance(value, list) else str(value)


def _whole_numbers(question: Any) -> range:
    """Up to eleven whole numbers that the question allows."""
    low = math.ceil(question.minimum if question.minimum is not None else min(0, question.maximum or 0))
    return range(low, math.floor(min(low + 10, question.maximum if question.maximum is not None else low + 10)) + 1)


def _choices(plan: _Plan, countries: Sequence[str]) -> dict[str, list[str]]:
    choices = {name: list(options) for name, options in plan.labels.items()}
    if countries:
        options = plan.labels.get(COUNTRY, {})
        wanted = [code for code, text in options.items() if code in countries or text in countries]
        if len(wanted) != len(set(countries)):
            raise WalkError(f"Choose countries among the study's: {', '.join(options.values()) or 'it asks for none'}.")
        choices[COUNTRY] = wanted
    return choices


def _enter(plan: _Plan, person: bots.Person) -> tuple[Browser, Page]:
    browser = Browser(plan.base_url)
    name = person.seed.replace("/", "-")
    ids = {"PROLIFIC_PID": f"bot-{name}", "STUDY_ID": "walk", "SESSION_ID": f"walk-{name}"}
    if plan.study.platform == Study.Platform.PROLIFIC:
        page = read_page(browser.get(f"{plan.entry}?{urlencode(ids)}", plan.headers))
    else:
        page = read_page(browser.post(plan.entry, {"token": ids["SESSION_ID"]}, plan.headers))
    return browser, page


def _come_in(plan: _Plan, person: bots.Person) -> tuple[Browser, Page]:
    """Up to the first page that belongs to the person's place, or as far as they come."""
    browser, page = _enter(plan, person)
    while page.screen in BEFORE_PLACE and not _leaves(person, page):
        page = _next(plan, person, browser, page)
    browser.close()  # servers drop connections that idle while the others come in; the next request opens a new one
    return browser, page


def _walk_one(plan: _Plan, person: bots.Person, browser: Browser, page: Page) -> tuple[str, int]:
    """How the person ended, and how many requests they sent."""
    try:
        for _ in range(MOST_PAGES):
            if not page.screen:
                return _ending(plan.study, page), browser.requests
            if _leaves(person, page):
                return "dropped_out", browser.requests
            page = _next(plan, person, browser, page)
    finally:
        browser.close()
    raise WalkError(f"A session of {plan.study} does not end.")


def _next(plan: _Plan, person: bots.Person, browser: Browser, page: Page) -> Page:
    following = read_page(browser.post(page.action, _answers(plan, person, page)))
    if (following.action, list(following.fields)) == (page.action, list(page.fields)):
        raise WalkError(f"{plan.study}: the answers of {person.seed} to {page.action} are not accepted.")
    return following


def _leaves(person: bots.Person, page: Page) -> bool:
    return person.pages_before_leaving is not None and _pages_done(page) >= person.pages_before_leaving


def _pages_done(page: Page) -> int:
    """How many pages the person has answered by now, in this walk and in earlier ones that were interrupted."""
    return int(page.action.rstrip("/").rpartition("/")[2])


def _ending(study: Study, page: Page) -> str:
    if not page.outcome:
        raise WalkError(f"{study}: a simulated participant is at the page {page.heading!r}; is the study open?")
    return page.outcome


def _answers(plan: _Plan, person: bots.Person, page: Page) -> dict[str, str | list[str]]:
    if page.screen == "consent":
        return {"consent": "no" if person.refuses else "yes"}
    if page.screen == "platform_id":
        return {"asked": list(page.fields), "platform_id": "yes"}
    if page.screen == "comprehension":
        return {"asked": list(page.fields), **plan.understood}
    asked = dict.fromkeys(name.partition(":")[0] for name in page.fields)
    answers: dict[str, str | list[str]] = {"asked": list(asked)}
    for name, field in page.fields.items():
        value = "" if ":" in name else _answer(plan, person, page, field)
        if value:
            answers[name] = [value] if field.multiple else value
    for question in asked:
        if plan.kinds.get(question) in ("rank", "best_worst"):
            answers |= _places(plan, person, page, question)
    return answers


def _places(plan: _Plan, person: bots.Person, page: Page, question: str) -> dict[str, str]:
    """Places for the options that the person likes best, or the best and the worst of them."""
    start = f"{question}:"
    parts = {name.removeprefix(start): field for name, field in page.fields.items() if name.startswith(start)}
    ranking = plan.kinds[question] == "rank"
    codes = list(parts) if ranking else parts["best"].values
    country = person.attributes.get(COUNTRY, "")
    liked = bots.arrange(person, question=question, item=page.scenario, codes=codes, country=country)
    if not ranking:
        return {f"{start}best": liked[0], f"{start}worst": liked[-1]}
    places = parts[liked[0]].values
    return {f"{start}{code}": place for code, place in zip(liked, places, strict=False)}


def _answer(plan: _Plan, person: bots.Person, page: Page, field: PageField) -> str:
    name = field.name
    if page.screen == "demographics" and name in person.attributes:
        return person.attributes[name]
    if page.screen == "attention" and name in plan.expected:
        possible = field.values or map(str, plan.numbers.get(name, ["no"]))
        wrong = [value for value in possible if value != plan.expected[name]]
        return plan.expected[name] if person.attentive or not wrong else wrong[0]
    if plan.kinds.get(name) == "span" or (not field.required and bots.skips(person, question=name, item=page.scenario)):
        return ""
    country = person.attributes.get(COUNTRY, "")
    points = plan.numbers.get(name, [])
    if field.values and all(value.lstrip("-").isdecimal() for value in field.values):
        points = [int(value) for value in field.values]
    if points:
        return str(bots.rate(person, question=name, item=page.scenario, points=points, country=country))
    if not field.values:
        return SOME_TEXT[: plan.longest.get(name)]
    return bots.choose(person, question=name, item=page.scenario, codes=field.values, country=country)
