"""Instruments: their versions, what people see of them, and their JSON."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from materials.models import Instrument
from materials.previews import shown_questions, text_fields
from materials.querysets import item_for_preview, versions
from projects.access import READERS, project_view
from projects.models import Project


@project_view(*READERS)
def instruments(request: HttpRequest, project: Project) -> HttpResponse:
    context = {"project": project, "nav": "materials", "instruments": project.instruments.all()}
    return render(request, "materials/instruments.html", context)


@project_view(*READERS)
def instrument(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(project.instruments, pk=pk)
    context = _preview(project, found) | {
        "nav": "materials",
        "versions": versions(found),
        "json": json.dumps(found.questions, indent=2, ensure_ascii=False),
    }
    return render(request, "materials/instrument.html", context)


@project_view(*READERS)
def participant(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The questions in the bare shell of participants."""
    found = get_object_or_404(project.instruments, pk=pk)
    return render(request, "materials/instrument_participant.html", _preview(project, found))


def _preview(project: Project, instrument: Instrument) -> dict[str, Any]:
    item = item_for_preview(project, text_fields(instrument.questionnaire))
    return {
        "project": project,
        "instrument": instrument,
        "item": item,
        "questions": shown_questions(instrument.questionnaire, item.content if item else {}),
    }
