"""A job's pages from the form to the end: plan, pilot, series, controls, and what the answers look like meanwhile."""

import threading
from decimal import Decimal
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from llm.models import Batch, Call, Endpoint, Job
from llm.pages import live
from llm.pages.live import job_findings
from llm.planning.job_text import read_factors
from llm.running.ledger import expand
from llm.services import discard_plan, plan_series, publish_prompt, start_job
from projects.models import AuditEvent
from tests.llm.jobs import CHOICE, USER, JobMaker, counts, in_thread, run_here
from tests.model_server import ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
NOWHERE = "http://127.0.0.1:9/v1"
TURNED = CHOICE | {"randomise": True}


@pytest.fixture
def client(client_as, researcher):
    return client_as(researcher)


def url(name: str, job: Job, **more) -> str:
    return reverse(name, kwargs={"slug": job.project.slug, "pk": job.pk, **more})


def text(response) -> str:
    return " ".join(response.content.decode().split())


def series(jobs: JobMaker, *servers: str, n: int = 30, **fields) -> list[Job]:
    """The same plan at an endpoint for each server."""
    template = jobs.plan(servers[0], n=n)
    endpoints = [jobs.endpoint(server, price_per_million_in=1, price_per_million_out=1) for server in servers]
    return plan_series(
        project=jobs.project, name="Norms", kind=Job.Kind.SIMULATE, endpoints=endpoints, prompts=template.prompt_list,
        dataset=template.dataset, instrument=template.instrument, personas=[{}], **fields,
    )  # fmt: skip


def form_data(template: Job, **changes) -> dict:
    return {
        "name": "Typed", "kind": "judge", "dataset": template.dataset_id, "instrument": template.instrument_id,
        "prompts": [template.prompt_list[0].pk], "endpoints": [template.endpoint_id], "alone": "on", "samples": 1,
        "temperature": 0, "top_p": 1, "max_tokens": 5, "seed": 1, "option_orders": "drawn", "answer_mode": "auto",
        "max_parse_attempts": 2, "max_attempts": 6, "way": "live", **changes,
    }  # fmt: skip


def test_a_simple_job_shows_no_more_than_it_needs(jobs: JobMaker, client):
    jobs.plan(NOWHERE)
    page = client.get(reverse("job_plan", args=[jobs.project.slug]))
    assert [group.open for group in page.context["form"].closed_groups()] == [False] * 6
    assert '<details class="panel disclosure" id="group-items">' in page.content.decode()
    form = page.context["form"]
    assert form["dataset"].value() == jobs.project.datasets.get().pk


def test_a_part_of_the_form_opens_with_its_error_or_what_is_not_usual(jobs: JobMaker, client):
    template = jobs.plan(NOWHERE)
    address = reverse("job_plan", args=[jobs.project.slug])
    page = client.post(address, form_data(template, factors="tone plain", max_tokens=128, samples=3))
    assert page.status_code == 422
    assert {group.key: group.open for group in page.context["form"].closed_groups()} == {
        "who": False, "items": False, "conditions": True, "answers": False, "decoding": False, "budget": False,
    }  # fmt: skip
    assert page.context["form"].errors["factors"] == [
        "Line 1: write a name, a colon and values with | between them, as in a: x | y."
    ]
    nobody = client.post(address, {key: value for key, value in form_data(template).items() if key != "alone"})
    assert nobody.context["form"].errors["alone"] == ["Tick this, or choose personas: somebody has to answer."]


def test_the_form_makes_a_job_at_each_endpoint_over_the_whole_grid(jobs: JobMaker, client):
    template = jobs.plan(NOWHERE)
    endpoints = [template.endpoint_id, jobs.endpoint(NOWHERE).pk]
    data = form_data(template, endpoints=endpoints, factors="tone: plain | kind = Be kind.", samples=2, temperature=1)
    client.post(reverse("job_plan", args=[jobs.project.slug]), data)
    planned = list(Job.objects.filter(name__startswith="Typed").order_by("pk"))
    assert [job.endpoint_id for job in planned] == endpoints
    assert len({job.series for job in planned}) == 1
    assert planned[0].factors[0]["levels"][1] == {"name": "kind", "value": "Be kind."}


