"""Who labels: the people of a labelling project, how much each may do, and pausing them."""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from annotation.models import LabelMember, LabelProject
from annotation.refusals import RefusedError
from annotation.services.known_answers import training_marks
from projects.models import User
from projects.services import audit


class MembershipRefusedError(RefusedError):
    """The person may not label here, or no longer."""


def member_for(label_project: LabelProject, user: User) -> LabelMember:
    """The person as a member, who becomes one by beginning unless only named people may.

    Raises MembershipRefusedError for somebody who was not named, is paused or excluded, or failed the training.
    """
    if label_project.members_only:
        member = LabelMember.objects.filter(label_project=label_project, user=user).first()
        if member is None:
            raise MembershipRefusedError(
                "The researchers have chosen who works on this, and you are not among them. Ask them to add you."
            )
    else:
        member, _ = LabelMember.objects.get_or_create(label_project=label_project, user=user)
    return let_in(member, label_project)


def let_in(member: LabelMember, label_project: LabelProject) -> LabelMember:
    """The member with the labelling project as it is loaded; raises MembershipRefusedError as member_for does."""
    member.label_project = label_project
    if refusal := _refusal(member):
        raise MembershipRefusedError(refusal)
    return member


def _refusal(member: LabelMember) -> str:
    if member.status == LabelMember.Status.EXCLUDED:
        return "The researchers have ended your work on this."
    if member.status == LabelMember.Status.PAUSED:
        why = f" ({member.reason})" if member.reason else ""
        return f"The researchers have paused your work on this{why}. Your answers are kept."
    return _training_result(member) if member.is_held_back else ""


def _training_result(member: LabelMember) -> str:
    marks = [right for item in training_marks(member).values() for right in (item or {}).values()]
    mark = f"{member.label_project.pass_mark or 0:.0%}".replace("%", " %")
    return (
        f"The training items are done. {sum(marks)} of your {len(marks)} answers to them were right, and {mark} are "
        "needed, so you do not go on to the other items. The researchers can let you on all the same."
    )


def cap_of(member: LabelMember) -> int | None:
    """How many items the person may label; None for any number."""
    return member.label_project.cap if member.cap is None else member.cap


@transaction.atomic
def name_members(*, label_project: LabelProject, users: Iterable[User], by: User | None) -> int:
    """Make these people members; the number of those who were not."""
    made = [user for user in users if LabelMember.objects.get_or_create(label_project=label_project, user=user)[1]]
    if made:
        names = [user.get_username() for user in made]
        audit(
            project=label_project.project,
            user=by,
            action="labelling members",
            label_project=label_project.slug,
            added=names,
        )
    return len(made)


@transaction.atomic
def change_member(*, member: LabelMember, cap: int | None, sees_suggestions: bool, by: User | None) -> LabelMember:
    """Set how many items the person may label (None: as the project has it) and whether they see suggestions."""
    member.cap, member.sees_suggestions = cap, sees_suggestions
    member.save(update_fields=["cap", "sees_suggestions"])
    _audit(member, by, "labelling member changed", cap=cap, sees_suggestions=sees_suggestions)
    return member


@transaction.atomic
def set_member_status(*, member: LabelMember, status: str, reason: str = "", by: User | None) -> LabelMember:
    """Pause, exclude or let the person go on, and say why. Their answers and the items they hold stay as they are."""
    member.status, member.reason = LabelMember.Status(status), reason
    member.save(update_fields=["status", "reason"])
    _audit(member, by, f"labelling member {status}", reason=reason)
    return member


@transaction.atomic
def let_on(*, member: LabelMember, by: User | None) -> LabelMember:
    """Let somebody who failed the training label all the same."""
    if member.is_held_back:
        member.qualified_at = timezone.now()
        member.save(update_fields=["qualified_at"])
        _audit(member, by, "labelling member let on")
    return member


def _audit(member: LabelMember, by: User | None, action: str, **detail: object) -> None:
    label_project = member.label_project
    audit(
        project=label_project.project,
        user=by,
        action=action,
        label_project=label_project.slug,
        member=member.user.get_username(),
        **detail,
    )
