"""How far an annotator is, how fast they go, and why there is nothing left for them."""

from dataclasses import dataclass
from statistics import median

from django.core.cache import cache
from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.models import Assignment, LabelProject
from projects.models import User

PACE_OVER = 20  # the latest submissions that the pace is taken from
PACE_FROM = 3  # submissions; the first items are read slower, and one says little
PAUSE = 300  # seconds; whoever takes longer was away
TOTAL_STANDS = 30  # seconds; counting what is left of 100,000 items for every answer would cost more than the answer


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of items for one annotator; `pace` is the median seconds an item took lately, None before the third.

    Items that took longer than a pause do not count for the pace.
    """

    done: int
    skipped: int
    left: int
    pace: float | None

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
    """Two queries, and a third over every open place when `fresh` or when its count is not known from lately."""
    mine = Assignment.objects.of(label_project, user)
    counts = mine.aggregate(
        done=Count("pk", filter=Q(status="submitted")),
        skipped=Count("pk", filter=Q(status="skipped")),
        held=Count("pk", filter=Q(status="leased")),
    )
    handled, held = counts["done"] + counts["skipped"], counts["held"]
    key = f"labelling-total:{label_project.pk}:{user.pk}"
    total = None if fresh or not label_project.is_open else cache.get(key)
    if total is None:
        total = handled + held + (_untouched(label_project, user) if label_project.is_open else 0)
        cache.set(key, total, TOTAL_STANDS)
    latest = (
        mine.filter(status="submitted").order_by("-finished_at").values_list("opened_at", "finished_at")[:PACE_OVER]
    )
    times = [(finished - opened).total_seconds() for opened, finished in latest if opened and finished]
    spent = [seconds for seconds in times if seconds <= PAUSE]
    return Progress(
        done=counts["done"],
        skipped=counts["skipped"],
        left=max(held, total - handled),
        pace=median(spent) if len(spent) >= PACE_FROM else None,
    )


def _untouched(label_project: LabelProject, user: User) -> int:
    return Assignment.objects.open_to(label_project, user, timezone.now()).values("item").distinct().count()


def why_nothing_left(label_project: LabelProject, user: User) -> str:
    """One sentence for the page that an annotator sees when claim_next has nothing for them."""
    if not label_project.is_open:
        return "The researchers have closed this labelling project."
    had = Assignment.objects.of(label_project, user).values("item")
    held = Assignment.objects.filter(label_project=label_project, status="leased").exclude(item__in=had)
    soonest = held.order_by(F("lease_until").asc()).values_list("lease_until", flat=True).first()
    if soonest:
        minutes = max(1, round((soonest - timezone.now()).total_seconds() / 60))
        return (
            "The items left are with other annotators right now. If they do not finish, one may return in about "
            f"{minutes} min; you can look again then."
        )
    return "Every item that you could answer has been answered."
