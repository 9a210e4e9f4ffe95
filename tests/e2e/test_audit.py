"""What a model said is judged by keyboard: right or wrong, the correct answer where it is wrong, and a note."""

from collections.abc import Callable

from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from annotation.services import create_label_project
from materials.models import Dataset, Instrument
from projects.models import Project, User
from responses.models import RespondentKind, Response, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many
from tests.annotation.conftest import PACT


def test_a_models_answers_are_audited_by_keyboard(
    page: Page,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    annotator: User,
) -> None:
    dataset, instrument = make_dataset(project, n=2), make_instrument(project, questions=PACT, name="validation")
    model = get_respondent(project=project, kind=RespondentKind.MODEL, key="model:1:none", attributes={"model": "tiny"})
    condition = get_condition(project=project, factors={})
    said = [
        Answer(respondent_id=model.pk, item_id=item.pk, question=code, value="yes", condition_id=condition.pk)
        for item in dataset.items.all()
        for code in ("plausible", "neutral")
    ]
    record_many(project=project, instrument=instrument, source_kind=SourceKind.CALL, answers=said)
    label_project = create_label_project(
        project=project,
        name="Audit",
        dataset=dataset,
        instrument=instrument,
        order="fixed",
        suggestions="audited",
        suggestions_of=model,
        by=None,
    )
    login(page, annotator)
    page.goto(reverse("label_work", args=[project.slug, label_project.slug]))
    expect(page.get_by_text("The model says: Yes.")).to_have_count(2)
    page.keyboard.type("rnw")  # plausible: right; clear: no; neutral: wrong, which is no
    axe(page)
    page.keyboard.type("t")
    page.keyboard.type("it takes sides")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".item")).to_contain_text("Scenario 1")
    place = Assignment.objects.get(status="submitted")
    given = Response.objects.filter(source_id=place.pk, source_kind=SourceKind.ASSIGNMENT)
    assert {answer.question: (answer.value, answer.condition.factors) for answer in given} == {
        "plausible": ("yes", {"suggestion": "audited"}),
        "clear": ("no", {}),
        "neutral": ("no", {"suggestion": "audited"}),
        "note": ("it takes sides", {}),
    }
