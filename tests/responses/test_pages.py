import io
import json

import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from materials.models import Dataset, Item
from projects.models import AuditEvent, Project, Role
from projects.services import set_member
from responses.filters import question_choices
from responses.models import RespondentKind
from responses.overview import box
from responses.services import get_condition, get_respondent
from tests.responses.conftest import Scene


def url(name: str, scene: Scene, **kwargs: object) -> str:
    return reverse(name, kwargs={"slug": scene.project.slug, **kwargs})


@pytest.fixture
def many(scene: Scene) -> Scene:
    scene.record(*(scene.answer("yes" if n % 2 else "no", sample=n) for n in range(120)))
    scene.record(scene.answer(["a"], "why", respondent_id=scene.model.pk), scene.answer("=x", "note"))
    return scene


def samples(page) -> list[int]:
    return [row.response.sample for row in page.context["rows"] if row.response.question == "fits"]


def test_pages_go_on_where_the_last_one_ended_both_ways(many: Scene, viewer, client_as, django_assert_max_num_queries):
    client = client_as(viewer)
    with django_assert_max_num_queries(9):
        first = client.get(url("responses", many), {"question": "fits"})
    second = client.get(url("responses", many) + first.context["next_url"])
    third = client.get(url("responses", many) + second.context["next_url"])
    assert samples(first) + samples(second) + samples(third) == list(range(119, -1, -1))
    assert (first.context["previous_url"], third.context["next_url"]) == (None, None)
    back = client.get(url("responses", many) + third.context["previous_url"])
    assert samples(back) == samples(second)
    assert samples(client.get(url("responses", many) + back.context["previous_url"])) == samples(first)


def count(client, scene: Scene, **query: object) -> int:
    return client.get(url("responses", scene), query).context["count"]


def test_filters_say_which_answers_are_behind_a_number(many: Scene, viewer, client_as):
    many.record(many.answer("yes"), on_conflict="supersede")
    client = client_as(viewer)
    assert count(client, many) == 122
    assert count(client, many, superseded="on") == 123
    assert count(client, many, kind="model") == 1
    assert count(client, many, question="note") == 1
    assert count(client, many, dataset="scenarios") == 122
    assert count(client, many, item=many.item.pk) == 122
    assert count(client, many, respondent=many.model.pk) == 1
    assert count(client, many, instrument=many.instrument.pk + 1) == 0
    assert count(client, many, attr_country="Japan") == 121
    assert count(client, many, attr_country="Chad") == 0
    assert count(client, many, cond_prompt="plain v1") == 122
    assert count(client, many, attr_country__regex="J.*") == 122  # no name of an attribute, so no filter
    assert count(client, many, before="x" * 50) == 122


def test_questions_stand_once_under_the_title_of_their_instrument():
    fits, note, much = ({"code": code, "text": f"{code.title()}?"} for code in ("fits", "note", "much"))
    versions = [("b", "Old", [fits, note]), ("a", "Same", [much]), ("b", "New", [fits]), ("c", "Same", [note])]
    assert question_choices(versions) == [
        ("New", [("fits", "fits · Fits?")]),
        ("Same", [("much", "much · Much?")]),
        ("In several instruments", [("note", "note · Note?")]),
    ]


def test_sessions_and_simulated_people_can_be_chosen(many: Scene, viewer, client_as):
    """122 answers by an annotator without a session and a demo model, and one each by five participants."""
    given = [("completed", False), ("completed", True), ("unfinished", True), ("failed_attention", True), (None, False)]
    for number, (outcome, simulated) in enumerate(given):
        person = get_respondent(
            project=many.project,
            kind=RespondentKind.PARTICIPANT,
            key=f"session:{number}",
            attributes={"outcome": outcome} if outcome else {},
            simulated=simulated,
        )
        many.record(many.answer("yes", respondent_id=person.pk), many.answer("n", "note", respondent_id=person.pk))
    client = client_as(viewer)
    asked = {"question": "fits", "kind": "participant"}
    assert count(client, many, **asked) == 5
    assert count(client, many, **asked, sessions="counted") == 3
    assert count(client, many, **asked, sessions="completed") == 2
    assert count(client, many, **asked, sessions="unfinished") == 1
    assert count(client, many, **asked, attr_outcome="failed_attention") == 1
    assert count(client, many, **asked, attr_outcome="") == 1
    assert count(client, many, **asked, mark="simulated", sessions="counted") == 1
    assert count(client, many, question="fits", mark="human") == 122
    assert count(client, many, mark="demo-model") == 1
    assert count(client, many, mark="model") == 0
    assert count(client, many, kind="people", question="note", also="fits") == 6
    assert count(client, many, kind="people", question="fits", also="why") == 0
    assert count(client, many, persona="true") == 0
    assert count(client, many, kind="model", persona="false", instrument_name=many.instrument.name) == 1
    export = client.get(url("export_responses", many, format="jsonl"), asked | {"attr_outcome": ""})
    (row,) = [json.loads(line) for line in b"".join(export.streaming_content).splitlines()]
    assert row["respondent"] == "session:4"
    page = client.get(url("responses", many), asked | {"attr_outcome": ""})
    assert "without the attribute outcome" in page.content.decode()
    assert "attr_outcome=" in page.context["link_query"]


