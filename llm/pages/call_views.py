"""Single calls: the list with its filters, one call in full, and two conditions side by side."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from llm.models import Batch, Call, Job
from llm.pages.call_forms import CallFilterForm, CompareForm
from llm.pages.call_pages import LAST, SEARCHED, CallFilter, CallPage, page_of_calls
from llm.pages.comparison import PAGE as PAIRS_PER_PAGE
from llm.planning.axes import axes_of, condition_words
from llm.planning.series import series_of
from llm.querysets import project_jobs
from projects.access import READERS, MemberRequest, project_view
from projects.models import Project

CURSORS = ("after", "before", "page")


@project_view(*READERS)
def calls(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    job = get_object_or_404(project_jobs(project), pk=pk)
    axes = axes_of(job)
    form = CallFilterForm(request.GET, job=job, axes=axes)
    wanted = form.wanted()
    page = page_of_calls(job, wanted, after=_number(request.GET, "after") or 0, before=_number(request.GET, "before"))
    context = {
        "job": job,
        "form": form,
        "rows": [(call, condition_words(axes, call.cell)) for call in page.calls],
        "page": page,
        "count": _count(job, wanted),
        "searched": SEARCHED,
        **_neighbours(request, page),
    }
    return render(request, "llm/calls.html", _context(project) | context, status=422 if form.errors else 200)


@project_view(*READERS)
def call(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    related = ("job__endpoint", "item", "respondent", "condition", "reused_from__job")
    found = get_object_or_404(Call.objects.select_related(*related), pk=pk, job__project=project)
    context = {
        "call": found,
        "job": found.job,
        "cell": condition_words(axes_of(found.job), found.cell),
        "batch": Batch.objects.filter(key=found.claimed_by).first() if found.claimed_by else None,
    }
    return render(request, "llm/call.html", _context(project) | context)


@project_view(*READERS)
def job_compare(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    job = get_object_or_404(project_jobs(project), pk=pk)
    form = CompareForm(request.GET or None, job=job, siblings=series_of(job))
    context = _context(project) | {"job": job, "form": form}
    if form.is_bound and form.is_valid():
        context |= _compared(request, form)
    return render(request, "llm/job_compare.html", context, status=422 if form.errors else 200)


def _compared(request: MemberRequest, form: CompareForm) -> dict[str, Any]:
    comparing, question = form.cleaned_data["comparing"], form.question_asked
    number = max(1, _number(request.GET, "page") or 1)
    pairs = comparing.pairs(form.cleaned_data["show"], number)
    found: dict[str, Any] = {
        "comparison": comparing.counts(),
        "question": question,
        "varied": bool(comparing.free),
        "pairs": pairs[:PAIRS_PER_PAGE],
        "a_words": form.words("a"),
        "b_words": form.words("b"),
    }
    if number > 1:
        found["previous_url"] = _url(request, page=number - 1)
    if len(pairs) > PAIRS_PER_PAGE:
        found["next_url"] = _url(request, page=number + 1)
    return found


def _count(job: Job, wanted: CallFilter) -> int | None:
    """How many calls there are, where the job's own counts tell; None for other filters."""
    if wanted == CallFilter():
        return job.planned_calls
    settled = wanted.status not in (Call.Status.PENDING, Call.Status.CLAIMED)
    return getattr(job, f"n_{wanted.status}") if settled and wanted == CallFilter(status=wanted.status) else None


def _neighbours(request: MemberRequest, page: CallPage) -> dict[str, str]:
    found = {}
    if page.before is not None:
        found["previous_url"] = _url(request, before=page.before)
    if page.after is not None:
        found["next_url"] = _url(request, after=page.after)
    return found


def _url(request: MemberRequest, **cursor: int) -> str:
    kept = [(name, value) for name, values in request.GET.lists() if name not in CURSORS for value in values if value]
    return "?" + urlencode([*kept, *cursor.items()])


def _number(data: QueryDict, name: str) -> int | None:
    """A cursor from the address; None when there is none that could be one."""
    text = data.get(name, "")
    return min(int(text), LAST) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models"}
