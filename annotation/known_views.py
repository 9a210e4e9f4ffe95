"""The researcher's pages of known answers, and the page on which an item gets its right answers."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation import services
from annotation.answers import check_answers, read_form
from annotation.forms import EXAMPLE, KnownFileForm, KnownItemForm, RightForm, faults_of
from annotation.known_file import KnownFileError, read_known_answers
from annotation.models import Assignment, KnownAnswer, LabelProject
from annotation.preview import shown_item
from annotation.setup_rows import known_rows
from annotation.setup_views import setup_context
from annotation.suggestions import without_suggestion
from annotation.views import find
from materials.models import Item
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project

FAULTS_SHOWN = 100


@project_view(*MANAGERS)
def label_known(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """The known answers with how people met them, a form for a table of them, and one to choose an item."""
    label_project = find(project, label)
    upload = KnownFileForm(
        request.POST if request.method == "POST" else None, request.FILES or None, label_project=label_project
    )
    faults: list[Any] = []
    if request.method == "POST" and upload.is_valid():
        try:
            made = _take_file(request, label_project, upload.cleaned_data)
        except KnownFileError as refusal:
            faults = refusal.faults
        except services.LabelProjectError as error:
            upload.add_error(None, str(error))
        else:
            messages.success(request, f"{made} known answer{' is' if made == 1 else 's are'} there.")
            return redirect("label_known", slug=project.slug, label=label)
    known = known_rows(label_project)
    lacking = without_suggestion(label_project, [row.known.item for row in known])
    context = setup_context(label_project, "known") | {
        "known": known,
        "lacking": lacking,
        "lacking_datasets": sorted({str(item.dataset) for item in lacking}),
        "upload": upload,
        "choose": KnownItemForm(label_project=label_project),
        "codes": [question.code for question in label_project.instrument.questionnaire.questions],
        "faults": faults[:FAULTS_SHOWN],
        "faults_total": len(faults),
    }
    return render(request, "annotation/known.html", context, status=422 if faults or upload.errors else 200)


def _take_file(request: MemberRequest, label_project: LabelProject, data: dict[str, Any]) -> int:
    file = data["file"]
    known = read_known_answers(file, filename=file.name, label_project=label_project, dataset=data["dataset"])
    made = services.add_known_answers(
        label_project=label_project, known=known, purpose=data["purpose"], by=request.user
    )
    return len(made)


@project_view(*MANAGERS)
def label_known_item(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """To the page of the item with this id (?dataset=...&item=...), for a use that is named (&purpose=...) or not."""
    form = KnownItemForm(request.GET, label_project=find(project, label))
    if form.is_valid():
        page = reverse("label_right", args=[project.slug, label, form.cleaned_data["item"].pk])
        purpose = request.GET.get("purpose", "")
        return redirect(f"{page}?{urlencode({'purpose': purpose})}" if purpose else page)
    messages.error(request, faults_of(form))
    return redirect("label_known", slug=project.slug, label=label)


@require_POST
@project_view(*MANAGERS)
def label_known_remove(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    known = get_object_or_404(
        KnownAnswer.objects.select_related("item", "label_project__project"), pk=pk, label_project=find(project, label)
    )
    try:
        services.remove_known_answer(known=known, by=request.user)
    except services.LabelProjectError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The known answers of {known.item} are removed.")
    return redirect("label_known", slug=project.slug, label=label)


@project_view(*MANAGERS)
def label_right(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    """The item as annotators see it, to be answered as it should be, with why and what for."""
    label_project = find(project, label)
    item = get_object_or_404(Item.objects.select_related("dataset"), pk=pk, dataset__project=project)
    posted = request.method == "POST"
    form = RightForm(
        request.POST if posted else None,
        example=item.dataset_id == label_project.dataset_id,
        initial={"purpose": request.GET.get("purpose")},
    )
    questionnaire = label_project.instrument.questionnaire
    typed = read_form(questionnaire, request.POST) if posted else {}
    errors: dict[str, str] = {}
    if posted and form.is_valid():
        checked = check_answers(questionnaire, typed, item.content)
        # Whether an answer is known is the researcher's to say: questions may be left out.
        given = {code for code, value in typed.items() if value not in (None, "", [], {})}
        errors = {code: error for code, error in checked.errors.items() if code in given}
        right = {code: value for code, value in checked.values.items() if code in given}
        if not errors:
            try:
                page = _keep_right(request, label_project, item, right, form.cleaned_data)
                return redirect(page, slug=project.slug, label=label)
            except services.LabelProjectError as error:
                form.add_error(None, str(error))
    context = setup_context(label_project, "known") | {"item": item, "form": form}
    shown = shown_item(label_project.instrument, item, label_project.item_fields, answers=typed, errors=errors)
    return render(request, "annotation/right.html", context | shown, status=422 if form.errors or errors else 200)


def _keep_right(
    request: MemberRequest, label_project: LabelProject, item: Item, values: dict[str, Any], data: dict[str, Any]
) -> str:
    """Make the answers an example of the guidelines or known ones: the name of the page that has them."""
    if not values:
        raise services.LabelProjectError("Give the right answer of at least one question.")
    if data["purpose"] == EXAMPLE:
        latest = label_project.current_guidelines
        example = {"item": item.external_id, "answers": values, "why": data["why"]}
        made = services.publish_guidelines(
            label_project=label_project,
            text=latest.text if latest else "",
            examples=[*(latest.examples if latest else []), example],
            by=request.user,
        )
        ordinary = Assignment.objects.filter(label_project=label_project, item=item, purpose=Assignment.Purpose.LABEL)
        labelled = (
            "Somebody has begun to label its item, which stays among the items to label."
            if ordinary.exists()
            else "Its item is not among the items to label."
        )
        messages.success(request, f"Version {made.version} of the guidelines has the example. {labelled}")
        return "label_guidelines_versions"
    if field := services.lacking_field(label_project, item):
        raise services.LabelProjectError(f"The item {item} has no field {field}, which is shown with the questions.")
    known = services.NewKnown(item, {code: [value] for code, value in values.items()}, data["why"])
    services.add_known_answers(label_project=label_project, known=[known], purpose=data["purpose"], by=request.user)
    messages.success(request, f"The answers of {item} are known.")
    return "label_known"
