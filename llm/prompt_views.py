"""Prompts: the list, a version with a preview on a real item, and the form for a new version."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from llm import services
from llm.forms import PromptForm
from llm.models import Prompt
from llm.planning import preview_messages
from llm.querysets import latest_prompts, preview_item
from llm.rendering import PromptError, template_variables
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project


@project_view(*READERS)
def prompts(request: MemberRequest, project: Project) -> HttpResponse:
    context = {"prompts": latest_prompts(project), "may_change": request.role in MANAGERS}
    return render(request, "llm/prompts.html", _context(project) | context)


@project_view(*READERS)
def prompt(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(project.prompts, pk=pk)
    context = _context(project) | {
        "prompt": found,
        "versions": project.prompts.filter(name=found.name),
        "variables": sorted(template_variables(found.system) | template_variables(found.user)),
        "may_change": request.role in MANAGERS,
    }
    return render(request, "llm/prompt.html", context | _preview(request, project, found))


@project_view(*MANAGERS)
def prompt_new(request: MemberRequest, project: Project) -> HttpResponse:
    form = PromptForm(request.POST if request.method == "POST" else None, initial=_initial(request, project))
    if request.method == "POST" and form.is_valid():
        saved = services.publish_prompt(project=project, **form.cleaned_data)
        messages.success(request, f"{saved} is published.")
        return redirect("prompt", slug=project.slug, pk=saved.pk)
    context = _context(project) | {"form": form}
    return render(request, "llm/prompt_new.html", context, status=422 if form.errors else 200)


def _preview(request: MemberRequest, project: Project, prompt: Prompt) -> dict[str, Any]:
    """The prompt as a model would read it, for the first item of a dataset and the newest version of an instrument."""
    datasets, instruments = project.datasets.all(), project.instruments.all()
    chosen = request.GET.get("dataset", ""), request.GET.get("instrument", "")
    item = preview_item(project, chosen[0])
    instrument = next((one for one in instruments if str(one.pk) == chosen[1]), None) or instruments.first()
    context: dict[str, Any] = {"datasets": datasets, "instruments": instruments, "item": item, "instrument": instrument}
    if item and instrument:
        try:
            context["preview"] = preview_messages(prompt, instrument.questionnaire.questions, item.content)
        except PromptError as error:
            context["fault"] = str(error)
    return context


def _initial(request: MemberRequest, project: Project) -> dict[str, str]:
    """The fields of the version that the new one starts from (?from=its id)."""
    start = request.GET.get("from", "")
    found = project.prompts.filter(pk=int(start)).first() if start.isascii() and start.isdigit() else None
    return {"name": found.name, "system": found.system, "user": found.user} if found else {}


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models"}