def test_personas_have_further_attributes_crossed_with_what_is_ticked(jobs: JobMaker, client):
    address = reverse("job_plan", args=[jobs.project.slug])
    data = form_data(jobs.plan(NOWHERE), genders=["female"], attributes="religion: Hindu | Muslim")
    client.post(address, data)
    assert Job.objects.get(name="Typed").personas == [
        {}, {"gender": "female", "religion": "Hindu"}, {"gender": "female", "religion": "Muslim"},
    ]  # fmt: skip
    for attributes, what in {
        "gender: other": "gender is ticked above and written here; keep one of them.",
        '[{"religion": "Hindu"}]': "A list of personas is complete; take the ticks away, or write lines instead.",
        "n: " + " | ".join(map(str, range(10_001))): "the personas would be 10,001; at most 10,000 are taken.",
    }.items():
        page = client.post(address, data | {"attributes": attributes})
        assert page.context["form"].errors["attributes"] == [what]
        assert '<details class="panel disclosure" id="group-who" open>' in page.content.decode()


def test_a_plan_warns_of_what_makes_no_difference(jobs: JobMaker, client):
    known = jobs.dataset(2).items.first().content["text"]
    job = jobs.plan(NOWHERE, n=2, factors=read_factors("tone: warm"), item_filter={"text": [known, "a, b"]})
    page = text(client.get(url("job", job)))
    assert "a factor with one level makes no contrast." in page
    assert "No item has text &quot;a, b&quot;." in page
    assert "1 level of tone = 1 condition; 1 item × 1 condition × 1 sample = 1 call." in page


def test_a_plan_warns_of_prompts_that_tell_levels_not_apart_and_of_a_budget_that_ends_early(jobs: JobMaker, client):
    varied = {
        "n": 2,
        "questions": [TURNED],
        "personas": [{}, {"country": "Chile", "age": 30}, {"country": "Chile", "age": 40}],
        "factors": read_factors("tone: warm | cold"),
        "option_orders": "both",
    }
    page = text(client.get(url("job", jobs.plan(NOWHERE, budget_calls=23, **varied))))
    assert "ask v1 asks the same with &quot;tone warm&quot; as with &quot;tone cold&quot;:" in page
    assert "ask v1 asks the same with &quot;30, Chile&quot; as with &quot;40, Chile&quot;:" in page
    assert page.count("asks the same") == 2
    assert "The budget of 23 calls is less than the plan takes, about 24 calls:" in page
    reads_all = jobs.plan(NOWHERE, user=f"{USER} {{{{ condition.tone }}}} {{{{ persona }}}}", budget_calls=24, **varied)
    assert "notice-warning" not in client.get(url("job", reads_all)).content.decode()


def test_a_plan_shows_what_its_conditions_are_made_of(jobs: JobMaker, client):
    job = jobs.plan(
        NOWHERE, n=4, questions=[TURNED], option_orders="both", factors=read_factors("tone: warm | cold"),
        personas=[{}, {"country": "Peru"}, {"country": "Chile"}], conditions_per_item=4,
    )  # fmt: skip
    words = "2 levels of tone × 2 option orders × (2 personas + 1 without) = 12 conditions, of which each item gets 4; "
    assert words + "4 items × 4 conditions × 1 sample = 16 calls." in text(client.get(url("job", job)))


def sent_back(client, address: str) -> dict:
    """What a browser sends of the form as it stands at the address."""
    form = client.get(address).context["form"]
    return {field.name: value for field in form if (value := field.value()) is not None and value is not False}


