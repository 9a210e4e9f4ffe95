"""Instruments: their versions, what annotators and models see of them, and the form for a new version."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from materials.content import ordered
from materials.fitting import shown_fields
from materials.forms import JSON, InstrumentForm, initial_values
from materials.item_parts import item_parts, pairs
from materials.models import Instrument
from materials.presentation import item_orders, shown_questions
from materials.previews import previews
from materials.querysets import fields_of_no_item, item_fields, item_for_preview, versions
from materials.question_examples import examples
from materials.question_file import questions_json
from materials.questions import span_fields, text_fields
from materials.rows import with_change
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
    """A form beside what it would publish; nothing is stored before "Publish version".

    `change` says which question is added, copied, moved or removed (`materials.rows.with_change`), `write` in which way
    the questions are to be written.
    """
    if request.method != "POST":
        return _new(request, project, InstrumentForm(initial=_initial(request, project)))
    data, opened = request.POST.dict(), ""
    if "change" in data:
        data, opened = with_change(data, data["change"], InstrumentForm.base_fields)
    finished = {"change", "write", "preview"}.isdisjoint(data)
    form = InstrumentForm(data, finished=finished)
    if finished and form.is_valid():
        return _published(request, project, form)
    if "write" in data and form.is_valid():
        form = form.written_as(data["write"])
    return _new(request, project, form, opened)


def _published(request: MemberRequest, project: Project, form: InstrumentForm) -> HttpResponse:
    before = project.instruments.filter(name=form.instrument["name"]).count()
    made = publish_instrument(project=project, by=request.user, **form.instrument)
    unchanged = f"Nothing changed: version {made.version} of {made.name} asks these questions already."
    messages.success(request, f"{made} is published." if made.version > before else unchanged)
    if missing := fields_of_no_item(made):
        messages.warning(request, f"No item of this project has {' or '.join(missing)}, which its questions show.")
    return redirect("instrument", slug=project.slug, pk=made.pk)


def _new(request: HttpRequest, project: Project, form: InstrumentForm, opened: str = "") -> HttpResponse:
    """The form, with `opened` as the question that was just added or moved; only its preview for a part of the page."""
    start, fields = _start(request, project), item_fields(project)
    context = _context(project) | {
        "form": form,
        "heading": f"New version of {start.title}" if start else "New instrument",
        "opened": opened,
        "examples": examples() if form.way == JSON else [],
        "item_fields": fields,
        "field_names": list(dict.fromkeys(name for _, names in fields for name in names)),
    }
    if form.is_valid() and form.instrument["questions"]:
        draft = Instrument(project=project, **form.instrument)
        context |= {"draft": draft, **_shown(project, draft)}
    is_part = "HX-Request" in request.headers and "preview" in request.POST
    template = "materials/instrument_preview.html" if is_part else "materials/instrument_new.html"
    return render(request, template, context, status=422 if form.finished and form.errors else 200)


def _shown(project: Project, instrument: Instrument) -> dict[str, Any]:
    """What annotators and models see of it, about an item that fits."""
    questionnaire = instrument.questionnaire
    item = item_for_preview(instrument)
    content = dict(ordered(item.content, item.dataset.field_order)) if item else {}
    orders = item_orders(questionnaire, key="preview")
    sides = pairs(questionnaire, content, orders)
    return {
        "item": item,
        "missing": [] if item else fields_of_no_item(instrument),
        "needed": text_fields(questionnaire.questions),
        "parts": item_parts(
            content,
            shown_fields(item.dataset) if item else [],
            without=[field for pair in sides for field in pair],
            marked=span_fields(questionnaire.questions),
        ),
        "pairs": list(sides.values()) if item else [],
        "questions": shown_questions(questionnaire, content, orders=orders, answers={}, errors={}),
        "previews": previews(project, instrument, content) if item else [],
    }


def _initial(request: HttpRequest, project: Project) -> dict[str, Any]:
    start = _start(request, project)
    return initial_values(title=start.title, name=start.name, questions=start.questions) if start else {}


def _start(request: HttpRequest, project: Project) -> Instrument | None:
    """The version that the new one starts from (?from=its id)."""
    pk = request.GET.get("from", "")
    return project.instruments.filter(pk=int(pk)).first() if pk.isascii() and pk.isdigit() else None


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "materials"}
