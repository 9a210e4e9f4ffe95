"""Every page of the permission table that a researcher, an owner or an annotator can open, filled with the demo's data:
no barrier in light and dark, nothing wider than a phone, no error in the console."""

from collections.abc import Callable, Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from projects.models import User
from tests.e2e.filled import FilledWorld, fill
from tests.permissions import ROWS, Row, no_kwargs

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
PARTICIPANTS = "participant_"  # tests/e2e/test_participant.py walks these


@pytest.fixture
def world(live_server: LiveServer) -> FilledWorld:
    return fill(live_server.url)


def rows_for(role: str) -> Iterator[tuple[str, Row]]:
    """Each address once: the owner opens what the researcher may not, the annotator what is of a project."""
    for key, row in ROWS.items():
        if row.method != "get" or row.api or key.startswith(PARTICIPANTS) or getattr(row, role) != 200:
            continue
        news = {
            "researcher": True,
            "owner": row.researcher != 200,
            "annotator": row.kwargs is not no_kwargs,
        }
        if news[role]:
            yield key, row


def test_every_page_is_free_of_barriers_and_fits_a_phone(
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    world: FilledWorld,
) -> None:
    faults, seen = [], []
    for role in ("annotator", "researcher", "owner"):
        page = new_page(viewport=DESK, color_scheme="light", reduced_motion="reduce")
        login(page, world.users[role])
        for key, row in rows_for(role):
            address = reverse(key, kwargs=row.kwargs(world)) + row.query
            if is_page(page, address):
                seen.append(key)
                faults += [f"{key} as {role}: {fault}" for fault in look(page, address, axe)]
    print(len(seen), "pages:", *seen)
    assert {"report", "job", "study", "label_work", "item", "members"} <= set(seen)
    assert not faults, "\n".join(faults)


def is_page(page: Page, address: str) -> bool:
    """Whether the address answers with a whole page, not with a download or a part of a page."""
    answer = page.request.get(address)
    assert answer.status == 200, f"{address} answers {answer.status}"
    if "attachment" in answer.headers.get("content-disposition", ""):
        return False
    return answer.headers["content-type"].startswith("text/html") and answer.text().lstrip()[:9].lower() == "<!doctype"


def look(page: Page, address: str, axe: Callable[[Page], None]) -> Iterator[str]:
    """What is wrong with the page: at a desk in light, on a phone in dark."""
    page.goto(address, wait_until="networkidle" if "/reports/" in address else "load")
    for viewport, scheme in ((DESK, "light"), (PHONE, "dark")):
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            yield f"wider than {viewport['width']} px ({widest(page)})"
        try:
            axe(page)
        except AssertionError as violations:
            yield f"{scheme}: {violations}"


def widest(page: Page) -> str:
    """The innermost element that reaches furthest to the right."""
    return page.evaluate(
        "[...document.querySelectorAll('main *, header *, nav *')].map((e) => [e.getBoundingClientRect().right, e])"
        ".reduce((a, b) => (b[0] >= a[0] ? b : a))[1].outerHTML.slice(0, 120)"
    )
