from django.db.models import Count, Q
from django.urls import reverse

from projects.models import Project
from projects.overview import Box
from studies.models import Session, Study


def box(project: Project) -> Box:
    sessions = (
        Session.objects.counted()
        .filter(study__project=project)
        .aggregate(
            completed=Count("pk", filter=Q(status=Session.Status.COMPLETED)),
            started=Count("pk", filter=Q(status=Session.Status.STARTED)),
            inattentive=Count("pk", filter=Q(status=Session.Status.FAILED_ATTENTION)),
            simulated=Count("pk", filter=Q(simulated=True)),
        )
    )
    opened = project.studies.filter(status=Study.Status.OPEN).count()
    noun = "study" if opened == 1 else "studies"
    return Box(
        title="Studies",
        url=reverse("studies", args=[project.slug]),
        count=sessions["completed"],
        state=f"sessions completed, {sessions['started']:,} under way, {opened} open {noun}",
        attention=f"{sessions['inattentive']:,} failed the attention check" if sessions["inattentive"] else "",
        badges=("simulated",) if sessions["simulated"] else (),
        hue="human",
    )
