import pytest
from django.urls import reverse

from annotation.models import Assignment, LabelProject
from annotation.services import (
    GuidelinesError,
    LabelProjectError,
    add_items,
    claim_next,
    create_label_project,
    publish_guidelines,
    raise_overlap,
)
from materials.models import Dataset, Item
from tests.annotation.conftest import PACT


def places(label_project):
    """Item and place in the order in which free places are handed out."""
    free = Assignment.objects.filter(label_project=label_project, status="free").order_by("rank", "place")
    return list(free.values_list("item__position", "place"))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fixed", [(0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]),
        ("least_labelled", None),
    ],
)
def test_raising_the_overlap_adds_places_where_the_order_has_them(make_label_project, annotator, order, expected):
    label_project = make_label_project(n=3, order=order)
    claim_next(label_project, annotator)
    assert raise_overlap(label_project=label_project, overlap=2, by=None) == 3
    found = places(label_project)
    if order == "least_labelled":
        assert [place for _, place in found] == [1, 1, 2, 2, 2]
    else:
        assert found == expected
    assert raise_overlap(label_project=label_project, overlap=2, by=None) == 0
    with pytest.raises(LabelProjectError, match="raised but not lowered"):
        raise_overlap(label_project=label_project, overlap=1, by=None)


def test_a_place_that_was_left_out_does_not_count_for_the_overlap(make_label_project, annotator):
    label_project = make_label_project(n=1)
    held = claim_next(label_project, annotator)
    Assignment.objects.filter(pk=held.pk).update(status="invalid", lease_until=None)
    assert raise_overlap(label_project=label_project, overlap=2, by=None) == 2
    assert [place for _, place in places(label_project)] == [2, 3]


def test_items_that_come_later_get_places_behind_the_others(make_label_project):
    label_project = make_label_project(n=2, overlap=2, calibration_size=1, calibration_overlap=3)
    assert add_items(label_project=label_project, by=None) == 0
    for n in (2, 3):
        Item.objects.create(
            dataset=label_project.dataset, external_id=f"late-{n}", content={}, content_hash="0" * 64, position=n
        )
    assert add_items(label_project=label_project, by=None) == 2
    assert places(label_project)[-4:] == [(2, 1), (2, 2), (3, 1), (3, 2)]
    assert add_items(label_project=label_project, by=None) == 0


def test_guidelines_get_a_version_for_each_change(make_label_project, researcher):
    label_project = make_label_project(guidelines="Read closely.")
    example = {"item": "scenarios-1", "answers": {"clear": "no"}, "why": "Nobody acts."}
    changed = publish_guidelines(label_project=label_project, text="Read closely.", examples=[example], by=researcher)
    again = publish_guidelines(label_project=label_project, text="Read closely.", examples=[example], by=researcher)
    assert (changed.version, again.pk, changed.examples) == (2, changed.pk, [example])


def test_the_item_of_an_example_is_not_labelled_while_it_is_one_unless_somebody_has_begun_it(
    make_label_project, annotator
):
    label_project = make_label_project(n=3, overlap=2)
    held = claim_next(label_project, annotator).item.external_id
    examples = [{"item": item, "answers": {"clear": "no"}, "why": ""} for item in (held, "scenarios-1")]
    publish_guidelines(label_project=label_project, text="", examples=examples, by=None)
    assert {item for item, _ in places(label_project)} == {0, 2}
    assert add_items(label_project=label_project, by=None) == 0
    for _ in range(2):
        publish_guidelines(label_project=label_project, text="", examples=[], by=None)
        assert places(label_project) == [(0, 2), (2, 1), (2, 2), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("example", "sentence"),
    [
        ({"item": "none", "answers": {}}, "has no item none"),
        ({"item": "scenarios-1", "answers": {"tone": "x"}}, "has no question tone"),
        (
            {"item": "scenarios-1", "answers": {"clear": "maybe"}},
            "Example scenarios-1: clear: 'maybe' is not an option",
        ),
    ],
)
def test_an_example_must_fit(make_label_project, example, sentence):
    with pytest.raises(GuidelinesError, match=sentence):
        publish_guidelines(label_project=make_label_project(), text="", examples=[example], by=None)


