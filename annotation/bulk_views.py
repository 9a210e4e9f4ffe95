"""A person of a labelling project, and what a researcher does to many places at once, each confirmed on a page."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation import monitoring, services
from annotation.models import Assignment, LabelMember, LabelProject
from annotation.services import LabelProjectError
from annotation.views import find
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project, User
from responses.models import Response, SourceKind


@dataclass(frozen=True)
class Places:
    """How many places somebody, or everybody, has by state, with `answers` standing in them and known answers given."""

    held: int
    skipped: int
    submitted: int
    left_out: int
    known: int
    answers: int


@dataclass(frozen=True)
class Action:
    """What can be done: to a person or to the whole labelling project, with its consequences said beforehand."""

    title: str
    button: str
    consequences: Callable[[Places], list[str]]
    of_person: bool
    of_all: bool = False
    reason: str = ""  # the label of the field for a reason, where there is one
    danger: bool = False


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


ACTIONS = {
    "release": Action(
        "Take back items that are held",
        "Take them back",
        lambda p: [
            f"{_n(p.held, 'item')} being labelled now will be free for others.",
            "What was typed is kept as a draft. Who submits before somebody else takes the item loses nothing.",
        ],
        of_person=True,
        of_all=True,
    ),
    "skipped": Action(
        "Give skipped items to others",
        "Give them to others",
        lambda p: [
            f"{_n(p.skipped, 'skipped item')} will each be handed out again, to people who have not had them.",
            "Who skipped them and why is kept.",
        ],
        of_person=False,
        of_all=True,
    ),
    "pause": Action(
        "Pause a person",
        "Pause",
        lambda p: [
            "They get no further item and cannot submit until you let them go on.",
            f"Their {_n(p.submitted, 'labelled item')} and what they typed are kept.",
        ],
        of_person=True,
        reason="Why, in words that the person reads",
    ),
    "resume": Action(
        "Let a person go on",
        "Let them go on",
        lambda p: [
            "They may label again.",
            f"{_n(p.left_out, 'item')} whose work was left out will not come back to them."
            if p.left_out
            else "No work of theirs was left out.",
        ],
        of_person=True,
    ),
    "invalidate": Action(
        "Leave out a person’s work",
        "Exclude them and leave their work out",
        lambda p: [
            f"{_n(p.submitted, 'labelled item')}, {_n(p.skipped, 'skipped item')} and {_n(p.known, 'item')} with known "
            f"answers will be left out, and {_n(p.answers, 'answer')} with them.",
            "The answers are kept as history; tables, reports and exports of standing answers leave them out.",
            "The labelled and skipped items are handed out again to others. The person gets no further item.",
            "This is final: letting them go on later neither brings the work back nor gives them these items "
            "again. To stop them for a while, pause them.",
            "Decisions of adjudicators stay as they are.",
        ],
        of_person=True,
        reason="Why",
        danger=True,
    ),
}


def _person(label_project: LabelProject, pk: int) -> User:
    """Somebody who was named or has had an item."""
    member = LabelMember.objects.filter(label_project=label_project, user=OuterRef("pk"))
    worker = Assignment.objects.filter(label_project=label_project, annotator=OuterRef("pk"))
    found: User = get_object_or_404(User.objects.filter(Exists(member) | Exists(worker)), pk=pk)
    return found


@project_view(*READERS)
def label_person(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    """One person's counts and what can be done about their work."""
    label_project = find(project, label)
    person = next((person for person in monitoring.people(label_project) if person.pk == pk), None)
    if person is None:
        raise Http404
    context = {
        "project": project,
        "nav": "labelling",
        "label_project": label_project,
        "current": "live",
        "person": person,
        "places": _places(label_project, pk),
        "held": _held(label_project, pk),
        "respondent": project.respondents.filter(key=f"annotator:{pk}").first(),
        "left_out": _left_out(label_project, pk),
        "may_change": request.role in MANAGERS,
    }
    return render(request, "annotation/person.html", context)


def _held(label_project: LabelProject, user: int) -> Assignment | None:
    places = Assignment.objects.of(label_project, user).filter(status="leased", purpose=Assignment.Purpose.LABEL)
    return places.select_related("item").first()


def _left_out(label_project: LabelProject, user: int) -> list[tuple[str, int]]:
    """Why places of theirs were left out, with how many."""
    places = Assignment.objects.of(label_project, user).filter(status=Assignment.Status.INVALID)
    return list(places.values_list("invalid_reason").annotate(n=Count("pk")).order_by("-n"))


def _places(label_project: LabelProject, user: int | None) -> Places:
    places = Assignment.objects.filter(label_project=label_project)
    if user is not None:
        places = places.filter(annotator=user)
    ordinary = Q(purpose=Assignment.Purpose.LABEL)
    counts = places.aggregate(
        held=Count("pk", filter=ordinary & Q(status="leased")),
        skipped=Count("pk", filter=ordinary & Q(status="skipped")),
        submitted=Count("pk", filter=ordinary & Q(status="submitted")),
        left_out=Count("pk", filter=ordinary & Q(status="invalid")),
        known=Count("pk", filter=~ordinary & Q(status="submitted")),
    )
    standing = Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=places.values("pk"), superseded_by=None
    )
    return Places(**counts, answers=standing.count() if user is not None else 0)


@project_view(*MANAGERS)
def label_bulk(
    request: MemberRequest, project: Project, label: str, action: str, pk: int | None = None
) -> HttpResponse:
    """What the action will do and a button that does it; of one person where `pk` is given."""
    label_project = find(project, label)
    chosen = ACTIONS.get(action)
    if chosen is None or not (chosen.of_all if pk is None else chosen.of_person):
        raise Http404
    user = None if pk is None else _person(label_project, pk)
    reason = request.POST.get("reason", "").replace("\x00", "").strip()[:500]
    problem = ""
    if request.method == "POST":
        try:
            messages.success(request, _do(action, label_project, user, reason, by=request.user))
        except LabelProjectError as refusal:
            problem = str(refusal)
        else:
            return redirect("label_project", slug=project.slug, label=label)
    places = _places(label_project, pk)
    context = {
        "project": project,
        "nav": "labelling",
        "label_project": label_project,
        "current": "live",
        "action": chosen,
        "consequences": chosen.consequences(places),
        "person": user,
        "reason": reason,
        "errors": [{"text": problem, "target": "reason"}] if problem else [],
    }
    return render(request, "annotation/bulk.html", context, status=422 if problem else 200)


def _do(action: str, label_project: LabelProject, user: User | None, reason: str, *, by: User) -> str:
    """Do it: what was done, in a sentence."""
    if action == "release":
        done = services.release_leases(label_project=label_project, user=user, by=by)
        return f"{_n(done, 'item')} {'is' if done == 1 else 'are'} free again."
    if user is None:
        done = services.reopen_skipped(label_project=label_project, by=by)
        return f"{_n(done, 'skipped item')} {'goes' if done == 1 else 'go'} to others."
    if action == "invalidate":
        done = services.invalidate(label_project=label_project, user=user, reason=reason, by=by)
        return f"{user} is excluded, and {_n(done, 'item')} of theirs {'is' if done == 1 else 'are'} left out."
    member, _ = LabelMember.objects.get_or_create(label_project=label_project, user=user)
    member.label_project = label_project
    if action == "pause":
        services.set_member_status(member=member, status=LabelMember.Status.PAUSED, reason=reason, by=by)
        return f"{user} is paused."
    services.set_member_status(member=member, status=LabelMember.Status.ACTIVE, by=by)
    return f"{user} may label again."
