"""Asking for a report: what can be chosen, what is chosen already, and what is said of what cannot be used."""

from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.test import Client

from evaluation.forms_alignment import AlignmentForm
from evaluation.forms_behaviour import BehaviourForm
from evaluation.material import answered_materials
from evaluation.models import Report
from evaluation.selection import columns
from materials.models import Dataset, Instrument
from projects.models import User
from responses.models import RespondentKind
from responses.services import get_respondent
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db
ClientAs = Callable[[User | None], Client]

GIVEN = {"title": "Wave 1", "resamples": "100", "seed": "3", "min_n": "5"}
CHOSEN = {"questions": ["personal", "norm"], "option": "culture", "model_rates": "answers"}
PEOPLE = {"people": "simulated", "sessions": "completed"}
WHOLE = GIVEN | CHOSEN | PEOPLE


@pytest.fixture
def asking(client_as: ClientAs, researcher: User, answered: Paired) -> Callable[..., Any]:
    """`asking("alignment", {...})` posts the form, `asking("alignment")` gets it; `material` goes into the address.
    Two models answered, tiny and other."""
    answered.record([(answered.model("other"), 0, "norm", "culture")], prompt="plain v1", temperature=0)
    client, page = client_as(researcher), f"/p/{answered.project.slug}/reports/new/"

    def ask(kind: str, given: dict[str, Any] | None = None, *, material: str = "") -> Any:
        address = f"{page}?kind={kind}{f'&material={material}' if material else ''}"
        return client.get(address) if given is None else client.post(address, given)

    return ask


def errors(answer: Any) -> list[str]:
    assert answer.status_code == 422
    return [str(error) for field in answer.context["form"].errors.values() for error in field]


@pytest.fixture
def judged_later(
    answered: Paired, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]
) -> Paired:
    """Newer answers of an annotator and no model to another instrument about other items; an item without answers."""
    options = [{"code": code, "text": code} for code in ("fits", "fails")]
    questions = [
        {"kind": "choice", "code": "verdict", "text": "Does it fit?", "options": options},
        {"kind": "text", "code": "why", "text": "Why?"},
    ]
    make_dataset(answered.project, n=1, slug="unanswered")
    later = replace(
        answered,
        dataset=make_dataset(answered.project, n=2, slug="drafts", content=lambda i: {"draft": f"D{i}"}),
        instrument=make_instrument(answered.project, questions=questions, name="verdicts"),
    )
    who = get_respondent(project=later.project, kind=RespondentKind.ANNOTATOR, key="annotator:1", attributes={})
    later.record([(who, 1, "verdict", "fits")])
    return later


def test_materials_are_what_was_answered_the_newest_first(judged_later: Paired):
    later, first = answered_materials(judged_later.project)
    assert (later.code, later.kinds, later.models) == ("drafts/verdicts", {"annotator"}, ())
    assert (first.code, first.kinds, first.models) == ("scenarios/paired", {"participant", "model"}, ("tiny",))
    assert str(first) == "Scenarios · Paired (models, participants)"


def test_the_form_offers_what_fits_and_has_chosen_the_newest_with_people_and_models(
    asking: Callable[..., Any], judged_later: Paired
):
    page = asking("alignment")
    assert [material.code for material in page.context["materials"]] == ["drafts/verdicts", "scenarios/paired"]
    assert page.context["material"].code == "scenarios/paired"
    assert [code for code, _ in page.context["form"].fields["questions"].choices] == ["personal", "norm"]
    assert page.context["form"].fields["questions"].initial == ["personal", "norm"]
    other = asking("alignment", material="drafts/verdicts").context["form"]
    assert other.fields["questions"].choices == [("verdict", "verdict: Does it fit?")]
    assert (other.fields["option"].initial, other.fields["questions"].initial) == ("fits", ["verdict"])
    assert "kinds" not in other.fields  # only annotators answered, and they have no sessions
    assert "sessions" not in other.fields
    behaviour = asking("behaviour").context
    assert [material.code for material in behaviour["materials"]] == ["scenarios/paired"]
    empty = asking("judging")
    assert empty.status_code == 200
    assert "needs answers of people to a question that compares two responses" in empty.content.decode()


def test_a_report_is_asked_for_by_form(asking: Callable[..., Any], researcher: User):
    form = asking("alignment").content.decode()
    assert "Completed sessions, with the attention check passed" in form
    assert errors(asking("alignment", {**WHOLE, "people": ""})) == ["This field is required."]
    made = asking("alignment", {**WHOLE, "material": "scenarios/paired"})
    report = Report.objects.get()
    assert made.headers["Location"].endswith(f"/reports/{report.pk}/")
    asked = report.parameters
    assert (asked["dataset"], asked["instrument"], asked["kinds"]) == ("scenarios", "paired", ["participant"])
    assert (asked["people"], asked["seed"], report.created_by) == ("simulated", 3, researcher)


@pytest.mark.parametrize("given", [None, WHOLE])
@pytest.mark.parametrize("material", ["scenarios/other", "%00", "x"])
def test_what_nobody_answered_is_not_reported_on(asking: Callable[..., Any], given: Any, material: str):
    answer = asking("alignment", given, material=material)
    assert answer.status_code == 422
    assert "Nobody answered these questions about these items" in answer.content.decode()
    assert not Report.objects.exists()