def test_setting_up_by_the_form_and_opening(project, researcher, client_as, make_dataset, make_instrument):
    client = client_as(researcher)
    data = {
        "name": "First round",
        "dataset": make_dataset(project, content=lambda i: {"text": "Tea?", "other": i}).pk,
        "instrument": make_instrument(project).pk,
        "overlap": 2,
        "order": "random",
        "seed": 5,
        "calibration_size": 2,
        "lease_minutes": 30,
        "break_every": 50,
        "gold_every": 0,
        "pass_mark": "80",
        "suggestions": "none",
        "fields_shown": "text: Scenario\nothr",
    }
    new = reverse("label_project_new", args=[project.slug])
    refused = client.post(new, data)
    assert refused.status_code == 422
    assert "each calibration item" in refused.content.decode()
    for wrong in ({"overlap": 0}, {"overlap": 2_000_000_000}, {"lease_minutes": 0}, {"calibration_overlap": 0}):
        refused = client.post(new, data | {"calibration_overlap": 4} | wrong)
        assert refused.status_code == 422
        assert list(refused.context["form"].errors)[:1] == list(wrong)
    refused = client.post(new, data | {"calibration_overlap": 4})
    assert refused.status_code == 422
    assert refused.context["form"].errors["fields_shown"] == [
        "No item of Scenarios has a field 'othr'; there are other, text."
    ]
    data["fields_shown"] = "text: Scenario (Markdown)\nother"
    preview = client.post(new, data | {"name": "", "preview": "1"}, headers={"HX-Request": "true"})
    assert "Tea?" in preview.content.decode()
    assert "<code>other</code>" in preview.content.decode()
    assert "<html" not in preview.content.decode()
    assert not LabelProject.objects.exists()
    assert client.post(new, data | {"calibration_overlap": 4, "closed": "1", "members_only": "on"}).status_code == 302
    made = LabelProject.objects.get()
    assert not made.is_open
    steps = client.get(reverse("label_project", args=[project.slug, made.slug])).context["steps"]
    assert [step.title for step in steps if step.lacking] == ["People", "Opening"]
    assert made.item_fields == [{"field": "text", "label": "Scenario", "format": "markdown"}, "other"]
    assert made.pass_mark == 0.8
    assert made.assignments.count() == 3 * 2 + 2 * 4
    assert client.post(new, data | {"calibration_overlap": 4}).status_code == 422  # the name is taken
    client.post(reverse("label_status", args=[project.slug, made.slug]), {"status": "open"})
    made.refresh_from_db()
    assert made.is_open
    assert project.audit_events.filter(action="labelling open", user=researcher).exists()


def test_items_must_have_the_texts_to_choose(make_label_project):
    options = [{"code": "l", "text_field": "left"}, {"code": "n", "text": "None"}]
    question = {"kind": "choice", "code": "which", "text": "Which?", "options": options}
    with pytest.raises(LabelProjectError, match=r"Item \S+ has no field left, from which a question takes a text"):
        make_label_project(questions=[question], content=lambda i: {"left": "Tea"} if i else {"right": "Tea"})
    assert not LabelProject.objects.exists()


