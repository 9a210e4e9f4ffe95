from django.db.models import Count, Q
from django.urls import reverse

from projects.models import Project
from projects.overview import Box
from responses.models import RespondentKind


def box(project: Project) -> Box:
    standing = project.responses.filter(superseded_by=None).count()
    by = project.respondents.aggregate(
        people=Count("pk", filter=~Q(kind=RespondentKind.MODEL)),
        models=Count("pk", filter=Q(kind=RespondentKind.MODEL)),
        simulated=Count("pk", filter=Q(simulated=True)),
        demo=Count("pk", filter=Q(demo_model=True)),
    )
    badges = (["simulated"] if by["simulated"] else []) + (["demo-model"] if by["demo"] else [])
    return Box(
        title="Responses",
        url=reverse("responses", args=[project.slug]),
        count=standing,
        state=f"answers by {by['people']:,} people and {by['models']:,} models or personas",
        badges=tuple(badges),
    )
