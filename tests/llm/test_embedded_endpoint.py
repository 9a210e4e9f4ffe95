"""The embedded model as an endpoint: made by a button, always marked, and moved with the model."""

import pytest
from django.urls import reverse

from llm.models import Endpoint
from llm.services import EndpointError, move_embedded_endpoints, save_endpoint, start_job
from projects.models import AuditEvent, Project
from tests.llm.jobs import JobMaker

HERE = "http://127.0.0.1:8097/v1"


@pytest.fixture(autouse=True)
def _embedded(settings, db):
    settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.DEMO_MODEL = HERE, "tiny", True


def test_one_button_makes_the_endpoint_once(project: Project, researcher, client_as):
    client = client_as(researcher)
    new = reverse("endpoint_new", kwargs={"slug": project.slug})
    assert "Use the embedded model of this installation" in client.get(new).content.decode()
    for _ in range(2):
        client.post(reverse("endpoint_embedded", kwargs={"slug": project.slug}))
    made = project.endpoints.get()
    assert (made.base_url, made.model, made.key_variable) == (HERE, "tiny", "CONCORD_MODEL_KEY")
    assert (made.concurrency, made.timeout_seconds, made.demo_model) == (4, 120, True)


def test_without_the_model_there_is_no_button(project: Project, researcher, client_as, settings):
    settings.DEMO_MODEL = False
    client = client_as(researcher)
    new = reverse("endpoint_new", kwargs={"slug": project.slug})
    assert "embedded model" not in client.get(new).content.decode()
    page = client.post(reverse("endpoint_embedded", kwargs={"slug": project.slug}), follow=True).content.decode()
    assert "The embedded model does not run here" in page
    assert not project.endpoints.exists()


@pytest.mark.parametrize("address", [HERE, "HTTP://127.0.0.1:8097/v1/"])
def test_any_endpoint_at_the_embedded_model_is_marked(project: Project, address):
    assert save_endpoint(project=project, name="mine", base_url=address, model="tiny", demo_model=False).demo_model


def test_the_mark_stays_without_the_model_and_goes_with_another_server(project: Project, settings):
    endpoint = save_endpoint(project=project, name="mine", base_url=HERE, model="tiny")
    settings.DEMO_MODEL = False
    assert save_endpoint(project=project, endpoint=endpoint, name="new", base_url=HERE, model="tiny").demo_model
    other = "http://models.example.org/v1"
    assert not save_endpoint(project=project, endpoint=endpoint, name="new", base_url=other, model="tiny").demo_model


def test_what_answered_as_another_model_cannot_become_the_embedded_one(project: Project, make_dataset, make_instrument):
    jobs = JobMaker(project, make_dataset, make_instrument)
    job = jobs.plan("http://models.example.org/v1", n=1)
    start_job(job=job)
    endpoint = Endpoint.objects.get()
    with pytest.raises(EndpointError, match="has answered as"):
        save_endpoint(project=project, endpoint=endpoint, name="mine", base_url=HERE, model=endpoint.model)


def test_endpoints_move_with_the_model_in_all_projects(project: Project):
    other = Project.objects.create(name="Other", slug="other")
    for place in (project, other):
        save_endpoint(project=place, name="mine", base_url=HERE, model="tiny")
    save_endpoint(project=project, name="hosted", base_url="http://models.example.org/v1", model="tiny")
    Endpoint.objects.update(capabilities={"ok": True}, probed_at="2026-11-30T00:00Z")
    there = "http://127.0.0.1:8098/v1"
    assert move_embedded_endpoints(there) == 2
    assert move_embedded_endpoints(there) == 0
    assert set(Endpoint.objects.filter(base_url=there).values_list("name", "capabilities__ok")) == {("mine", True)}
    assert Endpoint.objects.get(name="hosted").base_url == "http://models.example.org/v1"
    assert AuditEvent.objects.filter(action="endpoint moved").count() == 2