def test_the_set_up_changes_what_may_change(make_label_project, researcher, client_as):
    label_project = make_label_project(n=1, pass_mark=0.8)
    Item.objects.create(
        dataset=label_project.dataset, external_id="late", content={}, content_hash="0" * 64, position=1
    )
    client = client_as(researcher)
    url = reverse("label_setup", args=[label_project.project.slug, label_project.slug])
    page = client.get(url).content.decode()
    assert "1 item of Scenarios is not given to anybody" in page
    assert 'value="80"' in page
    data = {"cap": 9, "break_every": 5, "lease_minutes": 30, "gold_every": 3, "suggestions": "none", "pass_mark": ""}
    refused = client.post(url, data | {"suggestions": "shown"})
    assert refused.context["form"].errors == {"suggestions_of": ["Choose the model whose answers are suggested."]}
    assert client.post(url, data).status_code == 302
    label_project.refresh_from_db()
    assert (label_project.cap, label_project.gold_every, label_project.pass_mark) == (9, 3, None)
    event = label_project.project.audit_events.get(action="labelling changed", user=researcher)
    assert event.detail == {
        "label_project": label_project.slug,
        "cap": 9,
        "break_every": 5,
        "gold_every": 3,
        "pass_mark": None,
    }
    for name, values in (("label_items", {}), ("label_overlap", {"overlap": 2})):
        client.post(reverse(name, args=[label_project.project.slug, label_project.slug]), values)
    assert places(label_project) == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_an_item_answered_as_it_should_be_is_an_example_or_known(make_label_project, researcher, client_as):
    label_project = make_label_project(n=2, guidelines="Read closely.")
    slugs = [label_project.project.slug, label_project.slug]
    first, second = label_project.dataset.items.order_by("position")
    client = client_as(researcher)
    found = client.get(
        reverse("label_known_item", args=slugs),
        {"dataset": label_project.dataset_id, "item": first.external_id, "purpose": "example"},
    )
    right = reverse("label_right", args=[*slugs, first.pk])
    assert found.url == f"{right}?purpose=example"
    assert client.get(found.url).context["form"]["purpose"].value() == "example"
    refused = client.post(right, {"purpose": "example"})
    assert "Give the right answer of at least one question." in refused.content.decode()
    client.post(right, {"purpose": "example", "answer_clear": "no", "why": "Nobody acts."})
    assert label_project.guidelines.first().examples == [
        {"item": first.external_id, "answers": {"clear": "no"}, "why": "Nobody acts."}
    ]
    page = client.get(reverse("label_guidelines_versions", args=slugs)).content.decode()
    assert "Nobody acts." in page
    assert "Version 2" in page
    table = {"text": "| Sign | Means |\n|---|---|\n| ! | urgent |", "preview": "1"}
    assert "<td>urgent</td>" in client.post(reverse("label_guidelines_publish", args=slugs), table).content.decode()
    assert label_project.guidelines.first().version == 2  # a preview is not published
    client.post(reverse("label_example_remove", args=[*slugs, 1]))
    assert (label_project.guidelines.first().version, label_project.guidelines.first().examples) == (3, [])
    client.post(reverse("label_right", args=[*slugs, second.pk]), {"purpose": "gold", "answer_plausible": "yes"})
    known = label_project.known_answers.get()
    assert (known.item, known.purpose, known.answers) == (second, "gold", {"plausible": ["yes"]})


def test_examples_are_answered_in_the_order_of_the_questions_and_what_is_left_empty_is_not_right(
    make_label_project, annotator, researcher, client_as
):
    options = [{"code": code, "text": f"Tone {code}"} for code in ("warm", "curt")]
    questions = [
        {"kind": "choice", "code": "tone", "text": "Which tone?", "options": options},
        {"kind": "multi", "code": "tones", "text": "Which others?", "options": options, "required": False},
        {"kind": "scale", "code": "fit", "text": "How fitting?"},
    ]
    label_project = make_label_project(n=2, questions=questions)
    slugs = [label_project.project.slug, label_project.slug]
    item = label_project.dataset.items.first()
    client = client_as(researcher)
    filled = {"purpose": "example", "answer_tone": "curt", "answer_fit": "4"}
    client.post(reverse("label_right", args=[*slugs, item.pk]), filled)
    assert label_project.guidelines.get().examples[0]["answers"] == {"tone": "curt", "fit": 4}
    for reader, name in ((researcher, "label_guidelines_versions"), (annotator, "label_guidelines")):
        page = client_as(reader).get(reverse(name, args=slugs)).content.decode()
        assert 0 < page.index("Which tone?") < page.index("How fitting?")


def test_without_a_choice_all_fields_are_shown_but_those_that_repeat_the_id(project, make_instrument):
    dataset = Dataset.objects.create(project=project, name="d", slug="d", field_order=["number", "text", "a"])
    for number in ("1", "2"):
        content = {"a": "x", "text": "A story", "number": number}
        Item.objects.create(dataset=dataset, external_id=number, content=content, content_hash=number, position=1)
    made = create_label_project(
        project=project, name="L", dataset=dataset, instrument=make_instrument(project, questions=PACT), by=None
    )
    assert made.item_fields == ["text", "a"]
