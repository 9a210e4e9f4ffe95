"""The REST interface: tokens, scopes, projects kept apart, pages, and the schema."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.models import Report
from materials.models import Dataset, Item
from projects.models import ApiToken, Project, Role, User
from projects.services import create_token, remove_member, revoke_token, set_member
from tests.responses.conftest import Scene, build_scene


@pytest.fixture
def scene(project: Project, make_dataset, make_instrument) -> Scene:
    return build_scene(project, make_dataset, make_instrument)


@pytest.fixture
def api(researcher: User, project: Project) -> Client:
    return with_token(project, researcher, "read", "write")


def with_token(project: Project, user: User, *scopes: str) -> Client:
    _, key = create_token(project=project, user=user, name="t", scopes=scopes)
    return Client(headers={"Authorization": f"Bearer {key}"})


def get(client: Client, name: str, status: int = 200, query: dict[str, Any] | None = None, **kwargs: object) -> Any:
    response = client.get(reverse(name, kwargs=kwargs), query)
    assert response.status_code == status, response.content
    return response.json()


def post_items(client: Client, slug: str, items: object, status: int = 201) -> Any:
    body = json.dumps({"items": items})
    response = client.post(reverse("api_items", kwargs={"slug": slug}), body, content_type="application/json")
    assert response.status_code == status, response.content
    return response.json()


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Token x", "Bearer \xff", "Basic eDp5"])
def test_without_a_known_token_nothing_is_answered(scene: Scene, header: str):
    response = Client(headers={"Authorization": header}).get(reverse("api_project"))
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_log_in_is_no_token(scene: Scene, owner: User, client_as):
    get(client_as(owner), "api_project", 401)


def test_scopes_are_kept(scene: Scene, researcher: User):
    item = [{"external_id": "x", "content": {}}]
    get(with_token(scene.project, researcher, "write"), "api_project", 403)
    post_items(with_token(scene.project, researcher, "read"), "new", item, 403)
    assert not Dataset.objects.filter(slug="new").exists()


@pytest.mark.parametrize("end", ["revoked", "left", "demoted", "inactive"])
def test_a_token_ends_with_what_it_stands_on(scene: Scene, researcher: User, api: Client, end: str):
    get(api, "api_project")
    if end == "revoked":
        revoke_token(token=ApiToken.objects.get(), by=researcher)
    elif end == "left":
        remove_member(project=scene.project, user=researcher, by=None)
    elif end == "demoted":
        set_member(project=scene.project, user=researcher, role=Role.ANNOTATOR, by=None)
    else:
        User.objects.filter(pk=researcher.pk).update(is_active=False)
    get(api, "api_project", 403 if end == "demoted" else 401)


@pytest.fixture
def elsewhere(scene: Scene, make_dataset, make_instrument) -> Scene:
    """Another project with its own materials, answers and report."""
    other = Project.objects.create(name="Elsewhere", slug="elsewhere")
    Report.objects.create(project=other, title="Theirs", kind="alignment")
    theirs = build_scene(other, lambda project, n: make_dataset(project, n=n, slug="theirs"), make_instrument)
    theirs.record(theirs.answer("yes"))
    return theirs


def test_a_token_never_reaches_another_project(scene: Scene, elsewhere: Scene, api: Client):
    get(api, "api_dataset", 404, slug="theirs")
    get(api, "api_items", 404, slug="theirs")
    get(api, "api_item", 404, pk=elsewhere.item.pk)
    get(api, "api_instrument", 404, pk=elsewhere.instrument.pk)
    get(api, "api_report", 404, pk=Report.objects.get().pk)
    get(api, "api_responses", 400, {"dataset": "theirs"})
    for name in ("api_responses", "api_reports", "api_jobs", "api_studies", "api_label_projects"):
        assert get(api, name)["results"] == []
    assert [dataset["slug"] for dataset in get(api, "api_datasets")["results"]] == ["scenarios"]
    assert [instrument["id"] for instrument in get(api, "api_instruments")["results"]] == [scene.instrument.pk]


def test_importing_under_another_projects_slug_makes_an_own_dataset(scene: Scene, elsewhere: Scene, api: Client):
    post_items(api, "theirs", [{"external_id": "x", "content": {}}])
    assert elsewhere.dataset.items.count() == 3
    assert Dataset.objects.filter(slug="theirs").count() == 2


def test_items_come_in_all_or_none_with_the_place_of_every_fault(scene: Scene, api: Client):
    items = [{"external_id": f"n{n}", "content": {"text": n}} for n in range(3)]
    assert post_items(api, "new", items) == {"added": 3, "unchanged": 0}
    assert post_items(api, "new", items[:2]) == {"added": 0, "unchanged": 2}
    refused = post_items(api, "new", [{"external_id": "x", "content": {}}, items[0] | {"content": {}}, {"id": 3}], 422)
    assert [(fault["row"], fault["column"]) for fault in refused["faults"]] == [(2, "id"), (3, "")]
    assert Item.objects.filter(dataset__slug="new").count() == 3


@pytest.mark.parametrize("body", ["", "[]", "nonsense", '{"items": NaN}', '{"items": ' + "[" * 100_000])
def test_bodies_that_are_no_list_of_items_are_refused(scene: Scene, api: Client, body: str):
    url = reverse("api_items", kwargs={"slug": "new"})
    assert api.post(url, body, content_type="application/json").status_code in {400, 422}
    assert not Dataset.objects.filter(slug="new").exists()


def test_a_body_that_is_too_large_is_refused_unread(scene: Scene, api: Client):
    url = reverse("api_items", kwargs={"slug": "new"})
    response = api.post(url, "{}", content_type="application/json", CONTENT_LENGTH=str(51 * 1024 * 1024))
    assert response.status_code == 413


def test_answers_come_in_pages_that_lead_on(scene: Scene, api: Client, django_assert_max_num_queries):
    scene.record(*(scene.answer("yes", sample=n) for n in range(25)))
    scene.record(scene.answer("no", respondent_id=scene.model.pk))
    with django_assert_max_num_queries(8):
        page = get(api, "api_responses", query={"page_size": 10})
    seen = [answer["sample"] for answer in page["results"]]
    while page["next"]:
        page = api.get(page["next"]).json()
        seen += [answer["sample"] for answer in page["results"]]
    assert seen == [*range(25), 0]
    (of_model,) = get(api, "api_responses", query={"kind": "model"})["results"]
    assert of_model["respondent"]["demo_model"] is True
    assert (of_model["item"], of_model["value"], of_model["superseded"]) == ("scenarios-0", "no", False)


@pytest.mark.parametrize("name", ["api_datasets", "api_instruments", "api_reports"])
def test_lists_cost_the_same_with_many_rows(
    scene: Scene, api: Client, name: str, make_dataset: Callable[..., Dataset], django_assert_max_num_queries
):
    for number in range(15):
        make_dataset(scene.project, n=1, slug=f"d{number}")
        Report.objects.create(project=scene.project, title="R", kind="alignment")
    with django_assert_max_num_queries(5):
        get(api, name)


def test_the_schema_is_complete_and_valid():
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", "/dev/null")
