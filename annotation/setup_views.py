"""The researcher's pages that set a labelling project up: the new one, its settings, places and guidelines."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation import services
from annotation.forms import GuidelinesForm, LabelProjectForm, OverlapForm, SettingsForm, faults_of
from annotation.guideline_changes import changes_of, shown_examples
from annotation.models import Assignment, LabelProject
from annotation.preview import shown_item
from annotation.views import find
from materials.fitting import shown_fields
from materials.presentation import draws_sides
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.markdown import render_markdown
from projects.models import Project


def setup_context(label_project: LabelProject, current: str) -> dict[str, Any]:
    """What every page of an existing labelling project needs for its frame."""
    return {"project": label_project.project, "nav": "labelling", "label_project": label_project, "current": current}


@project_view(*MANAGERS)
def label_project_new(request: MemberRequest, project: Project) -> HttpResponse:
    """The form, and beside it the first item as annotators will see it; nothing is stored before "Create"."""
    form = LabelProjectForm(request.POST if request.method == "POST" else None, project=project)
    context = {"project": project, "nav": "labelling", "form": form}
    if "preview" in request.POST:
        form.is_valid()
        context |= _preview(form)
        template = "annotation/new_preview.html" if request.headers.get("HX-Request") else "annotation/new.html"
        return render(request, template, context)
    if request.method == "POST" and form.is_valid() and (made := _create(form, project, request)):
        return redirect("label_project", slug=project.slug, label=made.slug)
    return render(request, "annotation/new.html", context, status=422 if form.errors else 200)


def _preview(form: LabelProjectForm) -> dict[str, Any]:
    dataset, instrument = (form.cleaned_data.get(name) for name in ("dataset", "instrument"))
    item = dataset.items.order_by("position", "pk").first() if dataset else None
    if dataset is None or item is None or instrument is None:
        return {"previewed": True}
    guidelines = render_markdown(form.cleaned_data.get("guidelines", ""))
    shown = shown_item(instrument, item, form.cleaned_data.get("fields_shown") or shown_fields(dataset))
    fields = dataset.field_order or list(item.content)
    about = {"fields": fields, "draws_sides": draws_sides(instrument.questionnaire), "guidelines": guidelines}
    return {"previewed": True, "item": item, **about, **shown}


def _create(form: LabelProjectForm, project: Project, request: MemberRequest) -> LabelProject | None:
    """The labelling project, or None with its fault in the form."""
    fields = dict(form.cleaned_data)
    status = LabelProject.Status.CLOSED if "closed" in request.POST else LabelProject.Status.OPEN
    try:
        return services.create_label_project(
            project=project, by=request.user, item_fields=fields.pop("fields_shown"), status=status, **fields
        )
    except services.UnknownFieldError as error:
        form.add_error("fields_shown", str(error))
    except services.LabelProjectError as error:
        form.add_error(None, str(error))
    return None


@project_view(*MANAGERS)
def label_setup(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """What may change while people label, and what may not and why."""
    label_project = find(project, label)
    form = SettingsForm(request.POST if request.method == "POST" else None, instance=find(project, label))
    if request.method == "POST" and form.is_valid():
        try:
            services.change_settings(label_project=label_project, by=request.user, **form.cleaned_data)
        except services.LabelProjectError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The settings are saved. They hold from the next item that anybody opens.")
            return redirect("label_setup", slug=project.slug, label=label)
    context = setup_context(label_project, "setup") | {
        "form": form,
        "overlap_form": OverlapForm(initial={"overlap": label_project.overlap}),
        "without_places": services.items_without_places(label_project).count(),
        "begun": Assignment.objects.filter(label_project=label_project).exclude(status="free").exists(),
    }
    return render(request, "annotation/setup.html", context, status=422 if form.errors else 200)


@require_POST
@project_view(*MANAGERS)
def label_overlap(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    label_project = find(project, label)
    form = OverlapForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Answers an item: {faults_of(form)}")
    else:
        try:
            made = services.raise_overlap(label_project=label_project, by=request.user, **form.cleaned_data)
        except services.LabelProjectError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"{made:,} places came." if made else "Every item has that many places already.")
    return redirect("label_setup", slug=project.slug, label=label)


@require_POST
@project_view(*MANAGERS)
def label_items(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    try:
        made = services.add_items(label_project=find(project, label), by=request.user)
    except services.LabelProjectError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{made:,} item{'' if made == 1 else 's'} came to those to label.")
    return redirect("label_setup", slug=project.slug, label=label)


@project_view(*READERS)
def label_guidelines_versions(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """The latest version with its examples, a form for the next one, and what each version changed."""
    label_project = find(project, label)
    latest = label_project.current_guidelines
    text = latest.text if latest else ""
    return _guidelines_page(request, label_project, GuidelinesForm(initial={"text": text}), text)


def _guidelines_page(
    request: MemberRequest, label_project: LabelProject, form: GuidelinesForm, text: str, *, previewed: bool = False
) -> HttpResponse:
    latest = label_project.current_guidelines
    context = setup_context(label_project, "guidelines") | {
        "form": form,
        "latest": latest,
        "text": render_markdown(text),
        "previewed": previewed,
        "examples": shown_examples(label_project, latest),
        "changes": changes_of(label_project),
        "may_change": request.role in MANAGERS,
    }
    return render(request, "annotation/guidelines_versions.html", context)


@require_POST
@project_view(*MANAGERS)
def label_guidelines_publish(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """Publish the text, or with "preview" show it as people would read it."""
    label_project = find(project, label)
    latest = label_project.current_guidelines
    form = GuidelinesForm(request.POST)
    if form.is_valid() and "preview" in request.POST:
        return _guidelines_page(request, label_project, form, form.cleaned_data["text"], previewed=True)
    if form.is_valid():
        _publish(request, label_project, form.cleaned_data["text"], latest.examples if latest else [])
    return redirect("label_guidelines_versions", slug=project.slug, label=label)


@require_POST
@project_view(*MANAGERS)
def label_example_remove(request: MemberRequest, project: Project, label: str, number: int) -> HttpResponse:
    """Publish the guidelines without the example that has this number, from 1."""
    label_project = find(project, label)
    latest = label_project.current_guidelines
    if latest is None or not 1 <= number <= len(latest.examples):
        raise Http404
    _publish(request, label_project, latest.text, latest.examples[: number - 1] + latest.examples[number:])
    return redirect("label_guidelines_versions", slug=project.slug, label=label)


def _publish(request: MemberRequest, label_project: LabelProject, text: str, examples: list[Any]) -> None:
    before = label_project.current_guidelines
    try:
        made = services.publish_guidelines(label_project=label_project, text=text, examples=examples, by=request.user)
    except services.LabelProjectError as error:
        messages.error(request, str(error))
        return
    published = f"Version {made.version} of the guidelines is published."
    messages.success(request, "Nothing changed." if before and made.pk == before.pk else published)
