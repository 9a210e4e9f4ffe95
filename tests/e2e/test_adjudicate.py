"""An adjudicator decides by keyboard alone."""

import re
from collections.abc import Callable

from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Decision
from annotation.services import claim_next, create_label_project, submit
from materials.models import Dataset, Instrument
from projects.models import Project, Role, User
from projects.services import set_member
from tests.annotation.conftest import CRITERIA

CODES = [criterion["code"] for criterion in CRITERIA]
NOTE = "h: 1 of 2 is right"  # keys that mean something outside a text


def test_a_disputed_item_is_decided_by_keyboard(
    page: Page,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    researcher: User,
) -> None:
    label_project = create_label_project(
        project=project,
        name="Validation",
        dataset=make_dataset(project, n=1),
        instrument=make_instrument(project, questions=CRITERIA, name="validation"),
        overlap=2,
        by=None,
    )
    for name, value in (("ann", "yes"), ("ben", "no")):
        user = User.objects.create_user(username=name)
        set_member(project=project, user=user, role=Role.ANNOTATOR, by=None)
        place = claim_next(label_project, user)
        assert place
        submit(place, user, dict.fromkeys(CODES, value))
    item = label_project.dataset.items.get()
    login(page, researcher)
    page.goto(reverse("label_adjudicate_item", args=[project.slug, label_project.slug, item.pk]))
    answers = page.locator("[data-adjudicate]")
    expect(answers).not_to_contain_text("ben")
    axe(page)
    page.keyboard.type("yny")
    page.keyboard.press("h")
    expect(answers).to_contain_text("ben")
    expect(page.locator("[data-answers]")).to_have_attribute("action", re.compile("names=on"))
    page.once("dialog", lambda question: question.dismiss())  # the browser asks before what was chosen is lost
    with page.expect_event("dialog"):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("?")
    expect(page.get_by_text("Write why you decide so")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.type(NOTE)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: f"/{item.pk}/" not in url)
    decided = {decision.question: (decision.value, decision.note, decision.by) for decision in Decision.objects.all()}
    wanted = dict(zip(CODES, ("yes", "no", "yes"), strict=True))
    assert decided == {code: (value, NOTE, researcher) for code, value in wanted.items()}
