"""The annotator's pages. Each answers a script with the inner part only, and a plain form with a page or a redirect."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation import item_page, services
from annotation.answers import read_form
from annotation.models import Assignment, LabelMember, LabelProject
from annotation.progress import Progress, progress_of, stretch_of, training_of, why_nothing_left
from annotation.suggested import read_audits
from materials.models import kept_instrument
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Role
from projects.prepared import prepared_statements

WORKERS = (Role.ANNOTATOR, *MANAGERS)
PAGE = 50  # answers in a person's list
LONGEST = 1e6  # seconds that a page may say an item was before the person


def _label_project(user_id: int, slug: str, label: str, **_: Any) -> tuple[str, LabelProject] | None:
    found = LabelProject.objects.for_work(user_id).filter(project__slug=slug, slug=label).first()
    if found is None:
        return None
    found.instrument = kept_instrument(found.instrument_id)
    return found.role, found


def _work_view(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """A view of one labelling project for those who label. What a script sends for one person is refused to another who
    has logged in since: it stays with the page, for the person whose it is."""

    @project_view(*WORKERS, find=_label_project)
    def let_in(request: MemberRequest, label_project: LabelProject, label: str, **kwargs: Any) -> HttpResponse:
        return view(request, label_project, **kwargs)

    @never_cache
    @prepared_statements()
    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        person = request.headers.get("X-Person", "")
        if person and request.user.is_authenticated and person != str(request.user.pk):
            sentence = f"You are logged in as {request.user.get_username()} now. Log in as yourself to go on."
            return HttpResponse(sentence, status=401, content_type="text/plain; charset=utf-8")
        return let_in(request, **kwargs)

    return checked


def _wants_part(request: MemberRequest) -> bool:
    return request.headers.get("X-Part") == "work"


def _url(name: str, label_project: LabelProject, *more: int) -> str:
    return reverse(name, args=[label_project.project.slug, label_project.slug, *more])


def _context(label_project: LabelProject) -> dict[str, Any]:
    return {"project": label_project.project, "nav": "labelling", "label_project": label_project}


def _respond(
    request: MemberRequest, label_project: LabelProject, context: dict[str, Any], *, url: str, status: int = 200
) -> HttpResponse:
    context |= _context(label_project) | {"only_part": _wants_part(request)}
    if not context["only_part"] or context.get("to_read"):
        context |= item_page.guidelines_page(label_project, label_project.current_guidelines)
        context["keys"] = item_page.KEYS
    template = "annotation/work_part.html" if context["only_part"] else "annotation/work.html"
    response = render(request, template, context, status=status)
    response["X-Location"] = url
    response["Vary"] = "X-Part"
    return response


def _next(
    request: MemberRequest,
    label_project: LabelProject,
    progress: Progress | None = None,
    *,
    member: LabelMember | None = None,
    **known: Any,
) -> HttpResponse:
    """The next item, or guidelines to read before it, or the page that says why there is none.

    `member` and `known`: as for claim_next.
    """
    user = request.user
    try:
        if label_project.is_open:
            member = member or services.member_for(label_project, user)
            if member.guidelines_read < label_project.newest_guidelines:
                progress = progress or progress_of(label_project, user)
                if progress.left:
                    return _to_read(request, label_project, progress)
        place, refusal = services.claim_next(label_project, user, member=member, **known), ""
    except services.MembershipRefusedError as error:
        place, refusal = None, str(error)
    if place is not None:
        return _show(request, place, progress=progress)
    progress = progress_of(label_project, user, fresh=True)
    context = {
        "progress": progress,
        "previous": progress.last,
        "why": refusal or why_nothing_left(label_project, user),
    }
    return _respond(request, label_project, context, url=_url("label_work", label_project))


def _to_read(request: MemberRequest, label_project: LabelProject, progress: Progress) -> HttpResponse:
    context = {"progress": progress, "previous": progress.last, "to_read": True}
    return _respond(request, label_project, context, url=_url("label_work", label_project))


def _show(
    request: MemberRequest,
    place: Assignment,
    *,
    problem: str = "",
    progress: Progress | None = None,
    **known: Any,
) -> HttpResponse:
    label_project, user = place.label_project, request.user
    progress = progress or progress_of(label_project, user)
    training = place.purpose == Assignment.Purpose.TRAINING
    if training and place.status == Assignment.Status.SUBMITTED:
        context = item_page.feedback_page(place, user, services.judge(place))
    else:
        context = item_page.item_page(place, user, progress, **known)
    context |= {"progress": training_of(label_project, user) if training else progress, "problem": problem}
    url = _url("label_assignment", label_project, place.pk)
    return _respond(request, label_project, context, url=url, status=422 if problem else 200)


def _after(request: MemberRequest, label_project: LabelProject, member: LabelMember | None = None) -> HttpResponse:
    """What follows something that was finished for the first time: the next item, or now and then a break."""
    progress = progress_of(label_project, request.user)
    if not _wants_part(request):
        url = _url("label_work", label_project)
        return redirect(f"{url}?break" if _is_break(label_project, progress) else url)
    if _is_break(label_project, progress):
        return _pause(request, label_project, progress)
    return _next(request, label_project, progress, holding=False, member=member)


def _is_break(label_project: LabelProject, progress: Progress) -> bool:
    every = label_project.break_every
    return bool(every and progress.left and progress.handled and progress.handled % every == 0)


def _pause(request: MemberRequest, label_project: LabelProject, progress: Progress) -> HttpResponse:
    stretch = stretch_of(label_project, request.user)
    context = {"progress": progress, "previous": progress.last, "stretch": stretch}
    return _respond(request, label_project, context, url=f"{_url('label_work', label_project)}?break")


def _reach(request: MemberRequest, label_project: LabelProject, pk: int) -> Assignment:
    """An assignment this person holds or held, or the one they have of its item since; 404 for all others, as if they
    did not exist."""
    places, user = Assignment.objects.select_related("item"), request.user
    named = places.filter(pk=pk)
    place = (
        services.own_place(label_project, user, pk)
        or places.of(label_project, user).filter(item__in=named.values("item")).first()
        or named.reachable(label_project, user).first()
    )
    if place is None:
        raise Http404
    place.label_project = label_project
    return place


def _read(place: Assignment, data: QueryDict) -> dict[str, Any]:
    """With verdicts on a model's answers also where the place has gone to somebody who sees none."""
    questionnaire = place.label_project.instrument.questionnaire
    return read_form(questionnaire, data) | read_audits((question.code for question in questionnaire.questions), data)


