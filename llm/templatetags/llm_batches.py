"""The batches of a job on its page."""

from typing import Any

from django import template

from llm.models import Batch, Job

register = template.Library()

SHOWN = 50
KINDS = {
    Batch.Status.PREPARING: "neutral",
    Batch.Status.SENDING: "running",
    Batch.Status.UNDERWAY: "running",
    Batch.Status.COLLECTED: "success",
    Batch.Status.FAILED: "danger",
    Batch.Status.LOST: "warning",
}


@register.inclusion_tag("llm/job_batches.html")
def job_batches(job: Job) -> dict[str, Any]:
    """The newest batches of the job, how many older ones there are, and how many are under way. Costs three queries."""
    batches = job.batches.order_by("-pk")
    return {
        "batches": batches[:SHOWN],
        "older": max(0, batches.count() - SHOWN),
        "under_way": batches.filter(status__in=Batch.OPEN).exists(),
    }


@register.filter
def batch_kind(status: str) -> str:
    """The badge of a batch's state."""
    return KINDS[Batch.Status(status)]
