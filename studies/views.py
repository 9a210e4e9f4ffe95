"""The researcher's pages: studies of a project, one study live, and a preview that stores nothing."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django_htmx.middleware import HtmxDetails

from materials.content import ordered
from materials.fitting import shown_fields
from materials.forms import InstrumentForm
from materials.item_parts import item_parts
from materials.models import Instrument
from materials.presentation import condition_of
from materials.querysets import item_for_preview
from materials.questions import QuestionError, span_fields, text_fields
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from studies.design import DesignError
from studies.live import live_context
from studies.models import Study
from studies.pages import ScenarioPart, is_short, screen_context
from studies.question_fields import preview_fields
from studies.services import StudyNotReadyError, close_study, open_study, preview_screens
from studies.services.publishing import design_problems, find_problems


class HtmxRequest(MemberRequest):
    """A member's request with what htmx says about it."""

    htmx: HtmxDetails


@require_GET
@project_view(*READERS)
def studies(request: MemberRequest, project: Project) -> HttpResponse:
    rows = Study.objects.for_list(project).order_by("name", "-version")
    context = {"project": project, "nav": "studies", "studies": rows, "may_manage": request.role in MANAGERS}
    return render(request, "studies/list.html", context)


@require_GET
@project_view(*READERS)
def study(request: HtmxRequest, project: Project, pk: int) -> HttpResponse:
    """The study; while people take part, htmx asks for how it stands every ten seconds."""
    found = _study(project, pk)
    is_draft = found.status == Study.Status.DRAFT
    context: dict[str, Any] = {"project": project, "nav": "studies", "study": found}
    if not is_draft:
        context |= live_context(found)
    if request.htmx and not is_draft:
        return render(request, "studies/live.html", context)
    context |= {
        "may_manage": request.role in MANAGERS,
        "problems": list(find_problems(found)) if is_draft else [],
        "faults": list(design_problems(found)) if is_draft else [],
        "link": participant_link(request, found),
    }
    return render(request, "studies/study.html", context)


def participant_link(request: HttpRequest, study: Study) -> str:
    """The address to give to the platform, which fills in the ids."""
    url = request.build_absolute_uri(reverse("participant_entry", kwargs={"key": study.key}))
    if study.platform == Study.Platform.NONE:
        return url
    names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    return f"{url}?{urlencode({name: f'{{{{%{name}%}}}}' for name in names}, safe='{}%')}"


@require_POST
@project_view(*MANAGERS)
def study_open(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    try:
        open_study(study=_study(project, pk), by=request.user)
    except StudyNotReadyError as error:
        for problem in error.problems:
            messages.error(request, problem)
    else:
        messages.success(request, "The study is open. People can enter by the link below.")
    return redirect("study", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def study_close(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    closed = close_study(study=_study(project, pk), by=request.user)
    sentence = "The study is closed. Who has started can finish." if closed else "The study was not open."
    messages.success(request, sentence)
    return redirect("study", slug=project.slug, pk=pk)


@require_GET
@project_view(*READERS)
def study_preview(request: MemberRequest, project: Project, pk: int, position: int) -> HttpResponse:
    """A page as the first participant would see it. Made anew for each view; nothing of it is ever stored."""
    found = _study(project, pk)
    try:
        screens = preview_screens(found)
    except (DesignError, QuestionError) as error:
        messages.error(request, f"There is nothing to preview yet: {error}")
        return redirect("study", slug=project.slug, pk=pk)
    if position >= len(screens):
        raise Http404
    screen = screens[position]
    screen.session.language = request.GET.get("lang", "")
    address = [
        reverse("study_preview", kwargs={"slug": project.slug, "pk": pk, "position": at}) for at in range(len(screens))
    ]
    context = screen_context(screen) | {
        "preview": True,
        "study_url": reverse("study", kwargs={"slug": project.slug, "pk": pk}),
        "previous_url": address[position - 1] if position else "",
        "next_url": address[position + 1] if position + 1 < len(screens) else "",
    }
    template = "consent" if screen.kind == screen.Kind.CONSENT else "screen"
    return render(request, f"studies/participant/{template}.html", context)


@require_GET
@project_view(*READERS)
def instrument_participant(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """An instrument's questions as participants of a study with it would see them, about an item that fits."""
    return _as_participant(request, project, get_object_or_404(project.instruments, pk=pk))


@require_POST
@project_view(*MANAGERS)
def instrument_draft(request: MemberRequest, project: Project) -> HttpResponse:
    """The same for questions that are not published yet."""
    form = InstrumentForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, str(errors[0]))
        return redirect("instrument_new", slug=project.slug)
    return _as_participant(request, project, Instrument(project=project, **form.instrument))


def _as_participant(request: MemberRequest, project: Project, instrument: Instrument) -> HttpResponse:
    questions = instrument.questionnaire.questions
    item = item_for_preview(instrument)
    content = dict(ordered(item.content, item.dataset.field_order)) if item else {}
    fields = shown_fields(item.dataset) if item else []
    in_options = set(text_fields(questions)) - set(span_fields(questions))
    parts = [part for part in item_parts(content, fields, without=in_options) if part.text]
    scenario = [ScenarioPart(part.label, part.text) for part in parts]
    context = {
        "project": project,
        "title": f"Preview: {instrument.title}",
        "instrument": instrument,
        "preview": True,
        "scenario": scenario,
        "scenario_pinned": is_short(scenario),
        "fields": list(zip(preview_fields(questions, content), map(condition_of, questions), strict=True)),
    }
    return render(request, "studies/participant/instrument.html", context)


def _study(project: Project, pk: int) -> Study:
    return get_object_or_404(Study.objects.select_related("instrument", "dataset", "project"), project=project, pk=pk)