@_work_view
def work(request: MemberRequest, label_project: LabelProject) -> HttpResponse:
    progress = progress_of(label_project, request.user) if "break" in request.GET else None
    if progress and progress.handled:
        return _pause(request, label_project, progress)
    return _next(request, label_project, progress)


@_work_view
def assignment(request: MemberRequest, label_project: LabelProject, pk: int) -> HttpResponse:
    place = _reach(request, label_project, pk)
    if request.method == "POST":
        return _submit(request, place)
    if place.annotator_id != request.user.pk:
        return _gone(request, place, services.NoLongerYoursError(free=place.annotator_id is None))
    return _show(request, place)


def _gone(request: MemberRequest, place: Assignment, why: services.NoLongerYoursError) -> HttpResponse:
    """On to the next item, with the reason why there is nothing to do about this one."""
    messages.warning(request, str(why))
    return _next(request, place.label_project) if _wants_part(request) else _to_work(place)


def _submit(request: MemberRequest, place: Assignment) -> HttpResponse:
    label_project, changing = place.label_project, "changing" in request.POST
    answers = _read(place, request.POST)
    following = Assignment.objects.after(place, request.user)
    try:
        key, seconds = _key(request.POST.get("key", "")), _seconds(request.POST.get("seconds", ""))
        done = services.submit(place, request.user, answers, changing=changing, key=key, seconds=seconds)
    except services.NoLongerYoursError as why:
        return _gone(request, place, why)
    except services.RefusedError as refusal:
        again = changing or isinstance(refusal, services.AlreadyAnsweredError | services.KeyReusedError)
        errors = getattr(refusal, "errors", None)
        return _show(request, place, problem=str(refusal), typed=answers, errors=errors, changing=again)
    if done.purpose == Assignment.Purpose.TRAINING:
        following = done.pk  # with the right answers
    if following is None:
        return _after(request, label_project, done.member)
    if _wants_part(request):
        return _show(request, _reach(request, label_project, following))
    return redirect(_url("label_assignment", label_project, following))


