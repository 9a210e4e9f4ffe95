"""The models pages: planning, starting, watching, stopping, and looking at every call."""

from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from llm.models import Job, Prompt
from llm.planning.costs import make_plan
from llm.querysets import mark_rate
from llm.running.ledger import expand
from llm.services import JobError, pause_job
from llm.templatetags.llm_words import duration
from projects.models import Project
from responses.services import get_respondent
from tests.llm.jobs import CHOICE, JobMaker, counts, run_here
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
TINY = "a real but tiny model"
REST = {
    "option_orders": "drawn", "top_p": 1, "answer_mode": "auto", "max_parse_attempts": 2, "way": "live",
    "max_attempts": 6,
}  # fmt: skip


@pytest.fixture
def client(client_as, researcher):
    return client_as(researcher)


def url(name: str, job: Job, **more) -> str:
    return reverse(name, kwargs={"slug": job.project.slug, "pk": job.pk, **more})


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_an_empty_project_is_told_what_a_job_is(project, client):
    assert "No jobs yet" in text(client.get(reverse("jobs", args=[project.slug])))
    assert "No endpoints yet" in text(client.get(reverse("endpoints", args=[project.slug])))
    assert "No prompts yet" in text(client.get(reverse("prompts", args=[project.slug])))
    page = text(client.get(reverse("job_plan", args=[project.slug])))
    assert "this project needs" in page
    assert reverse("endpoint_new", args=[project.slug]) in page


def test_a_researcher_plans_starts_and_reads_a_job(jobs: JobMaker, client):
    with ScriptedModelServer(Script(behaviours=["refusal"])) as server:
        template = jobs.plan(jobs.endpoint(server, demo_model=True, price_per_million_in=1, price_per_million_out=1))
        get_respondent(project=jobs.project, kind="participant", key="p", attributes={"country": "Kenya"})
        page = client.get(reverse("job_plan", args=[jobs.project.slug]))
        assert "Kenya" in text(page)
        data = {
            "name": "Norms",
            "kind": "simulate",
            "dataset": template.dataset_id,
            "instrument": template.instrument_id,
            "prompts": [template.prompt_list[0].pk],
            "endpoints": [template.endpoint_id],
            "alone": "on",
            "countries": ["Kenya"],
            "age_groups": ["younger", "older"],
            "samples": 1,
            "temperature": 0,
            "max_tokens": 50,
            "seed": 1,
            **REST,
        }
        answer = client.post(reverse("job_plan", args=[jobs.project.slug]), data)
        job = Job.objects.get(name="Norms")
        assert answer.url == url("job", job)
        assert job.personas == [
            {},
            {"country": "Kenya", "age_group": "younger"},
            {"country": "Kenya", "age_group": "older"},
        ]
        plan = text(client.get(url("job", job)))
        assert "<dt>Calls</dt><dd>15</dd>" in plan
        assert "You are from Kenya." in plan
        assert TINY in plan
        assert not job.calls.exists()
        client.post(url("job_action", job, action="start"))
        run_here(job)
    page = text(client.get(url("job", job)))
    assert "<strong>15</strong> of 15" in page
    assert "The model refused: &quot;I cannot help with that&quot;." in page
    assert 'hx-trigger="every' not in page  # nothing changes any more
    assert TINY in page
    listed = text(client.get(url("calls", job) + "?status=refused"))
    assert "1 call<" in listed
    assert TINY in listed
    call = job.calls.get(status="refused")
    shown = text(client.get(url("call", call.job, pk=call.pk)))
    assert "I cannot help with that." in shown
    assert call.item.content["text"] in shown
    assert TINY in shown
    assert "Demo model" in text(client.get(reverse("jobs", args=[jobs.project.slug])))
    client.post(url("job_action", job, action="retry"))
    assert counts(job) == {"ok": 14, "pending": 1}


def test_a_form_that_cannot_be_planned_says_why(jobs: JobMaker, client):
    template = jobs.plan("http://127.0.0.1:9/v1")
    data = {
        "name": "n", "kind": "judge", "dataset": template.dataset_id, "instrument": template.instrument_id,
        "prompts": [template.prompt_list[0].pk], "endpoints": [template.endpoint_id], "samples": 0, "temperature": 0,
        "max_tokens": 5, "seed": 1, "alone": "on", **REST, "question_codes": ["nothing"],
    }  # fmt: skip
    answer = client.post(reverse("job_plan", args=[jobs.project.slug]), data)
    assert answer.status_code == 422
    assert "The instrument has no question nothing." in text(answer)
    assert "greater than or equal to 1" in text(answer)
    assert Job.objects.count() == 1


def test_materials_of_another_project_cannot_be_chosen(jobs: JobMaker, client):
    other = Project.objects.create(name="Other", slug="other")
    foreign = Prompt.objects.create(project=other, name="p", version=1, user="x")
    template = jobs.plan("http://127.0.0.1:9/v1")
    page = client.get(reverse("job_plan", args=[jobs.project.slug]))
    assert f'value="{template.prompt_list[0].pk}"' in page.content.decode()
    assert foreign not in page.context["form"].fields["prompts"].queryset
    assert client.get(reverse("prompt", args=[jobs.project.slug, foreign.pk])).status_code == 404


