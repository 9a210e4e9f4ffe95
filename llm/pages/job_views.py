"""Jobs: the list, planning one, and its page before, while and after it runs."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from llm import services
from llm.models import Call, Job
from llm.pages.control_forms import BudgetForm, ConcurrencyForm
from llm.pages.job_forms import PERSONA_BOXES, JobForm, planned_as
from llm.pages.live import job_findings
from llm.planning.axes import axes_of
from llm.planning.series import halted_pilots, plan_overview, rest_after_pilot, series_of
from llm.prompting.rendering import PromptError
from llm.querysets import job_progress, known_countries, project_jobs
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project

JOBS_PER_PAGE = 50
PILOT_CALLS = 20
SEVERAL = ("question_codes", *PERSONA_BOXES, "prompts", "endpoints")
TICKS = ("alone", "items_drawn", "logprobs")


@project_view(*READERS)
def jobs(request: MemberRequest, project: Project) -> HttpResponse:
    page = Paginator(project_jobs(project), JOBS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "llm/jobs.html", _context(request, project) | {"page": page})


@project_view(*MANAGERS)
def job_plan(request: MemberRequest, project: Project) -> HttpResponse:
    """A new job, filled in like the one of ?from=; with ?change= its plans, which the new one takes the place of."""
    changed, source = _named(project, request.GET.get("change", "")), _named(project, request.GET.get("from", ""))
    if request.method == "POST" and "choose" not in request.POST:
        form = JobForm(request.POST, project=project)
    else:
        typed = _typed(request.POST) if request.POST else _copied(changed or source)
        form = JobForm(initial=typed, project=project)
    if form.is_bound and form.is_valid():
        try:
            planned = _plan(request, project, form, changed)
        except services.JobError as error:
            form.add_error(None, str(error))
        else:
            return redirect("job", slug=project.slug, pk=planned.pk)
    context = _context(request, project) | {"form": form, "changed": changed, "source": source}
    return render(request, "llm/job_plan.html", context, status=422 if form.errors else 200)


@project_view(*READERS)
def job(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The plan of a job that was not started; afterwards how it goes."""
    found = get_object_or_404(project_jobs(project), pk=pk)
    if found.status == Job.Status.PLANNED:
        return _planned(request, project, found)
    return render(request, "llm/job.html", job_page_context(request, project, found))


def job_page_context(request: MemberRequest, project: Project, job: Job) -> dict[str, Any]:
    """What the page of a started job shows, with its forms as they stand."""
    forms = {
        "budget_form": BudgetForm(instance=job),
        "concurrency_form": ConcurrencyForm(initial={"concurrency": job.endpoint.concurrency}),
    }
    return _context(request, project) | forms | _live(job) | {"siblings": series_of(job), "axes": axes_of(job)}


@project_view(*READERS)
def job_live(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The part of the job's page that changes, for htmx; it asks for itself again while the job runs."""
    found = get_object_or_404(project_jobs(project), pk=pk)
    return render(request, "llm/job_live.html", _context(request, project) | _live(found))


@project_view(*READERS)
def job_findings_page(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """What the answers look like so far: a part of the job's page for htmx, a page of its own for everybody else."""
    found = get_object_or_404(project_jobs(project), pk=pk)
    context = _context(request, project) | {"job": found, "findings": job_findings(found)}
    whole = not request.headers.get("HX-Request")
    return render(request, "llm/job_findings_page.html" if whole else "llm/job_findings.html", context)


def _planned(request: MemberRequest, project: Project, job: Job) -> HttpResponse:
    plans = sum(one.status == Job.Status.PLANNED for one in series_of(job))
    context = _context(request, project) | {
        "job": job,
        "pilot_calls": PILOT_CALLS,
        "axes": axes_of(job),
        "plans": plans,
    }
    try:
        context["overview"] = plan_overview(job)
    except PromptError as error:
        context["fault"] = str(error)
    return render(request, "llm/job_planned.html", context)


@transaction.atomic
def _plan(request: MemberRequest, project: Project, form: JobForm, changed: Job | None) -> Job:
    """The first job of the new series, after which the plans that it takes the place of are gone. Raises JobError."""
    planned = services.plan_series(project=project, created_by=request.user, **form.plan())
    if changed and not services.discard_series(job=changed, by=request.user):
        messages.warning(request, f"{changed} was started meanwhile and stays; this is a plan beside it.")
    return planned[0]


def _named(project: Project, pk: str) -> Job | None:
    known = pk.isascii() and pk.isdigit() and len(pk) < 19
    return project_jobs(project).filter(pk=int(pk)).first() if known else None


def _copied(job: Job | None) -> dict[str, Any] | None:
    """The form as the job and its series were planned: the plans of a plan, everything of a job that was started."""
    if not job:
        return None
    is_plan = job.status == Job.Status.PLANNED
    series = [one for one in series_of(job) if one.status == Job.Status.PLANNED or not is_plan]
    return planned_as(series, known_countries(job.project))


def _typed(posted: QueryDict) -> dict[str, Any]:
    """The form as it was sent to see the questions of the instrument, before anything of it is checked."""
    several = {name: posted.getlist(name) for name in SEVERAL}
    return {**posted.dict(), **several, **{name: name in posted for name in TICKS}}


def _context(request: MemberRequest, project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models", "may_change": request.role in MANAGERS}


def _live(job: Job) -> dict[str, Any]:
    """With a pilot that is over: what the rest would take, and how many `pilots` of the series wait. `pilot_left`: it
    was halted before its end."""
    halted = job.pilot and job.status != Job.Status.RUNNING
    pilot_left = halted and job.calls.filter(status=Call.Status.PENDING).exists()
    rest = rest_after_pilot(job) if halted and not pilot_left else None
    pilots = halted_pilots(job).count() if rest else 0
    return {"job": job, "progress": job_progress(job), "rest": rest, "pilot_left": pilot_left, "pilots": pilots}
