"""What exports say about answers of labelling projects."""

from django.db.models import OuterRef, QuerySet, Subquery

from annotation.models import Assignment, LabelProject, Submission
from responses.models import Response, SourceKind


def answers_of(label_project: LabelProject) -> QuerySet[Response]:
    """Every answer that was ever given in the labelling project, also those that were superseded."""
    places = Assignment.objects.filter(label_project=label_project)
    return Response.objects.filter(
        project=label_project.project_id, source_kind=SourceKind.ASSIGNMENT, source_id__in=places.values("pk")
    )


def assignment_details() -> dict[str, Subquery]:
    """responses.sources.DETAILS of an answer whose source is an assignment."""
    place = Assignment.objects.filter(pk=OuterRef("source_id"))
    first = Submission.objects.filter(assignment=OuterRef("source_id")).order_by("at")
    return {
        "purpose": Subquery(place.values("purpose")[:1]),
        "suggested": Subquery(place.values("suggested")[:1]),
        "left_out_reason": Subquery(place.exclude(invalid_reason="").values("invalid_reason")[:1]),
        "seconds_in_view": Subquery(first.values("seconds")[:1]),
    }