def planned_fields(job: Job) -> dict:
    own = {"id", "name", "series", "created_at", "created_by_id"}
    stored = Job.objects.filter(pk=job.pk).values().get()
    return {name: value for name, value in stored.items() if name not in own}


@pytest.mark.parametrize("personas", [[{}, {"country": "Peru", "faith": "any"}], [{"age": 30}, {"country": "Peru"}]])
def test_a_plan_is_changed_from_its_own_form_and_the_earlier_one_is_gone(jobs: JobMaker, client, personas):
    first, second = series(
        jobs, NOWHERE, NOWHERE, n=5, factors=read_factors("tone: warm | cold = Be cold."), samples=2, temperature=0.5,
        max_attempts=3, max_items=3, items_drawn=True, question_codes=["answer"], budget_calls=7, conditions_per_item=2,
    )  # fmt: skip
    Job.objects.filter(series=first.series).update(personas=personas)
    meant = [(job.name, planned_fields(job)) for job in (first, second)]
    address = reverse("job_plan", args=[jobs.project.slug]) + f"?change={second.pk}"
    client.post(address, sent_back(client, address))
    changed = Job.objects.exclude(pk__in=[first.pk, second.pk]).filter(name__startswith="Norms").order_by("pk")
    assert [(job.name, planned_fields(job)) for job in changed] == meant
    assert not Job.objects.filter(series=first.series).exists()


def test_a_job_is_copied_and_one_that_was_started_meanwhile_stays(jobs: JobMaker, client):
    job = jobs.plan(NOWHERE)
    address = reverse("job_plan", args=[jobs.project.slug])
    change = sent_back(client, f"{address}?change={job.pk}")
    assert f"?change={job.pk}" in text(client.get(url("job", job)))
    start_job(job=job)
    page = text(client.post(f"{address}?change={job.pk}", change, follow=True))
    assert "a job was started meanwhile and stays; this is a plan beside it." in page
    assert f"?from={job.pk}" in text(client.get(url("job", job)))
    copy = sent_back(client, f"{address}?from={job.pk}")
    assert copy == change | {"name": "Copy of a job"}
    assert client.get(f"{address}?from=none").context["form"]["name"].value() is None


def test_all_plans_of_a_series_are_discarded_after_a_question(jobs: JobMaker, client):
    first, _, third = series(jobs, NOWHERE, NOWHERE, NOWHERE)
    start_job(job=third)
    assert "Discard all 2 plans" in text(client.get(url("job", first)))
    page = text(client.post(url("job_action", first, action="discard-all"), follow=True))
    assert "2 plans are discarded." in page
    assert list(Job.objects.filter(series=first.series)) == [third]


def test_older_versions_of_a_prompt_stand_apart(jobs: JobMaker, client):
    old = jobs.plan(NOWHERE).prompt_list[0]
    new = publish_prompt(project=jobs.project, name="ask", system="", user="{{ item.text }} new")
    form = client.get(reverse("job_plan", args=[jobs.project.slug])).context["form"]
    assert [box.data["value"].value for box in form.newest_prompts()] == [new.pk]
    assert [box.data["value"].value for box in form.older_prompts()] == [old.pk]
    assert not form.older_prompt_chosen


def test_the_plan_of_a_series_adds_up(jobs: JobMaker, client):
    first, second = series(jobs, NOWHERE, NOWHERE, n=30, max_items=25)
    Endpoint.objects.filter(pk=second.endpoint_id).update(requests_per_minute=60)
    page = client.get(url("job", first))
    overview = page.context["overview"]
    assert "25 items × 1 condition × 1 sample × 2 endpoints = 50 calls." in text(page)
    assert "Of 30 items in the dataset, 25 are taken." in text(page)
    assert overview.price == 2 * overview.plan.price
    assert [row.seconds for row in overview.rows] == [None, 25.0]
    assert overview.seconds is None
    assert "unknown until the endpoint is tested" in text(page)
    Endpoint.objects.filter(pk=first.endpoint_id).update(requests_per_minute=30)
    assert "at least 50 s, if all endpoints work at once" in text(client.get(url("job", first)))
    Endpoint.objects.filter(pk=second.endpoint_id).update(price_per_million_in=None)
    assert client.get(url("job", first)).context["overview"].price is None


