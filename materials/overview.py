from django.urls import reverse

from materials.models import Item
from projects.models import Project
from projects.overview import Box


def box(project: Project) -> Box:
    items = Item.objects.filter(dataset__project=project).count()
    datasets = project.datasets.count()
    return Box(
        title="Materials",
        url=reverse("datasets", args=[project.slug]),
        count=items,
        state=f"items in {datasets} dataset{'' if datasets == 1 else 's'}",
        attention="" if items else "Import items to begin.",
    )
