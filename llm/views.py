"""Jobs: the list, planning, the page while running, and single calls."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from llm import services
from llm.forms import JobForm
from llm.models import Call, Job
from llm.planning import make_plan
from llm.querysets import job_calls, job_progress, project_jobs
from llm.rendering import PromptError
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project, User

JOBS_PER_PAGE = 50
CALLS_PER_PAGE = 100
PILOT_CALLS = 20
SEVERAL = ("question_codes", "countries", "age_groups", "genders", "prompts", "endpoints")


@project_view(*READERS)
def jobs(request: MemberRequest, project: Project) -> HttpResponse:
    page = Paginator(project_jobs(project), JOBS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "may_change": request.role in MANAGERS}
    return render(request, "llm/jobs.html", _context(project) | context)


@project_view(*MANAGERS)
def job_plan(request: MemberRequest, project: Project) -> HttpResponse:
    choosing = "choose" in request.POST
    form = JobForm(
        request.POST if request.method == "POST" and not choosing else None,
        initial=_typed(request.POST) if choosing else None,
        project=project,
    )
    if form.is_bound and form.is_valid():
        try:
            planned = services.plan_series(project=project, created_by=request.user, **form.plan())
        except services.JobError as error:
            form.add_error(None, str(error))
        else:
            return redirect("job", slug=project.slug, pk=planned[0].pk)
    context = _context(project) | {"form": form}
    return render(request, "llm/job_plan.html", context, status=422 if form.errors else 200)


@project_view(*READERS)
def job(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The plan of a job that was not started; afterwards how it goes."""
    found = get_object_or_404(project_jobs(project), pk=pk)
    context = _context(project) | {"job": found, "may_change": request.role in MANAGERS}
    if found.status != Job.Status.PLANNED:
        return render(request, "llm/job.html", context | _live(found))
    try:
        context["plan"] = make_plan(found)
    except PromptError as error:
        context["fault"] = str(error)
    return render(request, "llm/job_planned.html", context)


@project_view(*READERS)
def job_live(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The part of the job's page that changes, for htmx; it asks for itself again while the job runs."""
    found = get_object_or_404(project_jobs(project), pk=pk)
    context = {"project": project, "job": found, "may_change": request.role in MANAGERS} | _live(found)
    return render(request, "llm/job_live.html", context)


@require_POST
@project_view(*MANAGERS)
def job_action(request: MemberRequest, project: Project, pk: int, action: str) -> HttpResponse:
    found = get_object_or_404(project_jobs(project), pk=pk)
    if action not in ACTIONS:
        raise Http404
    try:
        sentence = ACTIONS[action](found, request.user)
    except PromptError as error:
        messages.error(request, str(error))
    else:
        level = messages.SUCCESS if sentence else messages.WARNING
        messages.add_message(request, level, sentence or "Nothing was done: the job is in another state by now.")
    if not Job.objects.filter(pk=pk).exists():
        return redirect("jobs", slug=project.slug)
    return redirect("job", slug=project.slug, pk=pk)


@project_view(*READERS)
def calls(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(project_jobs(project), pk=pk)
    status = request.GET.get("status", "")
    page = Paginator(job_calls(found, status), CALLS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"job": found, "page": page, "status": status, "statuses": Call.Status.choices}
    return render(request, "llm/calls.html", _context(project) | context)


@project_view(*READERS)
def call(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    related = ("job__endpoint", "item", "respondent", "condition", "reused_from")
    found = get_object_or_404(Call.objects.select_related(*related), pk=pk, job__project=project)
    return render(request, "llm/call.html", _context(project) | {"call": found, "job": found.job})


def _typed(posted: QueryDict) -> dict[str, Any]:
    """The form as it was sent to see the questions of the instrument, before anything of it is checked."""
    several = {name: posted.getlist(name) for name in SEVERAL}
    ticked = {name: name in posted for name in ("alone", "items_drawn", "logprobs")}
    return {**posted.dict(), **several, **ticked}


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models"}


def _live(job: Job) -> dict[str, Any]:
    return {"progress": job_progress(job)}


def _start(job: Job, who: User) -> str:
    return f"{job} is started." if services.start_job(job=job, by=who) else ""


def _pilot(job: Job, who: User) -> str:
    return f"The pilot of {job} is started." if services.start_job(job=job, pilot=PILOT_CALLS, by=who) else ""


def _retry(job: Job, who: User) -> str:
    again = services.retry_failed(job=job, by=who)
    return f"{again:,} call{'' if again == 1 else 's'} will be asked again." if again else ""


def _stop(job: Job, who: User) -> str:
    reason = f"Stopped by {who.get_username()}."
    return "The job is stopped." if services.stop_job(job=job, reason=reason, by=who) else ""


def _pause(job: Job, who: User) -> str:
    reason = f"Paused by {who.get_username()}."
    return "The job is paused." if services.pause_job(job=job, reason=reason, by=who) else ""


def _resume(job: Job, who: User) -> str:
    return "The job goes on." if services.resume_job(job=job, by=who) else ""


def _discard(job: Job, who: User) -> str:
    return "The plan is discarded." if services.discard_plan(job=job) else ""


# Each says what it did, or nothing when it did nothing.
ACTIONS: dict[str, Callable[[Job, User], str]] = {
    "start": _start,
    "pilot": _pilot,
    "pause": _pause,
    "resume": _resume,
    "stop": _stop,
    "retry": _retry,
    "discard": _discard,
}
