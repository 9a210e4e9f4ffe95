"""Named reads of materials."""

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from materials.importing import ITEMS_IMPORTED
from materials.models import Dataset, Instrument, Item
from materials.questions import text_fields
from projects.models import AuditEvent, Project

DATASETS_NAMED = 10


def datasets_with_counts(project: Project) -> QuerySet[Dataset]:
    return Dataset.objects.filter(project_id=project.pk).annotate(item_count=Count("items"))


def search_items(dataset: Dataset, words: str) -> QuerySet[Item]:
    """Items whose id or content holds the words, whatever their case, in the dataset's order."""
    items = dataset.items.all()
    if not words:
        return items
    return items.annotate(text=Cast("content", TextField())).filter(
        Q(external_id__icontains=words) | Q(text__icontains=words)
    )


def item_fields(project: Project) -> list[tuple[str, list[str]]]:
    """(name, fields) of the newest datasets of the project whose fields' order is known, the newest first."""
    datasets = Dataset.objects.filter(project_id=project.pk).exclude(field_order=[]).order_by("-pk")
    return list(datasets.values_list("name", "field_order")[:DATASETS_NAMED])


def imports_of(dataset: Dataset) -> QuerySet[AuditEvent]:
    """When, by whom and from what items came into the dataset, the latest first."""
    events: QuerySet[AuditEvent] = dataset.project.audit_events.all()
    return events.filter(action=ITEMS_IMPORTED, detail__dataset=dataset.slug).select_related("user")


def item_for_preview(instrument: Instrument) -> Item | None:
    """The first item of the instrument's project that has all the fields its options take their texts from."""
    fields = text_fields(instrument.questionnaire.questions)
    items = Item.objects.filter(dataset__project_id=instrument.project_id, content__has_keys=fields)
    return items.select_related("dataset").order_by("pk").first()


def fields_of_no_item(instrument: Instrument) -> list[str]:
    """The fields from which its questions take texts and that no item of its project has; one query a field."""
    items = Item.objects.filter(dataset__project_id=instrument.project_id)
    fields = text_fields(instrument.questionnaire.questions)
    return [field for field in fields if not items.filter(content__has_key=field).exists()]


def versions(instrument: Instrument) -> QuerySet[Instrument]:
    return Instrument.objects.filter(project_id=instrument.project_id, name=instrument.name).order_by("-version")
