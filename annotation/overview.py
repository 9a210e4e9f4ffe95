from django.db.models import Count, Q
from django.urls import reverse

from annotation.models import Assignment
from projects.models import Project
from projects.overview import Box


def box(project: Project) -> Box:
    counts = Assignment.objects.filter(label_project__project=project).aggregate(
        places=Count("pk"),
        submitted=Count("pk", filter=Q(status=Assignment.Status.SUBMITTED)),
        people=Count("annotator", distinct=True),
        stuck=Count("pk", filter=Q(status=Assignment.Status.SKIPPED) | ~Q(flag_note="")),
    )
    state = f"of {counts['places']:,} labels, {counts['people']} annotators" if counts["places"] else "labels"
    return Box(
        title="Labelling",
        url=reverse("labelling", args=[project.slug]),
        count=counts["submitted"],
        state=state,
        attention=f"{counts['stuck']:,} skipped or flagged" if counts["stuck"] else "",
        hue="human",
    )
