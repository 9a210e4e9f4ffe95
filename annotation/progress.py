"""How far an annotator is, how fast they go, and why there is nothing left for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotation.models import Assignment, KnownAnswer, LabelProject
from annotation.services.claiming import labelled
from annotation.services.known_answers import CHECKS, checks_due
from annotation.services.members import MembershipRefusedError, cap_of, member_for
from projects.models import User

PACE_OVER = 20  # the latest submissions that the pace is taken from
PACE_FROM = 3  # submissions; the first items are read slower, and one says little
PAUSE = 300  # seconds; whoever takes longer was away
COUNT_STANDS = 120  # seconds; counting what is left of 100,000 items for every answer would cost more than the answer


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of items for one annotator; `pace` is the median seconds an item took lately, None before the third.

    Items that took longer than a pause do not count for the pace. Items with known answers count as all others do, for
    what is left in the number that is to be expected; the training is counted apart. `last` is the address of what the
    person finished last, and `guidelines_version` what they read for it.
    """

    done: int
    skipped: int
    left: int
    pace: float | None
    last: int | None = None
    guidelines_version: int | None = None
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


def progress_of(label_project: LabelProject, user: User, *, fresh: bool = False) -> Progress:
    """One query, and a few over all their places and every open one when `fresh` or not counted lately."""
    finished = (
        Assignment.objects.of(label_project, user)
        .finished()
        .order_by("-finished_at", "-pk")
        .only("status", "purpose", "opened_at", "finished_at", "guidelines_version")
    )
    latest = list(finished.exclude(finished_at=None)[:PACE_OVER])
    counted = [place for place in latest if place.purpose != Assignment.Purpose.TRAINING]
    counts: tuple[int, int, int, datetime | None] | None
    key = f"labelling-counts:{label_project.pk}:{user.pk}"
    counts = None if fresh or not label_project.is_open else cache.get(key)
    if counts is None:
        counts = (*_counts(label_project, user), latest[0].finished_at if latest else None)
        cache.set(key, counts, COUNT_STANDS)
    done, skipped, left, at = counts
    more_done, more_skipped = _since(at, counted, finished)
    return Progress(
        done=done + more_done,
        skipped=skipped + more_skipped,
        left=max(0, left - more_done - more_skipped),
        pace=_pace(counted),
        last=latest[0].pk if latest else None,
        guidelines_version=latest[0].guidelines_version if latest else None,
    )


def _since(at: datetime | None, latest: Sequence[Assignment], finished: QuerySet[Assignment]) -> tuple[int, int]:
    """How many were submitted and skipped after this time; a query when these are not all of them."""
    newer = [place.status for place in latest if at is None or (place.finished_at and place.finished_at > at)]
    if len(newer) == PACE_OVER:
        later = finished.filter(finished_at__gt=at) if at else finished
        newer = list(later.exclude(purpose=Assignment.Purpose.TRAINING).values_list("status", flat=True))
    skipped = newer.count(Assignment.Status.SKIPPED)
    return len(newer) - skipped, skipped


def _pace(latest: Iterable[Assignment]) -> float | None:
    times = [
        (place.finished_at - place.opened_at).total_seconds()
        for place in latest
        if place.status == Assignment.Status.SUBMITTED and place.finished_at and place.opened_at
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
    return "Every item that you could answer has been answered."
