from django.urls import reverse

from materials.models import Dataset
from projects.models import Project


def url(name: str, project: Project, **kwargs: object) -> str:
    return reverse(name, kwargs={"slug": project.slug, **kwargs})


def test_pages_cost_the_same_with_many_items(
    project: Project, viewer, client_as, make_dataset, django_assert_max_num_queries
):
    make_dataset(project, n=400)
    make_dataset(project, n=3, slug="few")
    client = client_as(viewer)
    with django_assert_max_num_queries(5):
        client.get(url("datasets", project))
    with django_assert_max_num_queries(7):
        page = client.get(url("dataset", project, dataset="scenarios"), {"page": 8})
    assert "scenarios-399" in page.content.decode()
    assert "Page 8 of 8" in page.content.decode()


def test_search_finds_ids_and_texts_in_any_case(project: Project, viewer, client_as, make_dataset):
    make_dataset(project, n=30, content=lambda i: {"text": "Tea" if i == 7 else "100%"})
    client = client_as(viewer)

    def found(words: str) -> list[str]:
        page = client.get(url("dataset", project, dataset="scenarios"), {"q": words})
        return [item.external_id for item, _ in page.context["rows"]]

    assert found("tEA") == ["scenarios-7"]
    assert found("SCENARIOS-29") == ["scenarios-29"]
    assert found("_ea") == []
    assert found("no\x00thing") == []


def test_instrument_shows_options_from_the_item_and_its_conditions(
    project: Project, viewer, client_as, make_dataset, make_instrument
):
    dataset = make_dataset(
        project, n=1, content=lambda i: {"text": "Who pays?", "left": "The <i>host</i>", "id": "scenarios-0"}
    )
    Dataset.objects.filter(pk=dataset.pk).update(field_order=["id", "text", "left"])
    options = [{"code": "l", "text_field": "left", "hotkey": "h"}, {"code": "n", "text": "Nobody"}]
    instrument = make_instrument(
        project,
        questions=[
            {"kind": "choice", "code": "who", "text": "Who?", "options": options},
            {"kind": "text", "code": "why", "text": "Why?", "show_if": {"question": "who", "any_of": ["n"]}},
            {"kind": "scale", "code": "sure", "text": "How sure?", "reason": "To weigh your answer."},
        ],
    )
    answer = client_as(viewer).get(url("instrument", project, pk=instrument.pk))
    assert [part.label for part in answer.context["parts"]] == ["Text", "Left"]
    page = answer.content.decode()
    assert "The &lt;i&gt;host&lt;/i&gt;" in page
    assert "Asked only when who is n." in page
    assert '<kbd aria-hidden="true">H</kbd>' in page
    participant = client_as(viewer).get(url("instrument_participant", project, pk=instrument.pk)).content.decode()
    assert "Who pays?" in participant
    assert "To weigh your answer." in participant
    assert participant.count("Asked only when who is n.") == 1
    assert "<strong>Id:" not in participant
    assert "Concord" not in participant


def test_another_projects_materials_are_out_of_reach(project: Project, owner, client_as, make_dataset, make_instrument):
    other = Project.objects.create(name="Other", slug="other")
    make_dataset(other, slug="theirs")
    client = client_as(owner)
    assert client.get(url("dataset", project, dataset="theirs")).status_code == 404
    assert client.get(url("instrument", project, pk=make_instrument(other).pk)).status_code == 404
