"""Which items a job asks about, as queries."""

from django.db.models import CharField, F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from llm.models import Job
from materials.models import Item


def planned_items(job: Job) -> QuerySet[Item]:
    """The job's items in dataset order: those that pass its filter, at most `max_items` of them."""
    items = matching_items(job)
    if job.started_at:
        items = items.filter(position__lt=job.end_position)
    if not job.max_items:
        return items
    chosen = items.order_by(_draw(job), "pk") if job.items_drawn else items
    return job.dataset.items.filter(pk__in=chosen.values("pk")[: job.max_items])


def matching_items(job: Job) -> QuerySet[Item]:
    """The items of the job's dataset that pass its filter."""
    found = Q()
    for field, values in job.item_filter.items():
        # Not a key lookup: Django takes a field named "0" for the position in a list.
        found &= Q(pk__in=job.dataset.items.annotate(text=_text(field)).filter(text__in=[str(v) for v in values]))
    return job.dataset.items.filter(found)


def unmatched_values(job: Job) -> dict[str, list[str]]:
    """The values of the job's filter that no item of its dataset has, by field. Costs a query for each field."""
    found: dict[str, list[str]] = {}
    for field, values in job.item_filter.items():
        texts = job.dataset.items.annotate(text=_text(field)).filter(text__in=[str(value) for value in values])
        there = set(texts.order_by().values_list("text", flat=True).distinct())
        if missing := [str(value) for value in values if str(value) not in there]:
            found[field] = missing
    return found


def _text(field: str) -> Func:
    return Func(F("content"), Value(field), function="jsonb_extract_path_text", output_field=TextField())


def _draw(job: Job) -> Func:
    """A random number of the item that the seed decides."""
    key = Concat(Value(f"{job.seed}/"), "external_id", output_field=TextField())
    return Func(key, function="md5", output_field=CharField())
