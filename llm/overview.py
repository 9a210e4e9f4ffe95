from django.db.models import Count, F, Q, Sum
from django.urls import reverse

from llm.models import Job
from projects.models import Project
from projects.overview import Box


def box(project: Project) -> Box:
    """From the jobs' own counts: a project may have millions of calls."""
    calls = project.jobs.aggregate(
        planned=Sum("planned_calls", default=0),
        answered=Sum("n_ok", default=0),
        unread=Sum(F("n_unparsed") + F("n_truncated") + F("n_refused"), default=0),
        failed=Sum("n_error", default=0),
        running=Count("pk", filter=Q(status=Job.Status.RUNNING)),
        demo=Count("pk", filter=Q(endpoint__demo_model=True, planned_calls__gt=0)),
    )
    running = calls["running"]
    problems = {"could not be read": calls["unread"], "failed": calls["failed"]}
    state = f"of {calls['planned']:,} calls answered" if calls["planned"] else "calls answered"
    return Box(
        title="Models",
        url=reverse("jobs", args=[project.slug]),
        count=calls["answered"],
        state=f"{state}, {running} job{'' if running == 1 else 's'} running" if running else state,
        attention=", ".join(f"{count:,} {what}" for what, count in problems.items() if count),
        badges=("demo-model",) if calls["demo"] else (),
        hue="model",
    )
