"""From a job's file to its plan, which is found again when the file is planned again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction

from llm.files.jobfile import BudgetPart, JobFile, JobFileError
from llm.files.jobfile_parts import find_dataset, find_endpoints, find_instrument, find_prompts
from llm.models import Endpoint, Job, Prompt
from llm.planning.costs import prompt_tokens_each
from llm.planning.selection import planned_items
from llm.prompting.rendering import PromptError
from llm.services import JobError, plan_series, set_budget
from materials.questions import QuestionError
from projects.models import Project

# What makes a plan another plan. Its name finds it; its budget may change at any time.
PLAN_FIELDS = (
    "kind", "question_codes", "item_filter", "max_items", "items_drawn", "personas", "factors", "option_orders",
    "conditions_per_item", "samples", "seed", "temperature", "top_p", "max_tokens", "answer_mode", "answer_sentence",
    "logprobs", "max_attempts", "max_parse_attempts", "way",
)  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """The jobs of a file, one for each endpoint, and in what way they came about, as sentences."""

    jobs: list[Job]
    made: bool
    said: list[str]


def project_of(file: JobFile) -> Project:
    found = Project.objects.filter(slug=file.project).first()
    if found is None:
        what = f"there is no project {file.project}; give the slug from its address, /p/<slug>/"
        raise JobFileError([f"At project: {what}."])
    return found


@transaction.atomic
def make_endpoints(file: JobFile) -> list[Endpoint]:
    """The file's endpoints, made or changed to what it says. Raises JobFileError."""
    return find_endpoints(project_of(file), file.endpoints)


@transaction.atomic
def plan_from_file(file: JobFile, *, folder: Path) -> Planned:
    """Everything the file names and its jobs, or nothing and a JobFileError. Planning it again gives the same jobs.

    `folder`: where the files that it names are looked for. A plan that has the file's name and differs stays as it is
    and gets a new one beside it; only the file's budget is also given to the job that is there.
    """
    project = project_of(file)
    with connection.cursor() as cursor:  # two planners at once would both make it
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [f"job {file.name}", project.pk])
    dataset, said = find_dataset(project, file.dataset, folder)
    instrument = find_instrument(project, file.instrument, folder)
    prompts = find_prompts(project, file.prompts)
    endpoints = find_endpoints(project, file.endpoints)
    fields = file.plan_fields | {"dataset": dataset, "instrument": instrument}
    names = [file.name if len(endpoints) == 1 else f"{file.name} ({one.name})"[:200] for one in endpoints]
    wanted = [
        Job(project=project, name=name, endpoint=one, **fields) for name, one in zip(names, endpoints, strict=True)
    ]
    earlier = list(_series_of_name(project, names))
    for jobs in earlier:
        if _same_jobs(jobs, wanted, prompts):
            return Planned(jobs, False, [*said, *_give_budget(jobs, file.budget)])
    if earlier:
        other = ", ".join(f"{job.pk}" for job in earlier[0])
        said.append(f"The file differs from what job {other} was planned from, which stays; this is a new plan.")
    try:
        budget = {f"budget_{name}": limit for name, limit in file.budget.model_dump().items()}
        jobs = plan_series(project=project, name=file.name, endpoints=endpoints, prompts=prompts, **fields, **budget)
        for job in jobs:
            prompt_tokens_each(job)
    except (JobError, QuestionError) as error:
        raise JobFileError([str(error)]) from error
    except PromptError as error:
        raise JobFileError([f"At prompts: a prompt does not fit the items. {error}"]) from error
    return Planned(jobs, True, said)


def jobs_of_file(file: JobFile) -> list[Job]:
    """The newest jobs that were planned under the file's name, whatever it says by now. Raises JobFileError."""
    project = project_of(file)
    names = [part.name for part in file.endpoints]
    full = [file.name] if len(names) == 1 else [f"{file.name} ({name})"[:200] for name in names]
    newest = next(_series_of_name(project, full), None)
    if newest is None:
        raise JobFileError([f"The project {project.slug} has no job {file.name}; plan it first with job plan."])
    return newest


def _series_of_name(project: Project, names: Sequence[str]) -> Iterator[list[Job]]:
    """Jobs that were planned together and have just these names, in their order; the newest first."""
    found = Job.objects.filter(project=project, name__in=names).order_by("-pk")
    for series in dict.fromkeys(found.values_list("series", flat=True)):
        of_series = Job.objects.filter(series=series, project=project)
        jobs = {job.name: job for job in of_series.select_related("endpoint", "dataset", "instrument", "project")}
        if sorted(jobs) == sorted(names):
            yield [jobs[name] for name in names]


def _same_jobs(jobs: Iterable[Job], wanted: Iterable[Job], prompts: Iterable[Prompt]) -> bool:
    return all(_same(job, new, prompts) for job, new in zip(jobs, wanted, strict=True))


def _same(job: Job, wanted: Job, prompts: Iterable[Prompt]) -> bool:
    if job.endpoint_id != wanted.endpoint_id or {prompt.pk for prompt in job.prompt_list} != {p.pk for p in prompts}:
        return False
    if (job.dataset_id, job.instrument_id) != (wanted.dataset_id, wanted.instrument_id):
        return False
    if any(getattr(job, name) != getattr(wanted, name) for name in PLAN_FIELDS):
        return False
    # Items that came after the start belong to a plan of today and not to the job.
    return not planned_items(wanted).exclude(pk__in=planned_items(job).values("pk")).exists()


def _give_budget(jobs: Iterable[Job], budget: BudgetPart) -> Iterator[str]:
    for job in jobs:
        if (budget.calls, budget.tokens, budget.price) != (job.budget_calls, job.budget_tokens, job.budget_price):
            try:
                set_budget(job=job, calls=budget.calls, tokens=budget.tokens, price=budget.price)
            except JobError as error:
                raise JobFileError([f"At budget.price: {error}"]) from error
            job.refresh_from_db()
            yield f"The budget of job {job.pk} is the file's from now on."
