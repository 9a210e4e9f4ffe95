"""Named reads of labelling projects and assignments."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from projects.models import Project
from responses.models import Respondent, RespondentKind

if TYPE_CHECKING:
    from annotation.models import Assignment, LabelProject  # noqa: F401


class LabelProjectQuerySet(models.QuerySet["LabelProject"]):
    def for_work(self, user_id: int) -> "LabelProjectQuerySet":
        """Those of the person's projects, with the project, the person's `role` in it, and the number of the latest
        version of the guidelines, 0 for none."""
        from annotation.models import Guidelines

        latest = Guidelines.objects.filter(label_project=OuterRef("pk")).values("version")[:1]
        theirs = self.filter(project__memberships__user=user_id).select_related("project")
        role = F("project__memberships__role")
        return theirs.annotate(role=role, newest_guidelines=Coalesce(Subquery(latest), 0))

    def for_list(self, project: Project) -> "LabelProjectQuerySet":
        """The project's, with the places in all (`places`), those answered (`answered`) and those of them that a bot
        answered (`simulated`), without known answers; costs one scan of the assignments."""
        ordinary = Q(assignments__purpose="label")
        answered = ordinary & Q(assignments__status="submitted")
        by_bots = answered & Q(assignments__annotator__in=simulated_annotators(project.pk))
        return (
            self.filter(project=project)
            .select_related("dataset", "instrument")
            .annotate(
                places=Count("assignments", filter=ordinary & ~Q(assignments__status="invalid")),
                answered=Count("assignments", filter=answered),
                simulated=Count("assignments", filter=by_bots),
            )
        )


def simulated_annotators(project_id: int) -> list[int]:
    """Primary keys of the users in whose place a bot answered in this project; imported annotators are no users."""
    bots = Respondent.objects.filter(project=project_id, kind=RespondentKind.ANNOTATOR, simulated=True)
    keys = bots.filter(key__regex=r"^annotator:\d+$")
    return [int(key.removeprefix("annotator:")) for key in keys.values_list("key", flat=True)]


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def for_page(self) -> "AssignmentQuerySet":
        return self.select_related("item", "label_project__instrument", "label_project__project")

    def of(self, label_project: Any, user: Any) -> "AssignmentQuerySet":
        return self.filter(label_project=label_project, annotator=user)

    def finished(self) -> "AssignmentQuerySet":
        return self.filter(status__in=["submitted", "skipped"])

    def reachable(self, label_project: Any, user: Any) -> "AssignmentQuerySet":
        """What this person holds or answered, or held until it was given away (their draft is the trace of that)."""
        from annotation.models import Draft

        theirs = Draft.objects.filter(label_project=label_project, item=OuterRef("item"), annotator=user)
        return self.filter(label_project=label_project).filter(Q(annotator=user) | Exists(theirs))

    def before(self, assignment: "Assignment", user: Any) -> int | None:
        """The one the person finished before this one, as its primary key."""
        earlier = Q(finished_at__lt=assignment.finished_at) | Q(
            finished_at=assignment.finished_at, pk__lt=assignment.pk
        )
        return self._beside(assignment, user, earlier, "-finished_at", "-pk")

    def after(self, assignment: "Assignment", user: Any) -> int | None:
        """The one the person finished after this one, as its primary key."""
        later = Q(finished_at__gt=assignment.finished_at) | Q(finished_at=assignment.finished_at, pk__gt=assignment.pk)
        return self._beside(assignment, user, later, "finished_at", "pk")

    def _beside(self, assignment: "Assignment", user: Any, beside: Q, *order: str) -> int | None:
        if assignment.finished_at is None or assignment.annotator_id != user.pk:
            return None
        found = self.of(assignment.label_project_id, user).finished().filter(beside).order_by(*order)
        return found.values_list("pk", flat=True).first()
