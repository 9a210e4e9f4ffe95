"""Instruments: their versions, what annotators see of them, and their JSON."""

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from materials.presentation import item_orders, item_parts, pairs, shown_questions
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
    questionnaire = found.questionnaire
    item = item_for_preview(found)
    content = item.content if item else {}
    orders = item_orders(questionnaire, key="preview")
    sides = pairs(questionnaire, content, orders)
    context = {
        "project": project,
        "nav": "materials",
        "instrument": found,
        "item": item,
        "parts": item_parts(content, [], without=[field for pair in sides for field in pair]),
        "pairs": list(sides.values()) if item else [],
        "questions": shown_questions(questionnaire, content, orders=orders, answers={}, errors={}),
        "versions": versions(found),
        "json": json.dumps(found.questions, indent=2, ensure_ascii=False),
    }
    return render(request, "materials/instrument.html", context)
