"""The annotator's pages. Each answers a script with the inner part only, and a plain form with a page or a redirect."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation import services
from annotation.answers import read_form
from annotation.models import Assignment, Draft, Flag, LabelProject
from annotation.progress import progress_of, why_nothing_left
from annotation.views import find
from materials.presentation import item_parts, pairs, shown_questions
from projects.access import MANAGERS, MemberRequest, project_view
from projects.markdown import render_markdown
from projects.models import Project, Role, User
from responses.models import SourceKind
from responses.querysets import standing_values

WORKERS = (Role.ANNOTATOR, *MANAGERS)


def _wants_part(request: MemberRequest) -> bool:
    return request.headers.get("X-Part") == "work"


def _guidelines(label_project: LabelProject) -> str:
    current = label_project.current_guidelines
    return render_markdown(current.text) if current else ""


def _url(name: str, assignment: Assignment) -> str:
    label_project = assignment.label_project
    return reverse(name, args=[label_project.project.slug, label_project.slug, assignment.pk])


def _respond(request: MemberRequest, context: dict[str, Any], *, url: str, status: int = 200) -> HttpResponse:
    template = "annotation/work_part.html" if _wants_part(request) else "annotation/work.html"
    response = render(
        request,
        template,
        context | {"only_part": _wants_part(request), "guidelines": _guidelines(context["label_project"])},
        status=status,
    )
    response["X-Location"] = url
    response["Vary"] = "X-Part"
    return response


def _next(request: MemberRequest, label_project: LabelProject) -> HttpResponse:
    """The next item, or the page that says why there is none."""
    user = request.user
    place = services.claim_next(label_project, user)
    if place is not None:
        return _show(request, place)
    context = {
        "project": label_project.project,
        "nav": "labelling",
        "label_project": label_project,
        "progress": progress_of(label_project, user, fresh=True),
        "why": why_nothing_left(label_project, user),
        "last": Assignment.objects.of(label_project, user).finished().order_by("-finished_at", "-pk").first(),
    }
    return _respond(request, context, url=reverse("label_work", args=[label_project.project.slug, label_project.slug]))


def _show(
    request: MemberRequest,
    place: Assignment,
    *,
    typed: dict[str, Any] | None = None,
    problem: str = "",
    errors: dict[str, str] | None = None,
    changing: bool | None = None,
) -> HttpResponse:
    """The item page with what is known of this person's answers: just typed, else their draft, else submitted."""
    user, label_project, item = request.user, place.label_project, place.item
    questionnaire = label_project.instrument.questionnaire
    own = place.annotator_id == user.pk  # what somebody else did with the place since must not show
    orders = place.orders if own else services.orders_for(place, user)
    submitted = own and place.status == Assignment.Status.SUBMITTED
    if typed is None:
        typed = _known_answers(place, user, submitted)
    sides = pairs(questionnaire, item.content, orders)
    context = {
        "project": label_project.project,
        "nav": "labelling",
        "label_project": label_project,
        "place": place,
        "parts": item_parts(
            item.content, label_project.item_fields, without=[field for pair in sides for field in pair]
        ),
        "pairs": list(sides.values()),
        "questions": shown_questions(questionnaire, item.content, orders=orders, answers=typed, errors=errors or {}),
        "changing": submitted if changing is None else changing,
        "problem": problem,
        "errors": [
            {"text": f"{questionnaire[code].text} {text}", "target": f"answer_{code}"}
            for code, text in (errors or {}).items()
        ],
        "flags": Flag.objects.filter(label_project=label_project, item=item, annotator=user),
        "progress": progress_of(label_project, user),
        "previous": Assignment.objects.before(place, user),
        "following": Assignment.objects.after(place, user),
    }
    return _respond(request, context, url=_url("label_assignment", place), status=422 if problem else 200)