def test_factors_are_found_whatever_their_type(many: Scene, viewer, client_as):
    for sample, factors in enumerate(({"temperature": 0}, {"temperature": "0"}, {"temperature": 0.5})):
        condition = get_condition(project=many.project, factors=factors)
        many.record(many.answer("yes", sample=sample, condition_id=condition.pk))
    client = client_as(viewer)
    assert count(client, many, cond_temperature="0") == 2
    assert count(client, many, cond_temperature="0.5") == 1


def test_the_overview_counts_only_who_answered(scene: Scene):
    for number in range(3):
        bot = get_respondent(
            project=scene.project,
            kind=RespondentKind.PARTICIPANT,
            key=f"session:{number}",
            attributes={},
            simulated=True,
        )
    scene.record(scene.answer("yes", respondent_id=bot.pk))
    assert box(scene.project).state == "answers by 1 simulated person and 0 models or personas"
    scene.record(scene.answer("yes"), scene.answer("no", respondent_id=scene.model.pk))
    assert box(scene.project).state == "answers by 1 real and 1 simulated people and 1 model or persona"


@pytest.mark.parametrize("query", [{"kind": "robot"}, {"dataset": "none"}, {"item": "x"}, {"item": 2**70}])
def test_a_wrong_filter_is_said_and_exports_nothing(many: Scene, viewer, client_as, query: dict):
    client = client_as(viewer)
    assert client.get(url("responses", many), query).status_code == 422
    export = client.get(url("export_responses", many, format="csv"), query)
    assert export.status_code == 422
    assert next(iter(query)) in export.content.decode()


def test_downloads_hold_what_the_filters_show(many: Scene, viewer, client_as):
    client = client_as(viewer)
    response = client.get(url("export_responses", many, format="jsonl"), {"question": "why"})
    assert response.streaming
    (row,) = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]
    assert (row["value"], row["demo_model"]) == (["a"], True)
    response = client.get(url("export_responses", many, format="csv"), {"question": "note"})
    assert response["Content-Disposition"] == 'attachment; filename="everyday-norms-responses.csv"'
    assert ",'=x," in b"".join(response.streaming_content).decode()
    unknown = client.get(url("export_responses", many, format="pdf"))
    assert (unknown.status_code, unknown.content) == (404, b"There is no format pdf; take csv, jsonl, parquet, xlsx.\n")
    events = AuditEvent.objects.filter(action="responses exported", user=viewer).order_by("pk")
    assert [event.detail for event in events] == [
        {"format": "jsonl", "filters": "question=why"},
        {"format": "csv", "filters": "question=note"},
    ]


