"""What the tests of jobs share: a planned job at a scripted server, and running it here as a worker would."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from django.db import connections

from llm.models import Endpoint, Job
from llm.services import plan_job, publish_prompt, save_endpoint, start_job
from llm.tasks import run_shard
from materials.models import Dataset, Instrument
from projects.models import Project
from tests.model_server import MODEL, ScriptedModelServer

CHOICE = {
    "kind": "choice",
    "code": "answer",
    "text": "Is this usual?",
    "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
}
SYSTEM = "{% if persona %}You are from {{ persona.country }}.{% endif %}"
USER = (
    "{{ item.text }}\n{% for q in questions %}{{ q.text }}\n"
    "{% for o in q.options %}{{ o.letter }}. {{ o.text }}\n{% endfor %}{% endfor %}{{ answer_format }}"
)


class JobMaker:
    """Plans and starts jobs in one project; every argument has a default that a test can replace."""

    def __init__(
        self, project: Project, dataset: Callable[..., Dataset], instrument: Callable[..., Instrument]
    ) -> None:
        self.project, self._dataset, self._instrument = project, dataset, instrument
        self._datasets: dict[tuple[int, str], Dataset] = {}

    def endpoint(self, server: ScriptedModelServer | str, **fields: Any) -> Endpoint:
        base_url = server if isinstance(server, str) else server.base_url
        # A busy machine must not look like a server that does not answer, for which a job would wait.
        given = {"name": f"e{self.project.endpoints.count()}", "model": MODEL, "timeout_seconds": 20, "concurrency": 8}
        return save_endpoint(project=self.project, base_url=base_url, **given | fields)

    def dataset(self, n: int, slug: str = "scenarios") -> Dataset:
        if (n, slug) not in self._datasets:
            self._datasets[n, slug] = self._dataset(self.project, n=n, slug=f"{slug}-{n}")
        return self._datasets[n, slug]

    def plan(
        self,
        server: ScriptedModelServer | str | Endpoint,
        *,
        n: int = 5,
        questions: list[Mapping[str, Any]] | None = None,
        slug: str = "scenarios",
        user: str = USER,
        **fields: Any,
    ) -> Job:
        prompt = publish_prompt(project=self.project, name="ask", system=SYSTEM, user=user)
        return plan_job(
            project=self.project,
            name="a job",
            endpoint=server if isinstance(server, Endpoint) else self.endpoint(server),
            prompts=[prompt],
            instrument=self._instrument(self.project, questions=questions or [CHOICE]),
            **{"kind": Job.Kind.SIMULATE, "dataset": fields.get("dataset") or self.dataset(n, slug)} | fields,
        )

    def start(self, server: ScriptedModelServer | str | Endpoint, **fields: Any) -> Job:
        job = self.plan(server, **fields)
        start_job(job=job)
        job.refresh_from_db()
        return job

    def run(self, server: ScriptedModelServer | str | Endpoint, **fields: Any) -> Job:
        job = self.start(server, **fields)
        run_here(job)
        return job


def run_here(job: Job) -> None:
    """Do what a worker does with the job's message, in this thread."""
    run_shard(job.pk)
    job.refresh_from_db()


def counts(job: Job) -> dict[str, int]:
    """The job's calls by status, without statuses that none has."""
    return dict(Counter(job.calls.values_list("status", flat=True)))


def in_thread(work: Callable[[], object]) -> Callable[[], None]:
    """The work for a thread of its own, with its own database connection closed afterwards."""

    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    return run
