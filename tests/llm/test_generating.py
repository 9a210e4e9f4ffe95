"""What models wrote becomes a dataset that leads back to where it came from."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from llm.models import Job
from llm.running.generating import NoAnswersError, dataset_from_answers
from llm.services import plan_series, start_job
from materials.importing import ImportRefusedError
from tests.llm.jobs import JobMaker, run_here
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
REWRITE = {"kind": "text", "code": "rewritten", "text": "Rewrite it."}


def writer(body: dict) -> str:
    return json.dumps({"rewritten": f"New: {body['messages'][-1]['content'].splitlines()[0]} by {body['model']}"})


def test_answers_become_items_with_their_lineage(jobs: JobMaker):
    with ScriptedModelServer(Script(answer=writer, behaviours=["refusal"])) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=1), n=3, kind=Job.Kind.GENERATE, questions=[REWRITE])
    assert job.n_ok == 2
    made = dataset_from_answers(job=job, slug="rewrites", by=None)
    items = list(made.dataset.items.order_by("position"))
    asked = [call.item for call in job.calls.filter(status="ok").order_by("pk")]
    assert [item.external_id for item in items] == [item.external_id for item in asked]
    for item, source in zip(items, asked, strict=True):
        call = job.calls.get(item=source)
        written = f"New: {source.content['text']} by {job.endpoint.model}"
        assert item.content == source.content | {"rewritten": written, "model": job.endpoint.model}
        assert item.lineage == {
            "source": "answers to the job a job",
            "row": item.lineage["row"],
            "job": job.pk,
            "call": call.pk,
            "item": source.pk,
            "demo_model": False,
        }
    again = dataset_from_answers(job=job, slug="rewrites", by=None)
    assert (again.added, again.unchanged) == (0, 2)


def test_responses_of_many_models_are_told_apart(jobs: JobMaker):
    with ScriptedModelServer(Script(answer=writer)) as server:
        endpoints = [jobs.endpoint(server, name=name, model=f"model {name}") for name in ("one", "two")]
        template = jobs.plan(endpoints[0], n=2, questions=[REWRITE])
        planned = plan_series(
            project=jobs.project,
            name="Responses",
            endpoints=endpoints,
            prompts=template.prompt_list,
            kind=Job.Kind.GENERATE,
            dataset=template.dataset,
            instrument=template.instrument,
            personas=[{}, {"country": "Peru"}],
            samples=2,
            temperature=1,
        )
        for job in planned:
            start_job(job=job)
            run_here(job)
    made = dataset_from_answers(job=planned[1], slug="responses", by=None)
    ids = [item.external_id for item in made.dataset.items.all()]
    first = template.dataset.items.first().external_id
    assert len(set(ids)) == 2 * 2 * 2 * 2
    assert f"{first}/two/Peru/sample 2" in ids
    assert f"{first}/one/no persona/sample 1" in ids
    assert {item.content["model"] for item in made.dataset.items.all()} == {"model one", "model two"}


def test_what_makes_no_dataset_is_refused_with_a_sentence(jobs: JobMaker):
    job = jobs.start("http://127.0.0.1:9/v1", n=1, questions=[REWRITE])
    with pytest.raises(NoAnswersError, match="No call of this job is answered"):
        dataset_from_answers(job=job, slug="rewrites", by=None)
    taken = jobs.plan("http://127.0.0.1:9/v1", n=1, questions=[REWRITE | {"code": "text"}])
    with pytest.raises(NoAnswersError, match="a field text already"):
        dataset_from_answers(job=taken, slug="rewrites", by=None)
    with ScriptedModelServer(Script(answer=writer)) as server:
        answered = jobs.run(server, n=1, questions=[REWRITE], slug="c")
    with pytest.raises(ImportRefusedError):
        dataset_from_answers(job=answered, slug="no slug", by=None)


def test_a_dataset_is_made_in_the_page_and_from_the_shell(jobs: JobMaker, researcher, client_as, capsys):
    with ScriptedModelServer(Script(answer=writer)) as server:
        job = jobs.run(server, n=2, questions=[REWRITE])
    client, url = client_as(researcher), reverse("job_dataset", args=[jobs.project.slug, job.pk])
    page = client.post(url, {"dataset": "no slug"}, follow=True)
    assert "No dataset was made: " in page.content.decode()
    page = client.post(url, {"dataset": "rewrites"}, follow=True)
    assert "2 added, 0 there already." in page.content.decode()
    call_command("job", "dataset", str(job.pk), "rewrites")
    assert "rewrites: 0 added, 2 there already." in capsys.readouterr().out
    with pytest.raises(CommandError, match="No dataset was made"):
        call_command("job", "dataset", str(job.pk), "no slug")
