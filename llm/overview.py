from django.db.models import Count, Q
from django.urls import reverse

from llm.models import Call, Job
from projects.models import Project
from projects.overview import Box


def box(project: Project) -> Box:
    calls = Call.objects.filter(job__project=project).aggregate(
        planned=Count("pk"),
        answered=Count("pk", filter=Q(status=Call.Status.OK)),
        unread=Count("pk", filter=Q(status__in=[Call.Status.UNPARSED, Call.Status.TRUNCATED, Call.Status.REFUSED])),
        failed=Count("pk", filter=Q(status=Call.Status.ERROR)),
        demo=Count("pk", filter=Q(respondent__demo_model=True)),
    )
    running = project.jobs.filter(status=Job.Status.RUNNING).count()
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
