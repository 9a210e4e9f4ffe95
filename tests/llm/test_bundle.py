"""A job as a file that another Concord runs again."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from llm.files.bundle import write_bundle
from llm.files.bundle_import import BundleError, import_bundle
from llm.models import Call, Endpoint, Job, Prompt
from llm.services import publish_prompt, start_job
from materials.models import Dataset, Instrument
from projects.models import Project
from tests.llm.jobs import CHOICE, SYSTEM, USER, JobMaker, counts, run_here
from tests.model_server import ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
NOBODY = "http://127.0.0.1:9/v1"
SHUFFLED = CHOICE | {"randomise": True}


@pytest.fixture
def elsewhere(db: None) -> Project:
    return Project.objects.create(name="Elsewhere", slug="elsewhere")


def bundled(job: Job, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    write_bundle(job=job, file=file, **options)
    file.seek(0)
    return file


def parts(file: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(content: dict[str, bytes]) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return file


def changed(file: io.BytesIO, part: str, /, **changes: Any) -> io.BytesIO:
    content = parts(file)
    return zipped(content | {part: json.dumps(json.loads(content[part]) | changes).encode()})


def full_job(jobs: JobMaker, server: ScriptedModelServer | str, **fields: Any) -> Job:
    """Two prompts, personas, factors and a filter, so that everything a plan has must come along."""
    factor = {"name": "tone", "levels": [{"name": "kind", "value": "Be kind."}, "none"]}
    job = jobs.plan(
        jobs.endpoint(server, requests_per_minute=900, price_per_million_in=1, price_per_million_out=2),
        n=12,
        questions=[SHUFFLED],
        personas=[{}, {"country": "Peru"}],
        factors=[factor],
        conditions_per_item=3,
        items_drawn=True,
        max_items=5,
        seed=11,
        budget_price=3,
        **fields,
    )
    job.prompts.add(publish_prompt(project=jobs.project, name="other", system=SYSTEM, user=f"Well. {USER}"))
    return Job.objects.get(pk=job.pk)


class TestRoundTrip:
    def test_the_same_calls_are_asked_in_another_project(self, jobs: JobMaker, elsewhere: Project):
        with ScriptedModelServer() as server:
            job = full_job(jobs, server)
            file = bundled(job)
            publish_prompt(project=elsewhere, name="unlike", system="", user="Shift the numbers.")
            copy = import_bundle(project=elsewhere, file=file)
            for one in (job, copy):
                start_job(job=one)
                run_here(one)
        fingerprints = [list(one.calls.order_by("pk").values_list("fingerprint", flat=True)) for one in (job, copy)]
        assert fingerprints[0] == fingerprints[1]
        assert len(set(fingerprints[0])) == 15
        assert counts(copy) == counts(job) == {"ok": 15}
        assert (copy.project, copy.name, copy.budget_price) == (elsewhere, job.name, 3)
        assert copy.dataset.items.count() == 5

    def test_a_plan_is_the_same_again(self, jobs: JobMaker, elsewhere: Project):
        job = full_job(jobs, NOBODY)
        copy = import_bundle(project=elsewhere, file=bundled(job))
        again = import_bundle(project=elsewhere, file=bundled(copy))
        assert parts(bundled(copy)) == parts(bundled(again))
        assert parts(bundled(copy))["items.jsonl"] == parts(bundled(job))["items.jsonl"]
        mine, theirs = (json.loads(parts(bundled(one))["job.json"]) for one in (job, copy))
        assert mine == theirs

    def test_what_is_there_with_the_same_content_is_used_again(self, jobs: JobMaker):
        job = full_job(jobs, NOBODY)
        before = [model.objects.count() for model in (Endpoint, Prompt, Instrument)]
        import_bundle(project=job.project, file=bundled(job))
        first = import_bundle(project=job.project, file=bundled(job))
        assert [model.objects.count() for model in (Endpoint, Prompt, Instrument)] == before
        assert first.dataset.slug == "scenarios-12-2"  # the items that are asked, not all of the original
        assert Dataset.objects.count() == 2

    def test_prompts_keep_their_order(self, jobs: JobMaker, elsewhere: Project):
        job = full_job(jobs, NOBODY)
        publish_prompt(project=elsewhere, name="other", system=SYSTEM, user=f"Well. {USER}")
        copy = import_bundle(project=elsewhere, file=bundled(job))
        assert [prompt.user for prompt in copy.prompt_list] == [prompt.user for prompt in job.prompt_list]

    def test_the_endpoint_comes_without_key_and_under_a_free_name(self, jobs: JobMaker, elsewhere: Project):
        endpoint = jobs.endpoint(NOBODY, name="ours", key="sk-12345678")
        Endpoint.objects.update(capabilities={"supports_seed": False, "json_mode": "none", "sentences": ["x"]})
        file = bundled(jobs.plan(Endpoint.objects.get(pk=endpoint.pk)))
        assert not any(b"sk-12345678" in data or b"key_" in data for data in parts(file).values())
        jobs.project = elsewhere
        jobs.endpoint("http://127.0.0.1:10/v1", name="ours")
        copy = import_bundle(project=elsewhere, file=file).endpoint
        assert (copy.name, copy.key_encrypted, copy.key_variable) == ("ours-2", "", "")
        assert copy.capabilities == {"supports_seed": False, "json_mode": "none"}

    def test_calls_come_along_when_wanted(self, jobs: JobMaker, elsewhere: Project):
        with ScriptedModelServer() as server:
            job = jobs.run(server, n=2)
        file = bundled(job, calls=True)
        calls = [json.loads(line) for line in parts(file)["calls.jsonl"].splitlines()]
        assert [call["status"] for call in calls] == ["ok", "ok"]
        import_bundle(project=elsewhere, file=file)
        assert Call.objects.count() == 2

    def test_the_demo_model_stays_marked(self, jobs: JobMaker, elsewhere: Project):
        job = jobs.plan(jobs.endpoint(NOBODY, demo_model=True))
        assert import_bundle(project=elsewhere, file=bundled(job)).endpoint.demo_model


class TestRefused:
    def refusal(self, project: Project, file: io.BytesIO) -> str:
        with pytest.raises(BundleError) as caught:
            import_bundle(project=project, file=file)
        assert not project.jobs.exists()
        assert not project.datasets.exists()
        assert not project.endpoints.exists()
        return str(caught.value)

    def test_files_that_are_none(self, jobs: JobMaker, elsewhere: Project):
        file = bundled(jobs.plan(NOBODY))
        for data in (b"", b"no zip", file.getvalue()[:-30], b"PK\x05\x06" + b"\xff" * 18):
            assert self.refusal(elsewhere, io.BytesIO(data)).startswith("This is no bundle of a job")
        assert "no bundle" in self.refusal(elsewhere, zipped({}))
        damaged = bytearray(file.getvalue())
        damaged[60:70] = b"0123456789"
        assert self.refusal(elsewhere, io.BytesIO(bytes(damaged)))
        assert "damaged" in self.refusal(elsewhere, io.BytesIO(file.getvalue()[60:]))

    def test_parts_that_do_not_belong_or_are_missing(self, jobs: JobMaker, elsewhere: Project):
        content = parts(bundled(jobs.plan(NOBODY)))
        for name in ("../../etc/passwd", "/tmp/x", "notes.txt", "sub/job.json"):
            assert "has no part" in self.refusal(elsewhere, zipped(content | {name: b"x"}))
        for name in sorted(content):
            rest = {part: data for part, data in content.items() if part != name}
            assert name in self.refusal(elsewhere, zipped(rest))
        assert "has version 2" in self.refusal(elsewhere, changed(zipped(content), "manifest.json", version=2))
        assert "'other'" in self.refusal(elsewhere, changed(zipped(content), "manifest.json", format="other"))

    def test_parts_that_are_not_what_they_should_be(self, jobs: JobMaker, elsewhere: Project):
        file = bundled(jobs.plan(NOBODY))
        content = parts(file)
        for change, sentence in (
            ({"samples": 0}, "job.json in the bundle, at samples"),
            ({"kind": "destroy"}, "job.json in the bundle, at kind"),
            ({"surplus": 1}, "job.json in the bundle, at surplus"),
            ({"personas": [{"model": "x"}]}, "at personas.0: model is what Concord itself says"),
            ({"factors": [{"name": "prompt", "levels": ["a"]}]}, "cannot be planned: The factor prompt"),
            ({"answer_mode": "guess"}, "cannot be planned"),
            ({"question_codes": ["gone"]}, "cannot be planned"),
            ({"name": "a\x00b"}, "job.json in the bundle is not JSON that can be stored"),
            ({"name": "\ud800"}, "job.json in the bundle is not JSON that can be stored"),
            ({"temperature": float("nan")}, "job.json in the bundle is not JSON that can be stored"),
        ):
            assert sentence in self.refusal(elsewhere, changed(file, "job.json", **change))
        for url in ("ftp://x", "http://169.254.169.254/v1"):
            assert "cannot be planned" in self.refusal(elsewhere, changed(file, "endpoint.json", base_url=url))
        odd = {"json_mode": "whatever"}
        assert "capabilities.json_mode" in self.refusal(elsewhere, changed(file, "endpoint.json", capabilities=odd))
        for data in (b"{", b"[" * 100_000, b"\xff", b"[1]"):
            assert "prompts.json" in self.refusal(elsewhere, zipped(content | {"prompts.json": data}))
        assert "cannot be planned" in self.refusal(elsewhere, zipped(content | {"prompts.json": b"[]"}))
        for data, sentence in ((b"{", "row 1"), (b'{"external_id": "a"}', "row 1"), (b"", "has no items")):
            assert sentence in self.refusal(elsewhere, zipped(content | {"items.jsonl": data}))
        twice = content["items.jsonl"] * 2
        assert "stands in row" in self.refusal(elsewhere, zipped(content | {"items.jsonl": twice}))

    def test_what_swells_is_not_read_to_its_end(self, jobs: JobMaker, elsewhere: Project):
        content = parts(bundled(jobs.plan(NOBODY)))
        prompts, items = (zipped(content | {name: b" " * 200_000_000}) for name in ("prompts.json", "items.jsonl"))
        tracemalloc.start()
        assert "larger than 20 MB" in self.refusal(elsewhere, prompts)
        assert "larger than an import takes" in self.refusal(elsewhere, items)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100_000_000

    def test_other_ways_of_packing(self, jobs: JobMaker, elsewhere: Project):
        content = parts(bundled(jobs.plan(NOBODY)))
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        assert "packed in a way" in self.refusal(elsewhere, file)
        file = zipped(content)
        locked = bytearray(file.getvalue())
        locked[locked.rindex(b"PK\x01\x02") + 8] |= 1
        assert "encrypted" in self.refusal(elsewhere, io.BytesIO(bytes(locked)))


def test_bundles_in_the_shell(jobs: JobMaker, elsewhere: Project, tmp_path: Path, capsys):
    job = jobs.plan(NOBODY)
    file = tmp_path / "job.zip"
    call_command("job", "bundle", str(job.pk), str(file))
    call_command("job", "import-bundle", str(file), "--project", "elsewhere")
    copy = elsewhere.jobs.get()
    assert f"Planned as job {copy.pk}, a job, at e0 (scripted-model)" in capsys.readouterr().out
    file.write_text("no")
    for arguments in ([str(file), "--project", "elsewhere"], [str(file), "--project", "nowhere"]):
        with pytest.raises(CommandError) as caught:
            call_command("job", "import-bundle", *arguments)
        assert caught.value.returncode == 2


def test_bundles_on_the_page(jobs: JobMaker, client_as, researcher):
    job = jobs.plan(NOBODY)
    address = reverse("job_bundle", kwargs={"slug": job.project.slug})
    client = client_as(researcher)
    assert address in client.get(reverse("jobs", kwargs={"slug": job.project.slug})).content.decode()
    page = client.post(address, {"file": bundled(job)}, follow=True)
    assert "a job is planned" in page.content.decode()
    assert job.project.jobs.count() == 2
    page = client.post(address, {"file": io.BytesIO(b"no")})
    assert page.status_code == 422
    assert "This is no bundle of a job" in page.content.decode()
