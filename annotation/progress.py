"""How far an annotator is, how fast they go, and why there is nothing left for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.models import Assignment, KnownAnswer, LabelProject
from annotation.services.claiming import labelled
from annotation.services.known_answers import CHECKS, checks_due
from annotation.services.members import MembershipRefusedError, cap_of, member_for
from projects.models import User

PACE_OVER = 20  # the latest submissions that the pace is taken from
PACE_FROM = 3  # submissions; the first items are read slower, and one says little
PAUSE = 300  # seconds; whoever takes longer was away
ADDED_AFTER = 10  # submissions after which the counts that are kept are brought up to them
COUNT_STANDS = 120  # seconds at least; counting what is left for every answer would cost more than the answer
STANDS_FOR_AN_ITEM = 0.01  # seconds, where many are left; by then others have taken a few in a hundred of them


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of items for one annotator; `pace` is the median seconds an item took lately, None before the third.

    Items that took longer than a pause do not count for the pace. Items with known answers count as all others do, for
    what is left in the number that is to be expected; the training is counted apart. `last` is the address of what the
    person finished last.
    """

    done: int
    skipped: int
    left: int
    pace: float | None
    last: int | None = None
    training: bool = False

    @property
    def handled(self) -> int:
        return self.done + self.skipped

    @property
    def total(self) -> int:
        return self.handled + self.left

    @property
    def time_left(self) -> str:
        """In words, for example "4 min"; empty while nothing is known or left."""
        if self.pace is None or not self.left:
            return ""
        minutes = self.pace * self.left / 60
        if minutes < 1:
            return "less than a minute"
        return f"about {minutes:.0f} min" if minutes < 90 else f"about {minutes / 60:.0f} h"

    @property
    def pace_words(self) -> str:
        if self.pace is None:
            return ""
        return f"{self.pace:.0f} s an item" if self.pace < 90 else f"{self.pace / 60:.0f} min an item"


class Finished(NamedTuple):
    """What the pace and the counts need to know of a place that was submitted or skipped."""

    pk: int
    status: str
    purpose: str
    opened_at: datetime | None
    at: datetime


class Counted(NamedTuple):
    """Submitted, skipped and left, as of what was finished last by then, and when all three are to be counted again."""

    done: int
    skipped: int
    left: int
    last: datetime | None
    until: datetime


def progress_of(label_project: LabelProject, user: User, *, fresh: bool = False) -> Progress:
    """One query, and a few over all their places and every open one when `fresh` or not counted lately."""
    now, key = timezone.now(), f"labelling-counts:{label_project.pk}:{user.pk}"
    latest = _latest(label_project, user)
    counted: Counted | None = None if fresh or not label_project.is_open else cache.get(key)
    if counted is None or counted.until < now:
        last = latest[0].at if latest else None
        done, skipped, left = _counts(label_project, user)
        stands = max(COUNT_STANDS, STANDS_FOR_AN_ITEM * left)
        counted = Counted(done, skipped, left, last, now + timedelta(seconds=stands))
        cache.set(key, counted, stands)
    newer = [place for place in latest if counted.last is None or place.at > counted.last]
    if len(newer) == PACE_OVER:  # there may be more
        newer = _latest(label_project, user, after=counted.last, most=None)
    counted = _and(counted, newer)
    if len(newer) >= ADDED_AFTER:
        cache.set(key, counted, (counted.until - now).total_seconds())
    return Progress(
        done=counted.done,
        skipped=counted.skipped,
        left=max(0, counted.left),
        pace=_pace(place for place in latest if place.purpose != Assignment.Purpose.TRAINING),
        last=latest[0].pk if latest else None,
    )


def _and(counted: Counted, newer: Sequence[Finished]) -> Counted:
    """The counts with these places, the latest first, which were finished since."""
    if not newer:
        return counted
    statuses = [place.status for place in newer if place.purpose != Assignment.Purpose.TRAINING]
    skipped = statuses.count(Assignment.Status.SKIPPED)
    return counted._replace(
        done=counted.done + len(statuses) - skipped,
        skipped=counted.skipped + skipped,
        left=counted.left - len(statuses),
        last=newer[0].at,
    )


LATEST = """
SELECT id, status, purpose, opened_at, finished_at FROM annotation_assignment
WHERE annotator_id = %(user)s AND label_project_id = %(label_project)s AND status IN ('submitted', 'skipped')
  AND finished_at > %(after)s
ORDER BY finished_at DESC, id DESC LIMIT %(most)s"""


def _latest(
    label_project: LabelProject, user: User, *, after: datetime | None = None, most: int | None = PACE_OVER
) -> list[Finished]:
    """What the person finished after this time, the latest first; by a statement, for it is asked on every page."""
    values = {"user": user.pk, "label_project": label_project.pk, "after": after or "-infinity", "most": most}
    with connection.cursor() as cursor:
        cursor.execute(LATEST, values)
        return [Finished(*row) for row in cursor]


def _pace(latest: Iterable[Finished]) -> float | None:
    times = [
        (place.at - place.opened_at).total_seconds()
        for place in latest
        if place.status == Assignment.Status.SUBMITTED and place.opened_at
    ]
    spent = [seconds for seconds in times if seconds <= PAUSE]
    return median(spent) if len(spent) >= PACE_FROM else None


