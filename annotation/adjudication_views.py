"""The adjudicator's pages: the queue of disputed items, and one item with everybody's answers and the decisions."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation import adjudication, services
from annotation.answers import read_form
from annotation.models import Decision, Flag, LabelProject
from annotation.preview import shown_item
from annotation.queue_form import QueueForm
from annotation.views import find
from materials.item_parts import item_title
from materials.models import Item
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from responses.showing import value_text

PAGE = 50


@project_view(*READERS)
def label_adjudicate(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """Items, the most disputed first, by what is to be decided about them."""
    label_project = find(project, label)
    form = QueueForm(request.GET, label_project=label_project)
    number = _number(request.GET.get("page", ""), otherwise=1)
    queued, total = adjudication.queue_page(label_project, form.wanted, page=max(1, number), size=PAGE)
    page = Paginator(range(total), PAGE).get_page(number)
    context = _context(label_project, form) | {"queued": queued, "total": total, "page": page}
    return render(request, "annotation/adjudicate.html", context)


def _number(text: str, *, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else otherwise


def _context(label_project: LabelProject, form: QueueForm) -> dict[str, Any]:
    return {
        "project": label_project.project,
        "nav": "labelling",
        "label_project": label_project,
        "current": "adjudicate",
        "form": form,
        "query": form.query,
        "questions": label_project.instrument.questionnaire.questions,
    }


@project_view(*READERS)
def label_adjudicate_item(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    label_project = find(project, label)
    return _item_page(request, label_project, _item(label_project, pk))


def _item(label_project: LabelProject, pk: int) -> Item:
    places = label_project.assignments.filter(purpose="label")
    found: Item = get_object_or_404(Item.objects.filter(pk__in=places.values("item")).select_related("dataset"), pk=pk)
    return found


def _item_page(
    request: MemberRequest, label_project: LabelProject, item: Item, *, status: int = 200, **typed: Any
) -> HttpResponse:
    """With what was just typed (`answers`, `note`, `errors`, `problem`), else with the decision that stands."""
    form = QueueForm(request.GET, label_project=label_project)
    standing = adjudication.standing_decisions(label_project, item)
    latest = max(standing.values(), key=lambda decision: decision.pk, default=None)
    answers = typed.get("answers", {code: decision.value for code, decision in standing.items()})
    context = _context(label_project, form) | {
        "item": item,
        "title": item_title(item.content, label_project.item_fields),
        "given": adjudication.given_answers(label_project, item),
        "flags": Flag.objects.filter(label_project=label_project, item=item).select_related("annotator"),
        "history": _history(label_project, item),
        "latest": latest,
        "note": typed.get("note", latest.note if latest else ""),
        "problem": typed.get("problem", ""),
        "may_decide": request.role in MANAGERS,
        "names": form.cleaned_data.get("names"),
        "names_url": _names_url(label_project, item, form),
    }
    shown = shown_item(
        label_project.instrument, item, label_project.item_fields, answers=answers, errors=typed.get("errors", {})
    )
    context |= {"parts": shown["parts"], "pairs": shown["pairs"], "questions_to_decide": shown["questions"]}
    return render(request, "annotation/adjudicate_item.html", context, status=status)


def _names_url(label_project: LabelProject, item: Item, form: QueueForm) -> str:
    """The address of the same page with names where it has none, and without where it has them."""
    query = QueryDict(form.query, mutable=True)
    if not query.pop("names", None):
        query["names"] = "on"
    page = reverse("label_adjudicate_item", args=[label_project.project.slug, label_project.slug, item.pk])
    return f"{page}?{query.urlencode()}"


def _history(label_project: LabelProject, item: Item) -> list[tuple[Decision, str, str]]:
    """Every decision on the item, the latest first, with its question and its value in words."""
    questionnaire = label_project.instrument.questionnaire
    decisions = Decision.objects.filter(label_project=label_project, item=item).select_related("by").order_by("-pk")
    return [
        (
            decision,
            questionnaire[decision.question].text,
            value_text(questionnaire[decision.question], decision.value, item.content),
        )
        for decision in decisions
    ]


@require_POST
@project_view(*MANAGERS)
def label_decide(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    """Store the decision and go to the next item of the queue; what cannot be stored stays on the page."""
    label_project = find(project, label)
    item = _item(label_project, pk)
    answers = read_form(label_project.instrument.questionnaire, request.POST)
    note, seen = request.POST.get("note", ""), request.POST.get("seen", "")
    typed = {"answers": answers, "note": note}
    try:
        made = services.decide(
            label_project=label_project,
            item=item,
            values=answers,
            note=note,
            seen=_number(seen, otherwise=0),
            by=request.user,
        )
    except services.DecisionError as refusal:
        return _item_page(
            request, label_project, item, status=422, problem=str(refusal), errors=refusal.errors, **typed
        )
    except services.DecidedMeanwhileError as refusal:
        return _item_page(request, label_project, item, status=409, problem=str(refusal), **typed)
    messages.success(request, f"{item} is decided." if made else f"The decision on {item} stands as it was.")
    return _to_neighbour(request, label_project, item, back=False)


@project_view(*READERS)
def label_adjudicate_next(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    """To the item after this one in the queue, or with ?back=1 before it; at the end to the queue."""
    label_project = find(project, label)
    return _to_neighbour(request, label_project, _item(label_project, pk), back="back" in request.GET)


def _to_neighbour(request: MemberRequest, label_project: LabelProject, item: Item, *, back: bool) -> HttpResponse:
    form = QueueForm(request.GET, label_project=label_project)
    neighbour = adjudication.beside(label_project, form.wanted, item, back=back)
    names = [label_project.project.slug, label_project.slug]
    if neighbour is None:
        messages.info(request, f"That was the {'first' if back else 'last'} item of this list.")
        url = reverse("label_adjudicate", args=names)
    else:
        url = reverse("label_adjudicate_item", args=[*names, neighbour])
    return redirect(f"{url}?{form.query}" if form.query else url)
