"""Prompts: the list, a version with a preview on real items, what changed between versions, and a form for new ones."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from llm.models import Prompt
from llm.pages.prompt_forms import PreviewForm, PromptForm
from llm.prompting import default_prompt
from llm.prompting.prompt_preview import chosen, neighbours, rendered, sample, uses
from llm.prompting.prompt_publishing import NewerPromptError, publish_prompt
from llm.prompting.rendering import PromptError
from llm.querysets import known_countries, latest_prompts
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from projects.text_diff import Line, text_diff

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
        "may_change": request.role in MANAGERS,
    }
    context |= _shown(found, request.GET.dict())
    return render(request, "llm/prompt.html", context)


@project_view(*READERS)
def prompt_changes(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """What changed up to this version (or ?after=) since the one before it (or ?before=)."""
    found = get_object_or_404(project.prompts, pk=pk)
    versions = list(project.prompts.filter(name=found.name))
    after = _version(versions, request.GET.get("after", "")) or found
    earlier = next((version for version in versions if version.version < after.version), versions[-1])
    before = _version(versions, request.GET.get("before", "")) or earlier
    context = _context(project) | {
        "prompt": after,
        "before": before,
        "versions": versions,
        "parts": _parts(before, after),
    }
    return render(request, "llm/prompt_changes.html", context)


@project_view(*MANAGERS)
def prompt_new(request: MemberRequest, project: Project) -> HttpResponse:
    if request.method == "POST":
        form = PromptForm(request.POST, project=project)
    else:
        form = PromptForm(initial=_initial(request, project), project=project)
    context = _context(project) | {"form": form}
    if request.method == "POST" and form.is_valid():
        draft = form.draft()
        context |= _shown(draft, _wanted(request.POST.dict()))
        if "preview" not in request.POST and (saved := _published(form, draft, context["nowhere"])):
            messages.success(request, f"{saved} is published.")
            return redirect("prompt", slug=project.slug, pk=saved.pk)
        if newest := project.prompts.filter(name=draft.name).first():
            context |= {"newest": newest, "parts": _parts(newest, draft), "base": form.cleaned_data["base"]}
    return render(request, "llm/prompt_new.html", context, status=422 if form.errors else 200)


def _wanted(parameters: dict[str, str]) -> dict[str, str]:
    """What the preview is asked to show: a button may name the item."""
    item = parameters.get("preview")
    return parameters | ({"item": item} if item else {})


def _published(form: PromptForm, draft: Prompt, nowhere: str) -> Prompt | None:
    """The new version; None when there is none, and the form says why."""
    base = form.base_version()
    if nowhere and form.data.get("anyway") != nowhere:
        form.add_error(None, f"Not published yet, because nothing has {nowhere}: mend the text, or publish anyway.")
        return None
    try:
        saved = publish_prompt(project=draft.project, name=draft.name, system=draft.system, user=draft.user, base=base)
    except NewerPromptError as error:
        _tell_of_newer(form, error.newest, base)
        return None
    if saved.version == base:
        form.add_error(None, f"This is {saved} letter by letter, so there is nothing to publish.")
        return None
    return saved


def _tell_of_newer(form: PromptForm, newest: Prompt, base: int) -> None:
    """The text stays; publishing once more builds on the newest version, which the author now knows."""
    start = f"your text started from version {base}" if base else "your text did not start from it"
    form.add_error(
        None,
        f"There is {newest} by now, and {start}: publish again to make yours version {newest.version + 1}, "
        "or choose another name.",
    )
    form.data = {name: form.data[name] for name in form.data} | {"base": str(newest.pk)}


def _shown(prompt: Prompt, parameters: Mapping[str, str]) -> dict[str, Any]:
    """The names that the prompt reads; where there are items and an instrument also the chosen item as a model would
    read it, the items beside it, and the tokens of a sample."""
    choice = chosen(prompt.project, prompt, parameters)
    found = uses(prompt, choice.dataset)
    context: dict[str, Any] = {
        "choice": choice,
        "uses": found,
        "nowhere": ", ".join(str(use) for use in found if use.nowhere),
    }
    if not choice.item or not choice.instrument:
        return context
    try:
        context["preview"] = rendered(prompt, choice, choice.item)
    except PromptError as error:
        context["fault"] = str(error)
    reads_persona = any(use.path[0] == "persona" for use in found)
    context["preview_form"] = PreviewForm(choice, known_countries(prompt.project) if reads_persona else None)
    context["sample"] = sample(prompt, choice)
    context["previous"], context["next"] = neighbours(choice.item)
    return context


def _parts(before: Prompt, after: Prompt) -> list[tuple[str, list[Line], bool]]:
    """Role, changes and whether there is a text, of both templates."""
    return [
        (role, text_diff(getattr(before, role), getattr(after, role)), bool(getattr(after, role)))
        for role in ("system", "user")
    ]


def _version(versions: list[Prompt], pk: str) -> Prompt | None:
    return next((version for version in versions if str(version.pk) == pk), None)


def _initial(request: MemberRequest, project: Project) -> dict[str, Any]:
    """The fields of the version that the new one starts from (?from=its id), or an example."""
    start = request.GET.get("from", "")
    found = project.prompts.filter(pk=int(start)).first() if start.isascii() and start.isdigit() else None
    return {"name": found.name, "system": found.system, "user": found.user, "base": found.pk} if found else EXAMPLE


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models"}