def test_a_pilot_is_measured_and_the_rest_is_run_after_it(jobs: JobMaker, client):
    with ScriptedModelServer() as server:
        first, second = series(jobs, server.base_url, server.base_url)
        client.post(url("job_action", first, action="pilot"))
        for job in (first, second):
            run_here(job)
            assert (job.status, job.pilot, counts(job)) == ("paused", True, {"ok": 20})
        page = client.get(url("job", first))
        rest = page.context["rest"]
        assert (rest.calls, rest.asked) == (10, 20)
        each = Decimal(first.prompt_tokens + first.completion_tokens) / 20
        assert rest.price == each * 10 / 1_000_000
        assert "Run the rest of all 2 jobs" in text(page)
        assert "Run the rest<" in text(page)
        client.post(url("job_action", first, action="resume-all"))
        for job in (first, second):
            run_here(job)
            assert (job.status, job.pilot, counts(job)) == ("done", False, {"ok": 30})


def test_a_pilot_that_is_paused_in_the_middle_goes_on_as_a_pilot(jobs: JobMaker, client):
    job = jobs.plan(NOWHERE, n=30)
    client.post(url("job_action", job, action="pilot"))
    client.post(url("job_action", job, action="pause"))
    page = text(client.get(url("job", job)))
    assert "Resume the pilot" in page
    assert "Run everything" in page
    client.post(url("job_action", job, action="resume-pilot"))
    job.refresh_from_db()
    assert (job.status, job.pilot, job.calls.count()) == ("running", True, 20)


@pytest.mark.parametrize("action", ["start", "pilot", "discard"])
def test_a_plan_that_was_discarded_meanwhile_is_answered_with_a_sentence(jobs: JobMaker, client, action):
    job = jobs.plan(NOWHERE)
    address = url("job_action", job, action=action)
    discard_plan(job=job)
    answer = client.post(address, follow=True)
    assert answer.status_code == 200
    assert "There is no such job any more; its plan was discarded." in text(answer)