def _key(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise services.RefusedError("The key of this sending is none; reload the page and submit again.") from error


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < LONGEST else None


@require_POST
@_work_view
def draft(request: MemberRequest, label_project: LabelProject, pk: int) -> HttpResponse:
    """204 when kept; 409 with a sentence when kept but the place is somebody else's by now."""
    place = _reach(request, label_project, pk)
    if services.save_draft(place, request.user, _read(place, request.POST), changing="changing" in request.POST):
        return HttpResponse(status=204)
    why = services.NoLongerYoursError(free=place.annotator_id is None)
    return HttpResponse(str(why), status=409, content_type="text/plain; charset=utf-8")


def _note(request: MemberRequest, label_project: LabelProject, pk: int, *, kind: str) -> HttpResponse:
    """The page that asks for a few words (the fallback of the dialogs), and its answer."""
    place = _reach(request, label_project, pk)
    problem = ""
    if request.method == "POST":
        try:
            if kind == "skip":
                services.skip(place, request.user, request.POST.get("note", ""))
                return _after(request, label_project)
            services.add_flag(place, request.user, request.POST.get("note", ""))
            if _wants_part(request):
                return _show(request, place)
            return redirect(_url("label_assignment", label_project, place.pk))
        except services.NoLongerYoursError as why:
            return _gone(request, place, why)
        except services.RefusedError as refusal:
            if _wants_part(request):
                return _show(request, place, problem=str(refusal))
            problem = str(refusal)
    context = _context(label_project) | {"place": place, "kind": kind, "problem": problem}
    return render(request, "annotation/note.html", context, status=422 if problem else 200)


def _to_work(place: Assignment) -> HttpResponse:
    return redirect(_url("label_work", place.label_project))


@_work_view
def skip(request: MemberRequest, label_project: LabelProject, pk: int) -> HttpResponse:
    return _note(request, label_project, pk, kind="skip")


@_work_view
def flag(request: MemberRequest, label_project: LabelProject, pk: int) -> HttpResponse:
    return _note(request, label_project, pk, kind="flag")


@_work_view
def guidelines(request: MemberRequest, label_project: LabelProject) -> HttpResponse:
    shown = item_page.guidelines_page(label_project, label_project.current_guidelines)
    return render(request, "annotation/guidelines.html", _context(label_project) | shown)


@require_POST
@_work_view
def guidelines_read(request: MemberRequest, label_project: LabelProject, version: int) -> HttpResponse:
    read = get_object_or_404(label_project.guidelines, version=version)
    services.read_guidelines(guidelines=read, user=request.user)
    return _next(request, label_project) if _wants_part(request) else redirect(_url("label_work", label_project))


@_work_view
def own_answers(request: MemberRequest, label_project: LabelProject) -> HttpResponse:
    """What the person answered and skipped, the latest first, each a click from being changed."""
    places = Assignment.objects.of(label_project, request.user).finished().order_by("-finished_at", "-pk")
    page = Paginator(places.select_related("item"), PAGE).get_page(request.GET.get("page"))
    shown = list(page.object_list)
    for place in shown:
        place.label_project = label_project
    context = {"page": page, "answers": item_page.own_answers(shown)}
    return render(request, "annotation/work_answers.html", _context(label_project) | context)


@_work_view
def back(request: MemberRequest, label_project: LabelProject) -> HttpResponse:
    """Where logging in again in a new tab leads: it tells the tab that waits, and can be closed."""
    return render(request, "annotation/work_back.html", _context(label_project))
