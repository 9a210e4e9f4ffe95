"""Numbers of model jobs as words."""

import json
from typing import Any

from django import template

from llm.models import Call, Job

register = template.Library()

JOB_KINDS = {
    Job.Status.RUNNING: "running",
    Job.Status.PAUSED: "warning",
    Job.Status.DONE: "success",
    Job.Status.STOPPED: "danger",
}
CALL_KINDS = {
    Call.Status.CLAIMED: "running",
    Call.Status.OK: "success",
    Call.Status.TRUNCATED: "warning",
    Call.Status.UNPARSED: "warning",
    Call.Status.REFUSED: "warning",
    Call.Status.ERROR: "danger",
}


@register.filter
def duration(seconds: float | None) -> str:
    """About how long, in one unit: "40 s", "6 min", "3 h", "2 days"; empty when unknown."""
    if seconds is None:
        return ""
    for least, size, unit in ((172_800, 86_400, "days"), (7200, 3600, "h"), (90, 60, "min")):
        if seconds >= least:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} s"


@register.filter
def persona_words(persona: dict[str, Any]) -> str:
    """A persona's attributes in one line."""
    return ", ".join(str(value) for value in persona.values()) or "no persona"


@register.filter
def job_kind(job: Job, failed: int = 0) -> str:
    """The badge of a job's state; one that is done with `failed` calls without an answer is no success."""
    kind = JOB_KINDS.get(Job.Status(job.status), "neutral")
    return "warning" if kind == "success" and failed else kind


@register.filter
def call_kind(status: str) -> str:
    """The badge of a call's state."""
    return CALL_KINDS.get(Call.Status(status), "neutral")


@register.filter
def call_label(status: str) -> str:
    return str(Call.Status(status).label)


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
