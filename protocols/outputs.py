"""What stages made: where it is, how far it is, and whether those at work on it are through."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum
from django.urls import reverse

from annotation.models import Assignment, LabelProject
from annotation.querysets import simulated_annotators
from evaluation.models import Report
from llm.models import Job
from materials.models import Dataset
from projects.models import Project
from studies.models import Session, Study

# Counts of a job's calls that ended without an answer, in words.
WITHOUT_ANSWER = {
    "n_unparsed": "could not be read",
    "n_truncated": "cut off",
    "n_refused": "refused",
    "n_error": "failed",
}


@dataclass(frozen=True, slots=True)
class Output:
    """A thing that a stage made. `over`: nobody is expected to add to it. `badge`: a kind of components/badge.html."""

    noun: str
    name: str
    url: str
    state: str
    over: bool = True
    badge: str = ""


def outputs_of(project: Project, outputs: Mapping[str, Any]) -> list[Output]:
    """The things that outputs name, in their order; what was deleted since is left out. Costs a query or two each."""
    return [output for noun, identifier in things(outputs) for output in READERS[noun](project, identifier)]


def things(outputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The noun and the identifier of each thing that outputs name, in their order."""
    for key, value in outputs.items():
        for identifier in value if isinstance(value, list) else [value]:
            yield from ((noun, identifier) for noun in READERS if key == noun or key.startswith(f"{noun}_"))


def is_over(project: Project, outputs: Mapping[str, Any]) -> bool:
    """Whether models and people are through with all of it."""
    return all(output.over for output in outputs_of(project, outputs))


def _dataset(project: Project, slug: str) -> Iterator[Output]:
    for dataset in Dataset.objects.filter(project=project, slug=slug).annotate(n=Count("items")):
        yield Output("Dataset", dataset.name, reverse("dataset", args=[project.slug, slug]), f"{dataset.n:,} items")


def _table(project: Project, slug: str) -> Iterator[Output]:
    for dataset in Dataset.objects.filter(project=project, slug=slug).annotate(n=Count("items")):
        yield Output("Table", dataset.name, reverse("protocol_table", args=[project.slug, slug]), f"{dataset.n:,} rows")


def _job(project: Project, pk: int) -> Iterator[Output]:
    for job in Job.objects.filter(project=project, pk=pk).select_related("endpoint"):
        state = f"{job.get_status_display().lower()}, {job.settled:,} of {job.planned_calls:,} calls"
        over = job.status in (Job.Status.DONE, Job.Status.STOPPED)
        badge = "demo-model" if job.endpoint.demo_model else ""
        yield Output("Model job", job.name, reverse("job", args=[project.slug, pk]), state, over, badge)


def _label_project(project: Project, slug: str) -> Iterator[Output]:
    waiting = Q(assignments__status__in=[Assignment.Status.FREE, Assignment.Status.LEASED])
    found = LabelProject.objects.filter(project=project, slug=slug)
    for one in found.annotate(places=Count("assignments"), left=Count("assignments", filter=waiting)):
        state = f"{one.places - one.left:,} of {one.places:,} places labelled"
        over = not one.left or one.status == LabelProject.Status.CLOSED
        by_bots = one.assignments.filter(annotator__in=simulated_annotators(project.pk)).exists()
        url = reverse("label_project", args=[project.slug, slug])
        yield Output("Labelling", one.name, url, state, over, "simulated" if by_bots else "")


def _study(project: Project, pk: int) -> Iterator[Output]:
    for study in Study.objects.filter(project=project, pk=pk):
        completed = Session.objects.counted().filter(study=study, status=Session.Status.COMPLETED)
        state = f"{study.get_status_display().lower()}, {completed.count():,} completed"
        over = study.status == Study.Status.CLOSED
        badge = "simulated" if completed.filter(simulated=True).exists() else ""
        yield Output("Study", study.name, reverse("study", args=[project.slug, pk]), state, over, badge)


def _report(project: Project, pk: int) -> Iterator[Output]:
    for report in Report.objects.filter(project=project, pk=pk):
        over = report.status != Report.Status.PENDING
        url = reverse("report", args=[project.slug, pk])
        yield Output("Report", report.title, url, report.get_status_display().lower(), over)


READERS: dict[str, Callable[[Project, Any], Iterator[Output]]] = {
    "dataset": _dataset,
    "table": _table,
    "job": _job,
    "label_project": _label_project,
    "study": _study,
    "report": _report,
}


def finished_jobs(project: Project, pks: Sequence[int]) -> tuple[int, int, dict[str, int]]:
    """Of these jobs: calls planned, calls answered, and why the others were not, by outcome in words."""
    sums = Job.objects.filter(project=project, pk__in=pks).aggregate(
        **{name: Sum(name, default=0) for name in ("planned_calls", "n_ok", *WITHOUT_ANSWER)}
    )
    why = {words: sums[name] for name, words in WITHOUT_ANSWER.items() if sums[name]}
    left = sums["planned_calls"] - sums["n_ok"] - sum(why.values())
    return sums["planned_calls"], sums["n_ok"], why | ({"not asked": left} if left else {})
