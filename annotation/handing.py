"""Who can be handed an item, and what is being labelled at the moment."""

from collections.abc import Mapping

from django.db.models import QuerySet

from annotation.models import Assignment, KnownAnswer, LabelMember, LabelProject
from projects.models import Role, User

WORKERS = (Role.ANNOTATOR, Role.RESEARCHER, Role.OWNER)
HAD: Mapping[str, str] = {
    Assignment.Status.LEASED: "holds this item",
    Assignment.Status.SUBMITTED: "has answered this item",
    Assignment.Status.SKIPPED: "has skipped this item",
    Assignment.Status.INVALID: "had this item before their work was left out",
}


def workers(label_project: LabelProject) -> QuerySet[User]:
    """Members of the project who may label, by name."""
    able = User.objects.filter(memberships__project=label_project.project_id, memberships__role__in=WORKERS)
    return able.order_by("username")


def candidates(label_project: LabelProject, item: int | None) -> list[tuple[User, str]]:
    """Each member of the project who may label, by name, and why they cannot get the item; "" where they can."""
    members = {member.user_id: member for member in LabelMember.objects.filter(label_project=label_project)}
    places = Assignment.objects.filter(label_project=label_project, item=item, annotator__isnull=False)
    had = dict(places.values_list("annotator", "status"))
    trained = label_project.known_answers.filter(purpose=KnownAnswer.Purpose.TRAINING).exists()
    return [
        (user, HAD[had[user.pk]] if user.pk in had else _bar(members.get(user.pk), trained=trained))
        for user in workers(label_project)
    ]


def _bar(member: LabelMember | None, *, trained: bool) -> str:
    """What keeps a person from items of any kind; `trained`: only who passed the training may label."""
    if member and member.status != LabelMember.Status.ACTIVE:
        return f"is {member.status}"
    if member and member.is_held_back:
        return "has not passed the training"
    return "has not done the training" if trained and not (member and member.qualified_at) else ""


def held_places(label_project: LabelProject) -> QuerySet[Assignment]:
    """The places that somebody has before them, by name, with item and annotator."""
    held = label_project.assignments.filter(status=Assignment.Status.LEASED, purpose=Assignment.Purpose.LABEL)
    return held.select_related("item", "annotator").order_by("annotator__username")