def test_a_prompt_that_does_not_fit_the_items_is_told_before_the_start(jobs: JobMaker, client):
    job = jobs.plan("http://127.0.0.1:9/v1", user="{{ item.title }}")
    page = text(client.get(url("job", job)))
    assert "The prompt does not fit the items." in page
    assert "there is no &quot;title&quot;" in page
    assert 'action="' + url("job_action", job, action="start") not in page
    client.post(url("job_action", job, action="start"))
    job.refresh_from_db()
    assert job.status == Job.Status.PLANNED


def test_pause_resume_stop_and_unknown_actions(jobs: JobMaker, client):
    job = jobs.start("http://127.0.0.1:9/v1")
    live = text(client.get(url("job_live", job)))
    assert 'hx-trigger="every 2s"' in live
    assert "<html" not in live
    states = []
    for action in ("pause", "resume", "stop"):
        client.post(url("job_action", job, action=action))
        job.refresh_from_db()
        states.append(job.status)
    assert states == ["paused", "running", "stopped"]
    assert job.status_reason == "Stopped by researcher."
    page = text(client.post(url("job_action", job, action="pause"), follow=True))
    assert "the job is in another state by now" in page
    assert client.post(url("job_action", job, action="explode")).status_code == 404
    assert client.get(url("job_action", job, action="stop")).status_code == 405


def test_a_viewer_reads_and_sees_no_buttons(jobs: JobMaker, viewer, client_as):
    job = jobs.start("http://127.0.0.1:9/v1")
    page = text(client_as(viewer).get(url("job", job)))
    assert "job-stop" not in page
    assert "Progress" in page


def test_the_questions_of_the_chosen_instrument_can_be_ticked(jobs: JobMaker, client, make_instrument):
    template = jobs.plan("http://127.0.0.1:9/v1")
    address = reverse("job_plan", args=[jobs.project.slug])
    assert client.get(address).context["form"].fields["question_codes"].choices == [("answer", "Is this usual?")]
    other = make_instrument(jobs.project, [CHOICE, CHOICE | {"code": "again"}], name="twice")
    assert client.get(address).context["form"].fields["question_codes"].choices == []
    data = {
        "name": "Typed", "kind": "judge", "dataset": template.dataset_id, "instrument": other.pk,
        "prompts": [template.prompt_list[0].pk], "endpoints": [template.endpoint_id], "samples": 1, "temperature": 0,
        "max_tokens": 5, "seed": 1, "alone": "on", **REST,
    }  # fmt: skip
    page = client.post(address, data | {"choose": "1", "samples": "none"})
    assert [code for code, _ in page.context["form"].fields["question_codes"].choices] == ["answer", "again"]
    assert 'value="Typed"' in text(page)
    assert "error" not in text(page)
    answer = client.post(address, data | {"question_codes": ["again"]})
    assert answer.status_code == 302, answer.context["form"].errors
    assert Job.objects.get(name="Typed").question_codes == ["again"]


def test_a_paused_job_says_what_is_in_flight_and_not_how_long(jobs: JobMaker, client):
    job = jobs.start("http://127.0.0.1:9/v1", n=4)
    mark_rate(job.pk)
    expand(job)
    calls = list(job.calls.all())
    job.calls.filter(pk=calls[0].pk).update(status="ok", values={}, finished_at=timezone.now(), latency_seconds=3)
    Job.objects.filter(pk=job.pk).update(n_ok=1)
    lease = {"claimed_by": uuid4(), "lease_until": timezone.now()}
    job.calls.filter(pk=calls[1].pk).update(status="claimed", **lease)
    assert " left<" in text(client.get(url("job", job)))
    pause_job(job=job)
    page = text(client.get(url("job", job)))
    assert " left<" not in page
    assert "1 call in flight will finish; no more are started." in page
    assert "hx-get" in page
    assert "<dt>Sample</dt>" not in text(client.get(url("call", job, pk=calls[0].pk)))
    planned = jobs.plan(job.endpoint, n=32, slug="later")
    assert make_plan(planned).seconds == 32 * 3 / 8  # eight calls at once, each as long as the last ones


def test_items_without_what_the_questions_show_cannot_be_planned(jobs: JobMaker):
    options = [{"code": "a", "text_field": "left"}, {"code": "b", "text": "Neither"}]
    with pytest.raises(JobError, match=r"^Item scenarios-5-0 has no field left, which the questions show; choose"):
        jobs.plan("http://127.0.0.1:9/v1", questions=[CHOICE | {"options": options}])
    assert not Job.objects.exists()


@pytest.mark.parametrize("name", ["jobs", "job", "job_live", "calls"])
def test_pages_cost_the_same_number_of_queries_however_large_the_job(
    jobs: JobMaker, client, django_assert_max_num_queries, name
):
    job = jobs.start("http://127.0.0.1:9/v1", n=30, personas=[{}, {"country": "Peru"}, {"country": "Chile"}])
    for _ in range(4):
        jobs.start("http://127.0.0.1:9/v1", n=3, slug=f"more{_}")
    pause_job(job=job)
    address = reverse("jobs", args=[jobs.project.slug]) if name == "jobs" else url(name, job)
    with django_assert_max_num_queries(11):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (0.2, "1 s"), (89, "89 s"), (90, "2 min"), (7199, "120 min"), (7200, "2 h"), (200_000, "2 days")],
)
def test_durations_are_told_in_one_unit(seconds, words):
    assert duration(seconds) == words
