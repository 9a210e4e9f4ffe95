from io import BytesIO

import pytest
from django.urls import reverse

from materials.content import ordered
from materials.fitting import missing_fields
from materials.importing import import_items
from materials.models import Dataset
from materials.questions import parse_questions
from materials.reading import read_items, read_json_items
from projects.models import Project

QUESTION = {"kind": "pairwise", "code": "p", "text": "?", "first_field": "a", "second_field": "0"}
PAIR = parse_questions([QUESTION]).questions


def imported(project: Project, text: str, name: str = "food.csv") -> Dataset:
    records = read_items(BytesIO(text.encode()), filename=name)
    return import_items(project=project, dataset_slug="food", records=records, source=name, by=None).dataset


def test_fields_keep_the_order_of_their_source(project: Project):
    imported(project, "id,zebra,text,a\nx,1,2,3\n")
    dataset = imported(project, '{"a": 1, "new": 2, "id": "y", "text": "t"}\n', "more.jsonl")
    assert dataset.field_order == ["id", "zebra", "text", "a", "new"]
    first = dataset.items.get(external_id="x")
    assert [field for field, _ in ordered(first.content, dataset.field_order)] == ["id", "zebra", "text", "a"]
    by_api = [{"external_id": "z", "content": {"last": 1, "id": "z"}}]
    import_items(project=project, dataset_slug="food", records=read_json_items(by_api), source="api", by=None)
    assert Dataset.objects.get().field_order == ["id", "zebra", "text", "a", "new", "last"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ID,zebra,a\nx,The zebra,An a\ny,Two,Three\n", ["zebra", "a"]),
        ("id,name,a\nx,x,An a\ny,other,Three\n", ["name", "a"]),
    ],
)
def test_the_table_shows_the_source_order_without_a_second_id(project: Project, viewer, client_as, text, columns):
    imported(project, text)
    page = client_as(viewer).get(reverse("dataset", kwargs={"slug": project.slug, "dataset": "food"}))
    assert page.context["columns"] == columns


def test_items_without_what_the_questions_show_are_found(project: Project, make_dataset):
    contents = [
        {"a": "One", "0": "Two", "place": ""},
        {"a": "One", "0": None, "place": "here"},
        {"a": " \n", "0": "Two"},
        {"0": "Two"},
    ]
    dataset = make_dataset(project, n=4, content=lambda i: contents[i])
    found = [(str(misfit.item), misfit.field) for misfit in missing_fields(dataset, PAIR, ["place", "a"])]
    assert found == [("scenarios-1", "0"), ("scenarios-2", "a"), ("scenarios-2", "place")]
    assert list(missing_fields(dataset, PAIR, ["place"], most_items=1)) == []
