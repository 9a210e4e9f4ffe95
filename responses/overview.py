from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse

from projects.models import Project
from projects.overview import Box
from responses.models import RespondentKind


def box(project: Project) -> Box:
    standing = project.responses.filter(superseded_by=None)
    by = project.respondents.filter(Exists(standing.filter(respondent=OuterRef("pk")))).aggregate(
        real=Count("pk", filter=~Q(kind=RespondentKind.MODEL) & Q(simulated=False)),
        models=Count("pk", filter=Q(kind=RespondentKind.MODEL)),
        simulated=Count("pk", filter=Q(simulated=True)),
        demo=Count("pk", filter=Q(demo_model=True)),
    )
    badges = (["simulated"] if by["simulated"] else []) + (["demo-model"] if by["demo"] else [])
    return Box(
        title="Responses",
        url=reverse("responses", args=[project.slug]),
        count=standing.count(),
        state=f"answers by {_people(by['real'], by['simulated'])} and {by['models']:,} {_models(by['models'])}",
        badges=tuple(badges),
    )


def _people(real: int, simulated: int) -> str:
    parts = [f"{real:,} real"] * bool(real and simulated) + [f"{simulated:,} simulated"] * bool(simulated)
    counted = " and ".join(parts) or f"{real:,}"
    return f"{counted} {'person' if real + simulated == 1 else 'people'}"


def _models(number: int) -> str:
    return "model or persona" if number == 1 else "models or personas"
