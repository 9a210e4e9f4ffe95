"""The page on which a researcher hands an item to a named person."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation import services
from annotation.forms import HandForm, ItemToHandForm
from annotation.handing import held_places
from annotation.models import Assignment, LabelProject
from annotation.setup_views import setup_context
from annotation.views import find
from materials.item_parts import item_title
from materials.models import Item
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project


@project_view(*MANAGERS)
def label_hand(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """A form to choose the item (?item=ID), then one of its places and who gets it (?to=their number)."""
    label_project = find(project, label)
    choose = ItemToHandForm(request.GET if "item" in request.GET else None, label_project=label_project)
    chosen = choose.is_valid()
    context = setup_context(label_project, "live") | {
        "choose": choose,
        "to": request.GET.get("to", ""),
        "found": [(item, item_title(item.content, label_project.item_fields)) for item in choose.found],
        "held": [
            {"place": place, "title": item_title(place.item.content, label_project.item_fields)}
            for place in held_places(label_project)
        ],
    }
    form = None
    if chosen:
        item = choose.cleaned_data["item"]
        form = _form(request, label_project, item)
        if request.method == "POST" and form.is_valid() and _hand_over(request, form):
            return redirect("label_project", slug=project.slug, label=label)
        title = item_title(item.content, label_project.item_fields)
        context |= {"form": form, "item": item, "title": title}
    return render(
        request, "annotation/hand.html", context, status=422 if choose.errors or (form and form.errors) else 200
    )


def _form(request: MemberRequest, label_project: LabelProject, item: Item) -> HandForm:
    places = Assignment.objects.filter(label_project=label_project, item=item, purpose=Assignment.Purpose.LABEL)
    held = list(places.filter(status=Assignment.Status.LEASED).select_related("annotator").order_by("place"))
    free = places.filter(status=Assignment.Status.FREE).order_by("place").first()
    return HandForm(
        request.POST if request.method == "POST" else None,
        label_project=label_project,
        places=[*held, *([free] if free else [])],
        initial={"to": request.GET.get("to")},
    )


def _hand_over(request: MemberRequest, form: HandForm) -> bool:
    """Whether it was done; otherwise the form says why not."""
    place, to = form.cleaned_data["place"], form.cleaned_data["to"]
    try:
        services.hand_over(seen=place, to=to, by=request.user)
    except services.LabelProjectError as refusal:
        form.add_error(None, str(refusal))
        return False
    messages.success(request, f"{to} gets the item {place.item} next.")
    return True
