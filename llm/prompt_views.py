"""Prompts: the list, a version with a preview on a real item, and the form for a new version."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from llm import default_prompt, services
from llm.models import Prompt
from llm.planning import prompt_messages
from llm.prompt_forms import PromptForm
from llm.querysets import job_for_preview, latest_prompts
from llm.rendering import PromptError, template_variables
from materials.content import ordered
from materials.models import Item
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project

EXAMPLE = {"system": default_prompt.SYSTEM, "user": default_prompt.USER}


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
    """The prompt as a model would read it, for the first item of a dataset and an instrument: those that were chosen,
    else those of the newest job, else the first ones."""
    datasets = project.datasets.filter(Exists(Item.objects.filter(dataset=OuterRef("pk"))))
    instruments = project.instruments.all()
    job = job_for_preview(prompt)
    dataset = _chosen(datasets, request.GET.get("dataset", ""), job.dataset_id if job else 0)
    instrument = _chosen(instruments, request.GET.get("instrument", ""), job.instrument_id if job else 0)
    item = dataset.items.first() if dataset else None
    context: dict[str, Any] = {"datasets": datasets, "instruments": instruments, "item": item, "instrument": instrument}
    if item and instrument:
        try:
            content = dict(ordered(item.content, dataset.field_order))
            context["preview"] = prompt_messages(prompt, instrument.questionnaire.questions, content)
        except PromptError as error:
            context["fault"] = str(error)
    return context


def _chosen(rows: Iterable[Any], pk: str, otherwise: int) -> Any:
    """The row with this id, else the one with the other id, else the first one; None without rows."""
    by_pk = {str(row.pk): row for row in rows}
    return by_pk.get(pk) or by_pk.get(str(otherwise)) or next(iter(by_pk.values()), None)


def _initial(request: MemberRequest, project: Project) -> dict[str, str]:
    """The fields of the version that the new one starts from (?from=its id), or an example."""
    start = request.GET.get("from", "")
    found = project.prompts.filter(pk=int(start)).first() if start.isascii() and start.isdigit() else None
    return {"name": found.name, "system": found.system, "user": found.user} if found else EXAMPLE


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models"}
