"""Instruments: their versions, what annotators and models see of them, and the form for a new version."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from materials.content import ordered
from materials.forms import InstrumentForm
from materials.item_parts import item_parts, pairs
from materials.models import Instrument
from materials.presentation import item_orders, shown_questions
from materials.previews import previews
from materials.querysets import item_for_preview, versions
from materials.question_examples import examples
from materials.question_file import questions_json
from materials.questions import span_fields, text_fields
from materials.services import publish_instrument
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project


@project_view(*READERS)
def instruments(request: MemberRequest, project: Project) -> HttpResponse:
    context = {"instruments": project.instruments.all(), "may_change": request.role in MANAGERS}
    return render(request, "materials/instruments.html", _context(project) | context)


@project_view(*READERS)
def instrument(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(project.instruments, pk=pk)
    context = _context(project) | {
        "instrument": found,
        "versions": versions(found),
        "json": questions_json(found.questions),
        "may_change": request.role in MANAGERS,
    }
    return render(request, "materials/instrument.html", context | _shown(project, found))


@project_view(*MANAGERS)
def instrument_new(request: MemberRequest, project: Project) -> HttpResponse:
    """A form that shows what it would publish; nothing is stored before "Publish version"."""
    form = InstrumentForm(request.POST if request.method == "POST" else None, initial=_initial(request, project))
    context = _context(project) | {"form": form, "examples": examples()}
    if request.method == "POST" and form.is_valid():
        draft = Instrument(project=project, **form.cleaned_data)
        if "preview" not in request.POST:
            before = project.instruments.filter(name=draft.name).count()
            made = publish_instrument(project=project, by=request.user, **form.cleaned_data)
            number = made.version
            unchanged = f"Nothing changed: version {number} of {made.name} asks these questions already."
            messages.success(request, f"{made} is published." if number > before else unchanged)
            return redirect("instrument", slug=project.slug, pk=made.pk)
        context |= {"draft": draft, **_shown(project, draft)}
    return render(request, "materials/instrument_new.html", context, status=422 if form.errors else 200)


def _shown(project: Project, instrument: Instrument) -> dict[str, Any]:
    """What annotators and models see of it, about an item that fits."""
    questionnaire = instrument.questionnaire
    item = item_for_preview(instrument)
    content = dict(ordered(item.content, item.dataset.field_order)) if item else {}
    orders = item_orders(questionnaire, key="preview")
    sides = pairs(questionnaire, content, orders)
    return {
        "item": item,
        "missing": "" if item else ", ".join(text_fields(questionnaire.questions)),
        "parts": item_parts(
            content,
            [],
            without=[field for pair in sides for field in pair],
            marked=span_fields(questionnaire.questions),
        ),
        "pairs": list(sides.values()) if item else [],
        "questions": shown_questions(questionnaire, content, orders=orders, answers={}, errors={}),
        "previews": previews(project, instrument, content) if item else [],
    }


def _initial(request: HttpRequest, project: Project) -> dict[str, str]:
    """The fields of the version that the new one starts from (?from=its id)."""
    start = request.GET.get("from", "")
    found = project.instruments.filter(pk=int(start)).first() if start.isascii() and start.isdigit() else None
    return {"title": found.title, "name": found.name, "questions": questions_json(found.questions)} if found else {}


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "materials"}
