from django.db.models import Count, Max, Q
from django.urls import reverse

from evaluation.models import Report
from projects.models import Project
from projects.overview import Box


def box(project: Project) -> Box:
    reports = project.reports.aggregate(
        ready=Count("pk", filter=Q(status=Report.Status.READY)),
        failed=Count("pk", filter=Q(status=Report.Status.FAILED)),
        latest=Max("finished_at", filter=Q(status=Report.Status.READY)),
    )
    latest = reports["latest"]
    return Box(
        title="Reports",
        url=reverse("reports", args=[project.slug]),
        count=reports["ready"],
        state=f"latest of {latest.day} {latest:%b %Y, %H:%M} (UTC)" if latest else "none ready yet",
        attention=f"{reports['failed']} could not be computed" if reports["failed"] else "",
    )
