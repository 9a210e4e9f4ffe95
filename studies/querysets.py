"""Reads that have a name. People and simulated people are counted apart, and who tries a study out is not counted."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from responses.querysets import MedianSeconds

if TYPE_CHECKING:
    from projects.models import Project
    from studies.models import Session, Study

LEFT_AFTER = timedelta(minutes=30)  # without a new page, a session that is not finished counts as left


class StudyQuerySet(models.QuerySet["Study"]):
    def for_list(self, project: "Project") -> "StudyQuerySet":
        """The project's studies with `people`, `simulated_people` and `completed` counted."""
        people = Q(sessions__simulated=False, sessions__pilot=False)
        return self.filter(project=project).annotate(
            people=Count("sessions", filter=people),
            simulated_people=Count("sessions", filter=Q(sessions__simulated=True)),
            completed=Count("sessions", filter=people & Q(sessions__status="completed")),
        )

    def find(self, key_or_slug: str) -> "Study | None":
        """The study with this key, or the newest version with this slug; None when several projects have the slug."""
        found = self.filter(Q(key=key_or_slug) | Q(slug=key_or_slug)).order_by("-version")
        return found.first() if found.order_by().values("project").distinct().count() == 1 else None


class SessionQuerySet(models.QuerySet["Session"]):
    def counted(self) -> "SessionQuerySet":
        """Without those of people who only tried the study out."""
        return self.filter(pilot=False)

    def holding_places(self, session: "Session") -> "SessionQuerySet":
        """Who has a place of the session's study; simulated people and people who try the study out are apart."""
        same = {"study": session.study_id, "simulated": session.simulated, "pilot": session.pilot}
        return self.filter(**same, place__isnull=False, given_back_at=None)

    def funnel(self, now: datetime | None = None) -> dict[bool, dict[str, Any]]:
        """For people (False) and simulated people (True): how many entered, consented, ended in each way, finished
        late, run, left or returned, and the median minutes of those who completed (None without any). One query.
        """
        recently = (now or timezone.now()) - LEFT_AFTER
        active = Exists(self.model.objects.filter(pk=OuterRef("pk"), screens__shown_at__gte=recently))
        started, moving = Q(status="started"), Q(active=True) | Q(started_at__gte=recently)
        endings = {name: Count("pk", filter=Q(status=name)) for name in self.model.Status.values if name != "started"}
        rows = (
            self.annotate(active=active)
            .values("simulated")
            .annotate(
                entered=Count("pk"),
                consented=Count("pk", filter=Q(consented_at__isnull=False)),
                finished_late=Count("pk", filter=Q(status="completed", given_back_at__lt=F("finished_at"))),
                returned=Count("pk", filter=Q(given_back_why="returned")),
                **endings,
                running=Count("pk", filter=started & moving),
                left=Count("pk", filter=started & ~moving),
                seconds=MedianSeconds(F("finished_at") - F("started_at"), filter=Q(status="completed")),
            )
            .order_by("simulated")
        )
        return {
            row["simulated"]: {**row, "median_minutes": None if row["seconds"] is None else row["seconds"] / 60}
            for row in rows
        }

    def by_attribute(self, name: str) -> dict[str, dict[bool, int]]:
        """Completed sessions by an attribute's value, people (False) and simulated people (True)."""
        counts: dict[str, dict[bool, int]] = {}
        rows = self.filter(status="completed").values_list(f"attributes__{name}", "simulated").annotate(n=Count("pk"))
        for value, simulated, n in rows.order_by(f"attributes__{name}"):
            counts.setdefault(str(value or "not asked"), {})[simulated] = n
        return counts

    def item_counts(self) -> dict[int, dict[bool, int]]:
        """How many answered something about each item, by item id, people (False) and simulated people (True)."""
        answered = Count("pk", distinct=True, filter=Q(screens__answered_at__isnull=False))
        rows = self.filter(screens__item__isnull=False).values_list("screens__item", "simulated").annotate(n=answered)
        counts: dict[int, dict[bool, int]] = {}
        for item, simulated, n in rows:
            counts.setdefault(item, {})[simulated] = n
        return counts

    def newest_first(self) -> "SessionQuerySet":
        """Who entered last first, with `pages_answered`."""
        answered = Count("screens", filter=Q(screens__answered_at__isnull=False))
        return self.annotate(pages_answered=answered).order_by("-number")
