import re

import pytest
from django.urls import reverse

from annotation.models import LabelProject
from annotation.services import LabelProjectError, change_settings, claim_next
from annotation.suggestions import models_answering, suggestions_for
from materials.models import Item
from responses.models import Respondent, SourceKind
from responses.services import Answer, get_condition, record_many
from responses.uncertainty import uncertainty
from tests.annotation.conftest import known, record


def test_the_models_latest_answer_is_suggested(make_label_project, model):
    label_project = make_label_project(n=3)
    items = record(label_project, model, {0: ["yes", "no"], 1: ["yes"]})
    assert suggestions_for(label_project, [item.pk for item in items]) == {}  # none was chosen
    change_settings(label_project=label_project, suggestions="shown", suggestions_of=model, by=None)
    assert suggestions_for(label_project, [items[0].pk, items[2].pk]) == {items[0].pk: {"plausible": "no"}}
    assert list(models_answering(label_project.instrument)) == [model]


def test_checks_from_another_dataset_have_suggestions_where_the_model_answered_and_the_page_names_the_others(
    make_label_project, model, annotator, researcher, client_as
):
    label_project = make_label_project(n=1)
    record(label_project, model, {0: ["yes"]})
    change_settings(label_project=label_project, suggestions="shown", suggestions_of=model, by=None)
    known(label_project, "training", 2)
    answered, _ = Item.objects.filter(dataset__slug="training").order_by("pk")
    said = Answer(
        respondent_id=model.pk,
        item_id=answered.pk,
        question="plausible",
        value="no",
        condition_id=get_condition(project=label_project.project, factors={}).pk,
    )
    record_many(
        project=label_project.project,
        instrument=label_project.instrument,
        source_kind=SourceKind.IMPORT,
        answers=[said],
    )
    place = claim_next(label_project, annotator)
    assert (place.item, place.suggested) == (answered, {"plausible": "no"})
    page = client_as(researcher).get(reverse("label_known", args=[label_project.project.slug, label_project.slug]))
    assert [item.external_id for item in page.context["lacking"]] == ["training-1"]
    assert "1 of these items shows no suggestion" in page.content.decode()


def test_a_model_that_did_not_answer_the_questions_cannot_be_chosen(make_label_project, model):
    label_project = make_label_project()
    with pytest.raises(LabelProjectError, match="has not answered"):
        change_settings(label_project=label_project, suggestions_of=model, by=None)
    with pytest.raises(LabelProjectError, match="Choose the model"):
        change_settings(label_project=label_project, suggestions="audited", suggestions_of=None, by=None)


@pytest.mark.parametrize(("demo", "marks"), [(True, "Demo model"), (False, "Model")])
@pytest.mark.parametrize("shown_as", ["shown", "audited"])
def test_annotators_see_that_a_suggestion_is_from_a_demo_model(
    make_label_project, model, annotator, client_as, demo, marks, shown_as
):
    Respondent.objects.filter(pk=model.pk).update(demo_model=demo)
    label_project = make_label_project(n=1)
    record(label_project, model, {0: ["yes"]})
    change_settings(label_project=label_project, suggestions=shown_as, suggestions_of=model, by=None)
    page = client_as(annotator).get(reverse("label_work", args=[label_project.project.slug, label_project.slug]))
    badges = set(re.findall(r'class="badge badge-[a-z-]+">([^<]+)<', page.content.decode()))
    assert badges == ({marks} if demo or shown_as == "shown" else set())


def test_uncertainty_is_the_entropy_of_repeated_answers(make_label_project, model):
    label_project = make_label_project(n=4)
    items = record(label_project, model, {0: ["yes", "yes"], 1: ["yes", "no"], 2: ["yes"]})
    assert uncertainty(model, label_project.instrument) == {items[0].pk: 0.0, items[1].pk: 1.0}


def test_work_begins_where_the_model_is_least_certain(make_label_project, model):
    first = make_label_project(n=3)
    with pytest.raises(LabelProjectError, match="choose the model"):
        _again(first, suggestions_of=None)
    items = record(first, model, {0: ["yes"]})
    with pytest.raises(LabelProjectError, match="Nothing says how certain"):
        _again(first, suggestions_of=model)
    record(first, model, {1: ["yes", "no"], 2: ["no", "no"]})
    again = _again(first, suggestions_of=model)
    order = again.assignments.order_by("rank").values_list("item", flat=True)
    assert list(order) == [items[1].pk, items[2].pk, items[0].pk]


def _again(label_project: LabelProject, **settings):
    from annotation.services import create_label_project

    return create_label_project(
        project=label_project.project,
        name="Again",
        dataset=label_project.dataset,
        instrument=label_project.instrument,
        by=None,
        order="model_uncertain",
        **settings,
    )