def test_a_report_over_no_answers_is_refused(answered: Paired, asking: Callable[..., Any]):
    answered.record([(answered.person("left", outcome="unfinished", simulated=False), 0, "norm", "culture")])
    real = WHOLE | {"questions": ["norm"], "people": "real"}
    (sentence,) = errors(asking("alignment", real))
    assert "in a completed session: choose other people" in sentence
    assert not Report.objects.exists()
    assert asking("alignment", real | {"sessions": "all"}).status_code == 302


PLAN = WHOLE | {"items_each": "5", "calls_each": "1", "width": "0.1", "effect": "0.1", "simulations": "100"}
REPLACE = GIVEN | PEOPLE | {"question": "norm", "epsilon": "0.2", "min_items": "30"}
BEHAVIOUR = GIVEN | {"questions": ["norm"], "culture": "culture", "preference": "preference"}
WRONG = [
    ("alignment", WHOLE | {"questions": ["none"]}, "Select a valid choice. none is not one of the available choices."),
    ("alignment", WHOLE | {"questions": []}, "This field is required."),
    ("alignment", WHOLE | {"option": "other"}, "Select a valid choice"),
    ("alignment", WHOLE | {"resamples": "99"}, "greater than or equal to 100"),
    ("alignment", WHOLE | {"seed": "-1"}, "greater than or equal to 0"),
    ("alignment", WHOLE | {"min_n": "many"}, "Enter a whole number."),
    ("alignment", WHOLE | {"title": " "}, "This field is required."),
    ("alignment", WHOLE | {"title": "a\x00b"}, "Null characters are not allowed."),
    ("alignment", WHOLE | {"title": 201 * "a"}, "at most 200 characters"),
    ("alignment", WHOLE | {"sessions": "most"}, "Select a valid choice"),
    ("alignment", WHOLE | {"model_rates": "probabilities"}, "came with log probabilities"),
    ("planning", PLAN | {"items_each": "0"}, "greater than or equal to 1"),
    ("planning", PLAN | {"width": "nan"}, "Enter a number."),
    ("replacement", REPLACE | {"epsilon": "0.6"}, "less than or equal to 0.5"),
    ("behaviour", BEHAVIOUR | {"preference": "culture"}, "two different options"),
    ("behaviour", BEHAVIOUR | {"factors": "prompt"}, "starts with cond_ or attr_"),
    ("behaviour", BEHAVIOUR | {"factors": "cond_none"}, "There is no column cond_none; name one of"),
    ("behaviour", BEHAVIOUR | {"factors": "cond_prompt\ncond_prompt: plain v1"}, "twice"),
    ("behaviour", BEHAVIOUR | {"base_instruct": "tiny"}, "Write each pair as base | instruct"),
    ("behaviour", BEHAVIOUR | {"base_instruct": "tiny | huge"}, "No model named huge answered"),
    ("behaviour", BEHAVIOUR | {"maps": "item_a | item_b | item_c"}, "one field or two"),
    ("behaviour", BEHAVIOUR | {"maps": "a"}, "starts with item_"),
    ("behaviour", BEHAVIOUR | {"contrasts": "item_text: a"}, "one level | the other"),
    ("behaviour", BEHAVIOUR | {"contrasts": "text: a | b"}, "starts with cond_ or attr_ or item_"),
    ("behaviour", BEHAVIOUR | {"rules": "health:"}, "with its keywords"),
    ("behaviour", BEHAVIOUR | {"deviance": "|"}, "starts with cond_ or attr_ or item_"),
    ("behaviour", BEHAVIOUR | {"rules": "health: mask"}, "Choose the field whose text the rules read"),
    ("behaviour", BEHAVIOUR | {"deviance": "model"}, "starts with cond_ or attr_ or item_"),
]


def test_each_fault_gets_one_sentence_and_nothing_typed_is_lost(asking: Callable[..., Any]):
    said = {(kind, expected): errors(asking(kind, given)) for kind, given, expected in WRONG}
    wrong = {key: found for key, found in said.items() if len(found) != 1 or key[1] not in found[0]}
    assert wrong == {}
    assert not Report.objects.exists()
    page = unescape(asking("behaviour", BEHAVIOUR | {"title": "Mine", "factors": "prompt: <a>"}).content.decode())
    assert 'value="Mine"' in page
    assert "prompt: <a>" in page


def test_faults_behind_the_fold_open_it(asking: Callable[..., Any]):
    assert '<details class="disclosure">' in asking("alignment").content.decode()
    assert '<details class="disclosure" open>' in asking("alignment", WHOLE | {"seed": ""}).content.decode()


def test_columns_are_those_of_models_and_of_the_items_asked_about(judged_later: Paired, answered: Paired):
    answered.record([(answered.person("a", age_group="young"), 0, "norm", "culture")], relation="same")
    found = columns(answered.project, answered.dataset)
    assert found["item"] == ["item_text"]
    assert found["cond"] == ["cond_prompt", "cond_temperature"]  # not the order and relation that people saw
    assert found["attr"] == ["attr_country", "attr_endpoint", "attr_model", "attr_persona"]


def test_choosing_costs_the_same_for_any_number_of_items_and_answers(
    answered: Paired, django_assert_num_queries: Any, make_dataset: Callable[..., Dataset]
):
    for number in range(3):
        other = replace(answered, dataset=make_dataset(answered.project, n=30, slug=f"more-{number}"))
        other.record([(other.model("tiny"), item, "norm", "culture") for item in range(30)])
    with django_assert_num_queries(6):
        (*_, material) = answered_materials(answered.project)
    with django_assert_num_queries(3):
        BehaviourForm(material=material)
    with django_assert_num_queries(0):
        AlignmentForm(material=material)