def _known_answers(place: Assignment, user: User, submitted: bool) -> dict[str, Any]:
    draft = Draft.objects.filter(label_project=place.label_project, item=place.item, annotator=user).first()
    if draft and draft.answers:
        return draft.answers
    return standing_values(SourceKind.ASSIGNMENT, place.pk) if submitted else {}


def _reach(request: MemberRequest, label_project: LabelProject, pk: int) -> Assignment:
    """An assignment this person holds or held; 404 for all others, as if they did not exist."""
    places = Assignment.objects.for_page().reachable(label_project, request.user)
    place = places.filter(pk=pk).first()
    if place is None:
        raise Http404
    return place


@never_cache
@project_view(*WORKERS)
def work(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    return _next(request, find(project, label))


@never_cache
@project_view(*WORKERS)
def assignment(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    label_project, user = find(project, label), request.user
    place = _reach(request, label_project, pk)
    if request.method != "POST":
        if place.annotator_id != user.pk:
            messages.warning(request, str(services.NoLongerYoursError()))
            return _next(request, label_project) if _wants_part(request) else _to_work(place)
        return _show(request, place)
    answers = read_form(label_project.instrument.questionnaire, request.POST)
    changing = "changing" in request.POST
    following = Assignment.objects.after(place, user)
    try:
        services.submit(place, user, answers, changing=changing)
    except services.RefusedError as refusal:
        again = changing or isinstance(refusal, services.AlreadyAnsweredError)
        errors = getattr(refusal, "errors", None)
        return _show(request, place, typed=answers, problem=str(refusal), errors=errors, changing=again)
    if _wants_part(request):
        return (
            _show(request, _reach(request, label_project, following.pk)) if following else _next(request, label_project)
        )
    if following:
        return redirect(_url("label_assignment", _reach(request, label_project, following.pk)))
    return _to_work(place)


@require_POST
@project_view(*WORKERS)
def draft(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    """204 when kept; 409 with a sentence when kept but the place is somebody else's by now."""
    label_project = find(project, label)
    place = _reach(request, label_project, pk)
    answers = read_form(label_project.instrument.questionnaire, request.POST)
    if services.save_draft(place, request.user, answers, changing="changing" in request.POST):
        return HttpResponse(status=204)
    return HttpResponse(str(services.NoLongerYoursError()), status=409, content_type="text/plain; charset=utf-8")


def _note(request: MemberRequest, project: Project, label: str, pk: int, *, kind: str) -> HttpResponse:
    """The page that asks for a few words (the fallback of the dialogs), and its answer."""
    label_project = find(project, label)
    place = _reach(request, label_project, pk)
    problem = ""
    if request.method == "POST":
        try:
            if kind == "skip":
                services.skip(place, request.user, request.POST.get("note", ""))
                return _next(request, label_project) if _wants_part(request) else _to_work(place)
            services.add_flag(place, request.user, request.POST.get("note", ""))
            return _show(request, place) if _wants_part(request) else redirect(_url("label_assignment", place))
        except services.RefusedError as refusal:
            if _wants_part(request):
                return _show(request, place, problem=str(refusal))
            problem = str(refusal)
    context = {"project": project, "nav": "labelling", "label_project": label_project, "place": place, "kind": kind}
    return render(request, "annotation/note.html", context | {"problem": problem}, status=422 if problem else 200)


def _to_work(place: Assignment) -> HttpResponse:
    return redirect("label_work", slug=place.label_project.project.slug, label=place.label_project.slug)


@never_cache
@project_view(*WORKERS)
def skip(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    return _note(request, project, label, pk, kind="skip")


@never_cache
@project_view(*WORKERS)
def flag(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    return _note(request, project, label, pk, kind="flag")


@project_view(*WORKERS)
def guidelines(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    label_project = find(project, label)
    context = {
        "project": project,
        "nav": "labelling",
        "label_project": label_project,
        "guidelines": _guidelines(label_project),
    }
    return render(request, "annotation/guidelines.html", context)