def test_the_panel_lists_the_columns_that_the_choices_give(many: Scene, viewer, client_as):
    client, page = client_as(viewer), url("download_responses", many)
    asked = {"question": "fits", "kind": "annotator"}
    shown = client.get(page, asked)
    assert [column.name for column in shown.context["columns"]][-1] == "source_id"
    assert shown.context["kept"] == list(asked.items())
    wide = client.get(page, asked | {"shape": "wide", "item_field": "text", "durations": "on", "before": "4"})
    names = [column.name for column in wide.context["columns"]]
    assert {"item_text", "q_fits", "seconds"} <= set(names)
    assert "Does it fit?" in wide.content.decode()
    file = client.get(url("export_responses", many, format="parquet"), asked | {"shape": "wide", "item_field": "text"})
    read = pq.read_table(io.BytesIO(b"".join(file.streaming_content)))
    assert read.num_rows == wide.context["count"] == 120
    book = client.get(url("codebook", many, format="json"), asked | {"shape": "wide"})
    assert "q_fits" in {row["variable"] for row in book.json()}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"shape": "long"}, "long is not a shape"),
        ({"item_field": "colour"}, "no field colour"),
        ({"shape": "wide", "superseded": "on"}, "one row an answer"),
        ({"question": "none"}, "not in this project"),
    ],
)
def test_wrong_choices_get_a_sentence_and_no_file(many: Scene, viewer, client_as, query: dict, words: str):
    client = client_as(viewer)
    addresses = [url("download_responses", many), url("export_responses", many, format="xlsx")]
    for address in (*addresses, url("codebook", many, format="csv")):
        answer = client.get(address, query)
        assert (answer.status_code, words in answer.content.decode()) == (422, True), address
    in_browser = client.get(addresses[1], query, headers={"Accept": "text/html"}, follow=True)
    assert (in_browser.status_code, words in in_browser.content.decode()) == (422, True)


def test_what_only_the_writing_finds_is_said_on_the_panel(scene: Scene, viewer, client_as, monkeypatch):
    scene.record(scene.answer("yes"), scene.answer("no", sample=1))
    monkeypatch.setattr("responses.workbook.MAX_ROWS", 1)
    file = url("export_responses", scene, format="xlsx")
    page = client_as(viewer).get(file, {"question": "fits"}, headers={"Accept": "text/html"}, follow=True)
    assert (page.status_code, "at most 1 rows" in page.content.decode()) == (200, True)
    assert page.context["kept"] == [("question", "fits")]


def test_badges_are_never_hidden(scene: Scene, viewer, client_as):
    bot = get_respondent(
        project=scene.project, kind=RespondentKind.PARTICIPANT, key="session:1", attributes={}, simulated=True
    )
    scene.record(scene.answer("yes", respondent_id=bot.pk), scene.answer("no", respondent_id=scene.model.pk))
    for page in (url("responses", scene), url("item", scene, pk=scene.item.pk)):
        text = client_as(viewer).get(page).content.decode()
        assert "Simulated" in text
        assert "Demo model" in text


def test_an_item_shows_what_everyone_answered(scene: Scene, viewer, client_as, django_assert_max_num_queries):
    for number in range(4):
        person = get_respondent(
            project=scene.project, kind=RespondentKind.ANNOTATOR, key=f"annotator:{number + 10}", attributes={}
        )
        scene.record(scene.answer("yes" if number else "no", respondent_id=person.pk))
        scene.record(scene.answer(["a", "b"][:number], "why", respondent_id=person.pk))
    scene.record(scene.answer("no", respondent_id=scene.model.pk), scene.answer("<b>", "note"))
    client = client_as(viewer)
    with django_assert_max_num_queries(8):
        page = client.get(url("item", scene, pk=scene.item.pk))
    fits, why, note = page.context["distributions"]
    assert [(column.title, column.n) for column in fits.columns] == [("Annotators", 4), ("Models", 1)]
    assert [(label, [cell.percent for cell in cells]) for label, cells in fits.rows] == [
        ("Yes", [75, 0]),
        ("No", [25, 100]),
    ]
    assert note.rows == []
    assert [(label, cells[0].n) for label, cells in why.rows] == [("Age", 3), ("Place", 2)]
    assert "&lt;b&gt;" in page.content.decode()


def test_an_item_shows_its_fields_in_the_order_of_the_source(scene: Scene, viewer, client_as):
    Item.objects.filter(pk=scene.item.pk).update(content={"a": "x", "bb": "y", "ccc": "z"})
    Dataset.objects.filter(pk=scene.dataset.pk).update(field_order=["ccc", "a", "bb"])
    page = client_as(viewer).get(url("item", scene, pk=scene.item.pk))
    assert [part.label for part in page.context["parts"]] == ["Ccc", "A", "Bb"]


def test_an_item_of_another_project_is_not_found(scene: Scene, outsider, client_as):

    other = Project.objects.create(name="Other", slug="other")
    set_member(project=other, user=outsider, role=Role.OWNER, by=None)
    address = reverse("item", kwargs={"slug": "other", "pk": scene.item.pk})
    assert client_as(outsider).get(address).status_code == 404
