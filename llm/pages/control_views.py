"""What a researcher does to a job: set it going, halt it, give it more. Each posts and comes back with a sentence."""

from collections.abc import Callable

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from llm import services
from llm.models import Job
from llm.pages.control_forms import BudgetForm, ConcurrencyForm
from llm.pages.job_views import PILOT_CALLS, job_page_context
from llm.planning.series import halted_pilots, series_of
from llm.prompting.rendering import PromptError
from llm.querysets import project_jobs
from llm.running.ledger import room_left
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project, User

GONE = "There is no such job any more; its plan was discarded."
OTHER_STATE = "Nothing was done: the job is in another state by now."


@require_POST
@project_view(*MANAGERS)
def job_action(request: MemberRequest, project: Project, pk: int, action: str) -> HttpResponse:
    if action not in ACTIONS:
        raise Http404
    job = project_jobs(project).filter(pk=pk).first()
    if job is None:
        return _gone(request, project)
    try:
        with transaction.atomic():
            sentence = ACTIONS[action](job, request.user)
    except (PromptError, services.JobError) as error:
        messages.error(request, str(error))
    else:
        level = messages.SUCCESS if sentence else messages.WARNING
        messages.add_message(request, level, sentence or OTHER_STATE)
    if not Job.objects.filter(pk=pk).exists():
        return redirect("jobs", slug=project.slug)
    return redirect("job", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def job_budget(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    job = project_jobs(project).filter(pk=pk).first()
    if job is None:
        return _gone(request, project)
    form = BudgetForm(request.POST, instance=job)
    if form.is_valid():
        limits = {name.removeprefix("budget_"): value for name, value in form.cleaned_data.items()}
        try:
            services.set_budget(job=job, by=request.user, **limits)
        except services.JobError as error:
            form.add_error("budget_price", str(error))
    if form.errors:
        return _again(request, project, job, budget_form=form)
    on = " Resume the job to go on." if job.status == Job.Status.PAUSED else ""
    messages.success(request, f"The budget is changed.{on}")
    return redirect("job", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def job_concurrency(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    job = project_jobs(project).filter(pk=pk).first()
    if job is None:
        return _gone(request, project)
    form = ConcurrencyForm(request.POST)
    if not form.is_valid():
        return _again(request, project, job, concurrency_form=form)
    at_once = form.cleaned_data["concurrency"]
    services.set_concurrency(endpoint=job.endpoint, concurrency=at_once, by=request.user)
    messages.success(request, f"{job.endpoint.name} gets {at_once:,} call{'' if at_once == 1 else 's'} at once.")
    return redirect("job", slug=project.slug, pk=pk)


def _gone(request: MemberRequest, project: Project) -> HttpResponse:
    messages.warning(request, GONE)
    return redirect("jobs", slug=project.slug)


def _again(request: MemberRequest, project: Project, job: Job, **forms: BudgetForm | ConcurrencyForm) -> HttpResponse:
    stored = project_jobs(project).get(pk=job.pk)  # the form has put what was typed into the other one
    context = job_page_context(request, project, stored) | forms | {"form": next(iter(forms.values()))}
    return render(request, "llm/job.html", context, status=422)


def _started(job: Job, who: User, pilot: int = 0) -> str:
    """Starts all plans of the job's series, or none when the prompt does not fit."""
    plans = [one for one in series_of(job) if services.start_job(job=one, pilot=pilot, by=who)]
    if not plans:
        return ""
    if len(plans) > 1:
        return f"The pilots of {len(plans)} jobs are started." if pilot else f"{len(plans)} jobs are started."
    return f"The pilot of {plans[0]} is started." if pilot else f"{plans[0]} is started."


def _start(job: Job, who: User) -> str:
    return _started(job, who)


def _pilot(job: Job, who: User) -> str:
    return _started(job, who, PILOT_CALLS)


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
    _check_budget(job)
    return "The job goes on." if services.resume_job(job=job, everything=True, by=who) else ""


def _resume_all(job: Job, who: User) -> str:
    going = [one for one in halted_pilots(job) if services.resume_job(job=one, everything=True, by=who)]
    return f"{len(going)} job{' goes' if len(going) == 1 else 's go'} on." if going else ""


def _resume_pilot(job: Job, who: User) -> str:
    _check_budget(job)
    return "The pilot goes on." if services.resume_job(job=job, by=who) else ""


def _check_budget(job: Job) -> None:
    """Raises JobError when the job would pause again at once."""
    if (left := room_left(job)).calls == 0:
        raise services.JobError(f"The budget of {left.limit} is used up. Raise it under Budget and speed, then resume.")


def _discard(job: Job, who: User) -> str:
    return "The plan is discarded." if services.discard_plan(job=job, by=who) else ""


def _discard_all(job: Job, who: User) -> str:
    discarded = services.discard_series(job=job, by=who)
    return f"{discarded:,} plan{' is' if discarded == 1 else 's are'} discarded." if discarded else ""


# Each says what it did, or nothing when it did nothing.
ACTIONS: dict[str, Callable[[Job, User], str]] = {
    "start": _start,
    "pilot": _pilot,
    "pause": _pause,
    "resume": _resume,
    "resume-all": _resume_all,
    "resume-pilot": _resume_pilot,
    "stop": _stop,
    "retry": _retry,
    "discard": _discard,
    "discard-all": _discard_all,
}
