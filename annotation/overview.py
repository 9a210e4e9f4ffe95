from django.db.models import Count, Q
from django.urls import reverse

from annotation.models import Assignment, Flag
from annotation.querysets import simulated_annotators
from projects.models import Project
from projects.overview import Box


def box(project: Project) -> Box:
    counts = Assignment.objects.filter(label_project__project=project).aggregate(
        places=Count("pk"),
        submitted=Count("pk", filter=Q(status=Assignment.Status.SUBMITTED)),
        people=Count("annotator", distinct=True),
        skipped=Count("pk", filter=Q(status=Assignment.Status.SKIPPED)),
    )
    stuck = counts["skipped"] + Flag.objects.filter(label_project__project=project).count()
    bots = Assignment.objects.filter(
        label_project__project=project, status="submitted", annotator__in=simulated_annotators(project.pk)
    ).exists()
    people = f"{counts['people']:,} annotator{'' if counts['people'] == 1 else 's'}"
    state = f"of {counts['places']:,} annotations, {people}" if counts["places"] else "annotations"
    return Box(
        title="Labelling",
        url=reverse("labelling", args=[project.slug]),
        count=counts["submitted"],
        state=state,
        attention=f"{stuck:,} skipped or flagged" if stuck else "",
        badges=("simulated",) if bots else (),
        hue="human",
    )