def _counts(label_project: LabelProject, user: User) -> tuple[int, int, int]:
    """Submitted, skipped, and left with what the person holds; of the items beyond a cap none is left."""
    mine = Assignment.objects.of(label_project, user)
    ordinary, checks = Q(purpose=Assignment.Purpose.LABEL), Q(purpose__in=CHECKS)
    handled = Q(status__in=["submitted", "skipped"])
    counts = mine.aggregate(
        done=Count("pk", filter=Q(status="submitted") & (ordinary | checks)),
        skipped=Count("pk", filter=Q(status="skipped") & (ordinary | checks)),
        labelled=Count("pk", filter=ordinary & handled),
        checked=Count("pk", filter=checks & handled),
        held=Count("pk", filter=ordinary & Q(status="leased")),
    )
    if not label_project.is_open:
        return counts["done"], counts["skipped"], 0
    total = counts["labelled"] + counts["held"] + _untouched(label_project, user)
    cap = _cap(label_project, user)
    total = total if cap is None else max(counts["labelled"], min(total, cap))
    checks = max(0, _checks(label_project, user, total) - counts["checked"])
    return counts["done"], counts["skipped"], total - counts["labelled"] + checks


def _cap(label_project: LabelProject, user: User) -> int | None:
    member = label_project.label_members.filter(user=user).first()
    return cap_of(member) if member else label_project.cap


def _checks(label_project: LabelProject, user: User, total: int) -> int:
    """How many items with known answers come among so many ordinary ones."""
    if not label_project.gold_every:
        return 0
    known = label_project.known_answers.filter(purpose__in=CHECKS).count()
    return min(known, checks_due(label_project, user.pk, total))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The items since the last break and the minutes with them, without pauses; at least one minute."""

    items: int
    minutes: int


def stretch_of(label_project: LabelProject, user: User) -> Stretch:
    """One query over as many items as there are between two breaks."""
    finished = Assignment.objects.of(label_project, user).finished().exclude(purpose=Assignment.Purpose.TRAINING)
    times = finished.order_by("-finished_at").values_list("opened_at", "finished_at")[: label_project.break_every]
    spent = [(finished - opened).total_seconds() for opened, finished in times if opened and finished]
    return Stretch(len(times), max(1, round(sum(seconds for seconds in spent if seconds <= PAUSE) / 60)))


def training_of(label_project: LabelProject, user: User) -> Progress:
    """How far the person is in the training; two queries."""
    finished = Assignment.objects.of(label_project, user).finished().filter(purpose=Assignment.Purpose.TRAINING)
    done = finished.count()
    known = label_project.known_answers.filter(purpose=KnownAnswer.Purpose.TRAINING).count()
    return Progress(done=done, skipped=0, left=max(0, known - done), pace=None, training=True)


# As in a claim, OFFSET 0 keeps this linear whatever the planner believes.
UNTOUCHED = """
SELECT count(DISTINCT place.item_id) FROM annotation_assignment place
WHERE place.label_project_id = %(label_project)s AND place.purpose = 'label'
  AND (place.status = 'free' OR (place.status = 'leased' AND place.lease_until < %(now)s))
  AND NOT EXISTS (SELECT 1 FROM annotation_assignment mine WHERE mine.label_project_id = %(label_project)s
                  AND mine.item_id = place.item_id AND mine.annotator_id = %(user)s OFFSET 0)"""


def _untouched(label_project: LabelProject, user: User) -> int:
    """Items of which the person could take a place: free or run out, and never had by them. Scans the open places."""
    with connection.cursor() as cursor:
        cursor.execute(UNTOUCHED, {"label_project": label_project.pk, "user": user.pk, "now": timezone.now()})
        return int(cursor.fetchone()[0])


def why_nothing_left(label_project: LabelProject, user: User) -> str:
    """One sentence for the page that an annotator sees when claim_next has nothing for them."""
    if not label_project.is_open:
        return "The researchers have closed this labelling project."
    try:
        member = member_for(label_project, user)
    except MembershipRefusedError as refusal:
        return str(refusal)
    cap = cap_of(member)
    if cap is not None and labelled(member) >= cap:
        return f"You have labelled as many items as one person may here, {cap}."
    had = Assignment.objects.of(label_project, user).values("item")
    held = Assignment.objects.filter(label_project=label_project, status="leased", purpose="label")
    soonest = held.exclude(item__in=had).order_by(F("lease_until").asc()).values_list("lease_until", flat=True).first()
    if soonest:
        minutes = max(1, round((soonest - timezone.now()).total_seconds() / 60))
        return (
            "The items left are with other annotators right now. If they do not finish, one may return in about "
            f"{minutes} min; you can look again then."
        )
    if Assignment.objects.of(label_project, user).filter(status="invalid", purpose="label", skip_reason="").exists():
        return (
            "No item is left that you have not had. The researchers left out work of yours here, and nobody gets an "
            "item twice."
        )
    return "Every item that you could answer has been answered."
