"""The researcher's pages of a study that runs: sessions and their screens, deletion of a person, when ids go."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from studies.models import Session, Study
from studies.running_forms import DeletionForm, RetentionForm, SessionsForm
from studies.services.people import DELETED, delete_person, delete_session, set_retention
from studies.showing import shown_screens

SESSIONS_A_PAGE = 50


@require_GET
@project_view(*READERS)
def study_sessions(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """All who entered, the last first, under their numbers."""
    found = _study(project, pk)
    form = SessionsForm(request.GET)
    sessions = Session.objects.filter(study=found, **form.chosen) if form.is_valid() else Session.objects.none()
    page = Paginator(sessions.newest_first(), SESSIONS_A_PAGE).get_page(request.GET.get("page"))
    context = {"project": project, "nav": "studies", "study": found, "form": form, "page": page}
    return render(request, "studies/all_sessions.html", context, status=422 if form.errors else 200)


@require_GET
@project_view(*READERS)
def study_session(request: MemberRequest, project: Project, pk: int, number: int) -> HttpResponse:
    """One person's screens one by one, under the session's number: nothing here says who it was."""
    found = _study(project, pk)
    sessions = Session.objects.filter(study=found).select_related("identity")
    session = get_object_or_404(sessions.prefetch_related("identity__submissions"), number=number)
    session.study = found
    context = {
        "project": project,
        "nav": "studies",
        "study": found,
        "session": session,
        "submissions": session.identity.submissions.all() if hasattr(session, "identity") else [],
        "screens": shown_screens(session),
        "may_manage": request.role in MANAGERS,
        "previous_url": _session_url(project, sessions.filter(number__lt=number).order_by("-number").first()),
        "next_url": _session_url(project, sessions.filter(number__gt=number).order_by("number").first()),
    }
    return render(request, "studies/session.html", context)


def _session_url(project: Project, session: Session | None) -> str:
    if session is None:
        return ""
    return reverse("study_session", args=[project.slug, session.study_id, session.number])


@require_http_methods(["GET", "POST"])
@project_view(*MANAGERS)
def study_delete_person(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Delete one person on their request and go on to the receipt."""
    found = _study(project, pk)
    form = DeletionForm(request.POST or None, initial={"number": request.GET.get("session", "")})
    if form.is_valid():
        by_id, number = form.cleaned_data["participant_id"], form.cleaned_data["number"]
        deleted = (
            delete_person(study=found, participant_id=by_id, by=request.user)
            if by_id
            else delete_session(study=found, number=number, by=request.user)
        )
        if deleted:
            return redirect("study_receipt", slug=project.slug, pk=pk, event=deleted.event)
        form.add_error(None, "Nobody with this id or number took part in this study, so nothing was deleted.")
    context = {
        "project": project,
        "nav": "studies",
        "study": found,
        "form": form,
        "retention": RetentionForm(initial={"retain_until": found.retain_until}),
    }
    return render(request, "studies/delete_person.html", context, status=422 if form.errors else 200)


@require_GET
@project_view(*MANAGERS)
def study_receipt(request: MemberRequest, project: Project, pk: int, event: int) -> HttpResponse:
    """What was deleted, when and by whom; it names nobody."""
    events = project.audit_events.filter(action=DELETED, detail__study=pk).select_related("user")
    context = {
        "project": project,
        "nav": "studies",
        "study": _study(project, pk),
        "event": get_object_or_404(events, pk=event),
    }
    return render(request, "studies/receipt.html", context)


@require_POST
@project_view(*MANAGERS)
def study_retention(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    found, form = _study(project, pk), RetentionForm(request.POST)
    if form.is_valid():
        set_retention(study=found, until=form.cleaned_data["retain_until"], by=request.user)
        messages.success(request, "The day is stored.")
    else:
        messages.error(request, f"The day is not stored: {form.errors['retain_until'].as_text()}")
    return redirect("study_delete_person", slug=project.slug, pk=pk)


def _study(project: Project, pk: int) -> Study:
    return get_object_or_404(Study.objects.select_related("instrument", "dataset", "project"), project=project, pk=pk)
