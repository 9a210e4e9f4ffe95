"""Bots that label in the place of people, by the services by which people do; their answers are marked as simulated."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from django.contrib.auth.hashers import make_password
from django.db.models import Max, QuerySet

from annotation.bots import bot_answers
from annotation.models import Assignment, Decision, KnownAnswer, LabelProject
from annotation.refusals import LabelProjectError, RefusedError
from annotation.services.adjudicating import decide
from annotation.services.answering import NotValidError, submit
from annotation.services.claiming import claim_next
from annotation.services.members import MembershipRefusedError, name_members
from annotation.suggested import AUDITED, ONE_OF, RIGHT, WRONG, audit_key
from materials.models import Item
from materials.questions import NO_CONTENT, option_codes
from projects.models import User
from responses.models import Response, SourceKind

NAME = "bot-{}"
NAMES = r"^bot-\d+$"
MOST_BOTS = 100  # each is an account
SETTLED = "Settled by a bot."


class BotsSummary(NamedTuple):
    """What bots did: how many they were, places they filled, and places that are left."""

    bots: int
    filled: int
    left: int

    def __str__(self) -> str:
        return f"Simulated annotators ({self.bots}) filled {self.filled:,} places; {self.left:,} are left."


def label_with_bots(
    *,
    label_project: LabelProject,
    annotators: int | None = None,
    seed: int = 1,
    given: Mapping[str, Any] = NO_CONTENT,
    beside_people: bool = False,
) -> BotsSummary:
    """Have bots take turns at the free places until none of them gets another one.

    Without `annotators` there are as many bots as an item has places. `given`: what they answer to some questions, by
    code. Called again with the same seed, they go on where they were. Raises LabelProjectError when labelling is
    closed, for no bots or too many, when an answer is refused, and when a person has had a place here, unless
    `beside_people`.
    """
    if not label_project.is_open:
        raise LabelProjectError(f"{label_project} is closed; open it, so that bots can label.")
    if not beside_people and _places(label_project).exclude(annotator=None).exclude(annotator__in=_bots()).exists():
        raise LabelProjectError(
            f"People have begun to label {label_project}, so bots leave it to them; label_bots has --beside-people."
        )
    each = max(label_project.overlap, label_project.calibration_overlap or 0)
    wanted = each if annotators is None else annotators
    if not 1 <= wanted <= max(each, MOST_BOTS):
        raise LabelProjectError(f"Give 1 to {max(each, MOST_BOTS):,} bots; these are {wanted:,}.")
    users = [_bot(number) for number in range(1, wanted + 1)]
    if label_project.members_only:
        name_members(label_project=label_project, users=users, by=None)
    filled, working = 0, list(users)
    while working:
        for user in list(working):
            if place := _claim(label_project, user):
                _answer(place, user, seed=seed, given=given)
                filled += 1
            else:
                working.remove(user)
    left = _places(label_project).filter(status__in=[Assignment.Status.FREE, Assignment.Status.LEASED]).count()
    return BotsSummary(bots=len(users), filled=filled, left=left)


def settle_splits(*, label_project: LabelProject) -> int:
    """Have a bot decide where equally many gave either of two answers, for the first of the options: how many times.

    What somebody has decided stays.
    """
    by, decided = _bot(1), Decision.objects.filter(label_project=label_project)
    seen = decided.aggregate(latest=Max("pk"))["latest"] or 0
    settled = set(decided.values_list("item_id", "question"))
    values: dict[int, dict[str, Any]] = defaultdict(dict)
    for (pk, code), counts in _votes(label_project).items():
        most = max(counts.values())
        tied = [value for value, n in counts.items() if n == most]
        if len(tied) > 1 and (pk, code) not in settled:
            order = option_codes(label_project.instrument.questionnaire[code])
            values[pk][code] = min(tied, key=lambda value: order.index(str(value)))
    for item in Item.objects.filter(pk__in=values).order_by("position", "pk"):
        decide(label_project=label_project, item=item, values=values[item.pk], note=SETTLED, seen=seen, by=by)
    return sum(map(len, values.values()))


def _votes(label_project: LabelProject) -> Mapping[tuple[int, str], Counter[Hashable]]:
    """Standing answers to the questions of which one option is chosen, by item and question."""
    closed = [q.code for q in label_project.instrument.questionnaire.questions if q.kind in ONE_OF]
    places = _places(label_project).filter(status=Assignment.Status.SUBMITTED).values("pk")
    answers = Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=places, question__in=closed, superseded_by=None
    )
    votes: dict[tuple[int, str], Counter[Hashable]] = defaultdict(Counter)
    for item, question, value in answers.values_list("item_id", "question", "value"):
        votes[item, question][value] += 1
    return votes


def _places(label_project: LabelProject) -> QuerySet[Assignment]:
    return label_project.assignments.filter(purpose=Assignment.Purpose.LABEL)


def _bots() -> QuerySet[User]:
    """The accounts that bots have, with which nobody can log in."""
    return User.objects.filter(username__regex=NAMES, is_active=False)


def _bot(number: int) -> User:
    """Raises LabelProjectError when the account is somebody's."""
    locked = {"is_active": False, "password": make_password(None)}
    user, _ = User.objects.get_or_create(username=NAME.format(number), defaults=locked)
    if user.is_active:
        raise LabelProjectError(f"The account {user} is a person's; bots need that name, so give the person another.")
    return user


def _claim(label_project: LabelProject, user: User) -> Assignment | None:
    try:
        return claim_next(label_project, user)
    except MembershipRefusedError:  # paused, or the training was not passed
        return None


def _answer(place: Assignment, user: User, *, seed: int, given: Mapping[str, Any]) -> None:
    answers = bot_answers(
        place.label_project.instrument.questionnaire.questions,
        place.item.content,
        item=place.item.external_id,
        bot=user.username,
        seed=seed,
        known={**given, **_right(place)},
    )
    try:
        submit(place, user, answers | _verdicts(place, answers), simulated=True)
    except RefusedError as error:
        why = " ".join(error.errors.values()) if isinstance(error, NotValidError) else error
        raise LabelProjectError(f"What a bot answered on item {place.item.external_id} was refused: {why}") from error


def _right(place: Assignment) -> dict[str, Any]:
    """Bots know the known answers, so that they pass a training."""
    if place.purpose == Assignment.Purpose.LABEL:
        return {}
    known = KnownAnswer.objects.get(label_project=place.label_project, item=place.item_id)
    return {code: values[0] for code, values in known.answers.items()}


def _verdicts(place: Assignment, answers: Mapping[str, Any]) -> dict[str, str]:
    """On the suggestions that are to be called right or wrong."""
    if place.suggested_as != AUDITED:
        return {}
    return {
        audit_key(code): RIGHT if answers[code] == value else WRONG
        for code, value in place.suggested.items()
        if code in answers
    }