def test_starting_and_discarding_at_once_leaves_a_running_job_or_none(jobs: JobMaker, client_as, researcher):
    for _ in range(4):
        job = jobs.plan(NOWHERE)
        barrier, answers = threading.Barrier(2), {}

        def act(action: str, job: Job = job, barrier: threading.Barrier = barrier, answers: dict = answers) -> None:
            client = client_as(researcher)
            barrier.wait()
            answers[action] = client.post(url("job_action", job, action=action)).status_code

        threads = [threading.Thread(target=in_thread(lambda a=action: act(a))) for action in ("start", "discard")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {"start": 302, "discard": 302}
        assert Job.objects.filter(pk=job.pk).exclude(status="running").count() == 0


def test_budget_and_calls_at_once_are_changed_in_place_and_audited(jobs: JobMaker, client):
    job = jobs.start(jobs.endpoint(NOWHERE, price_per_million_in=1, price_per_million_out=1))
    page = client.post(url("job_budget", job), {"budget_calls": 7, "budget_price": "1.5"}, follow=True)
    job.refresh_from_db()
    assert (job.budget_calls, job.budget_tokens, job.budget_price) == (7, None, Decimal("1.5"))
    assert "<dt>Budget, price</dt><dd>1.5000</dd>" in text(page)
    client.post(url("job_concurrency", job), {"concurrency": 3})
    assert Endpoint.objects.get(pk=job.endpoint_id).concurrency == 3
    actions = set(AuditEvent.objects.filter(project=jobs.project).values_list("action", flat=True))
    assert {"budget changed", "calls at once changed"} <= actions


def test_a_spent_budget_is_to_be_raised_before_the_job_is_resumed(jobs: JobMaker, client):
    with ScriptedModelServer() as server:
        job = jobs.run(server, n=5, budget_calls=3)
    resume = url("job_action", job, action="resume")
    page = text(client.post(resume, follow=True))
    assert "The budget of 3 calls is used up. Raise it under Budget and speed, then resume." in page
    assert "<dt>Budget, calls</dt><dd>3 of 3</dd>" in page
    assert Job.objects.get(pk=job.pk).status == "paused"
    page = text(client.post(url("job_budget", job), {"budget_calls": 5}, follow=True))
    assert "The budget is changed. Resume the job to go on." in page
    assert "is used up" not in page
    client.post(resume)
    assert Job.objects.get(pk=job.pk).status == "running"


def test_a_change_that_cannot_be_made_is_explained_at_its_field(jobs: JobMaker, client):
    job = jobs.start(NOWHERE)
    no_price = client.post(url("job_budget", job), {"budget_price": "1"})
    assert no_price.status_code == 422
    assert "A budget in money needs prices" in no_price.context["budget_form"].errors["budget_price"][0]
    assert '<details class="disclosure" id="budget" open>' in no_price.content.decode()
    none = client.post(url("job_concurrency", job), {"concurrency": 0})
    assert none.status_code == 422
    assert Endpoint.objects.get(pk=job.endpoint_id).concurrency == 8


def test_findings_count_what_was_answered(jobs: JobMaker, client):
    job = jobs.start(NOWHERE, n=10, questions=[TURNED], option_orders="both", logprobs=True)
    expand(job)
    calls = list(job.calls.order_by("id"))
    for call in calls[:16]:  # always the one that is shown first
        found = {"answer": {"shares": {"yes": 0.25, "no": 0.5}, "other": 0.0, "unresolved": 0.25}}
        Call.objects.filter(pk=call.pk).update(
            status="ok", values={"answer": call.orders["answer"][0]}, probabilities=found, latency_seconds=0.5
        )
    Job.objects.filter(pk=job.pk).update(n_ok=16)
    job = Job.objects.get(pk=job.pk)
    findings = job_findings(job)
    (labels,), (positions,) = findings.labels, findings.positions
    assert [(option.code, option.count, option.probability) for option in labels.options] == [
        ("yes", 8, 0.25),
        ("no", 8, 0.5),
    ]
    assert (labels.n, labels.n_probabilities) == (16, 16)
    assert (positions.places[0].share.value, positions.places[0].expected) == (1.0, 0.5)
    assert (findings.latency.n, findings.latency.median) == (16, 0.5)
    fragment = client.get(url("job_findings", job), headers={"HX-Request": "true"})
    assert "<html" not in text(fragment)
    assert 'hx-trigger="every 10s"' in text(fragment)
    assert "more than expected" in text(fragment)
    whole = text(client.get(url("job_findings", job)))
    assert "<html" in whole
    assert "<svg" in whole
    assert "style=" not in whole


def test_findings_look_at_the_newest_calls_only(jobs: JobMaker, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(live, "NEWEST_CALLS", 3)
    job = jobs.start(NOWHERE, n=10)
    expand(job)
    for number, call in enumerate(job.calls.order_by("id")):
        Call.objects.filter(pk=call.pk).update(status="ok", values={"answer": "yes" if number < 7 else "no"})
    Job.objects.filter(pk=job.pk).update(n_ok=10)
    job = Job.objects.select_related("instrument").get(pk=job.pk)
    with django_assert_num_queries(6):
        findings = job_findings(job)
    assert (findings.n, findings.answered, findings.partial) == (3, 10, True)
    assert [(option.code, option.count) for option in findings.labels[0].options] == [("yes", 0), ("no", 3)]


def test_errors_are_counted_by_kind_within_bounds(jobs: JobMaker, monkeypatch, client):
    job = jobs.start(NOWHERE, n=9)
    expand(job)
    ids = list(job.calls.order_by("id").values_list("pk", flat=True))
    job.calls.filter(pk__in=ids[:6]).update(status="error", problem="The server answered 500.")
    job.calls.filter(pk__in=ids[6:8]).update(status="refused", problem="No.")
    Job.objects.filter(pk=job.pk).update(n_error=6, n_refused=2)
    assert [(found.sentence, found.count) for found in live.job_problems(job)] == [
        ("The server answered 500.", 6),
        ("No.", 2),
    ]
    monkeypatch.setattr(live, "NEWEST_FAILED", 4)
    assert [found.count for found in live.job_problems(job)] == [4, 2]
    assert "The server answered 500." in text(client.get(url("job", job)))


def test_a_call_shows_where_it_comes_from(jobs: JobMaker, client):
    job = jobs.start(NOWHERE, n=2, personas=[{"country": "Peru"}])
    expand(job)
    first, second = job.calls.order_by("id")
    shares = {"answer": {"shares": {"yes": 0.9, "no": 0.05}, "other": 0.05, "unresolved": 0.0}}
    fields = {"status": "ok", "values": {"answer": "yes"}, "parse_mode": "letter", "attempts": 2}
    Call.objects.filter(pk=first.pk).update(probabilities=shares, prompt_tokens=300, completion_tokens=7, **fields)
    Call.objects.filter(pk=second.pk).update(reused_from=first, **fields)
    page = text(client.get(url("call", job, pk=first.pk)))
    assert '<td class="number">0.9000</td>' in page
    assert "300 in the prompts, 7 in the answers" in page
    assert "<dt>Read as</dt><dd>letter</dd>" in page
    assert reverse("item", args=[job.project.slug, first.item_id]) in page
    reused = text(client.get(url("call", job, pk=second.pk)))
    assert f"call {first.pk}</a> of a job, an equal request" in reused


def test_a_call_in_a_batch_says_which(jobs: JobMaker, client):
    job = jobs.start(NOWHERE, n=1)
    expand(job)
    Job.objects.filter(pk=job.pk).update(way="batch")
    batch = Batch.objects.create(job=job, status="underway", server_id="batch_7", sent_at=timezone.now())
    call = job.calls.get()
    Call.objects.filter(pk=call.pk).update(status="claimed", claimed_by=batch.key, lease_until=timezone.now())
    assert "in the batch <code>batch_7</code>, under way" in text(client.get(url("call", job, pk=call.pk)))
    assert "batch_7" in text(client.get(url("job", job)))


def test_an_embedded_model_is_named_as_such_where_it_is_chosen(jobs: JobMaker, client):
    jobs.endpoint(NOWHERE, name="Tiny", demo_model=True)
    assert "Tiny (scripted-model), a demo model" in text(client.get(reverse("job_plan", args=[jobs.project.slug])))


def test_a_held_job_says_why(jobs: JobMaker, client):
    job = jobs.start(NOWHERE)
    Job.objects.filter(pk=job.pk).update(status_reason="The server does not answer. Trying again by itself at 1.")
    Call.objects.filter(job=job).update(status="claimed", claimed_by=uuid4(), lease_until="2026-01-01T00:00Z")
    assert "The server does not answer." in text(client.get(url("job_live", job)))


def test_a_start_of_a_series_is_all_or_nothing(jobs: JobMaker, client):
    first, second = series(jobs, NOWHERE, NOWHERE)
    bad = publish_prompt(project=jobs.project, name="bad", system="", user="{{ item.nothing }}")
    second.prompts.set([bad])
    page = text(client.post(url("job_action", first, action="start"), follow=True))
    assert "there is no &quot;nothing&quot;" in page
    assert set(Job.objects.filter(series=first.series).values_list("status", flat=True)) == {"planned"}
    assert not start_job(job=Job(pk=0, project=jobs.project))
