"""Numbers of model jobs as words."""

import json
from typing import Any, cast

from django import template

from llm.models import Call, Job
from llm.planning.axes import persona_words
from llm.reading.parsing import ANSWER_MODES, AnswerMode

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


register.filter("persona_words", persona_words)


@register.filter
def seconds(value: float) -> str:
    """Seconds to three significant digits."""
    return f"{value:.3g}"


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
def mode_words(mode: str) -> str:
    """How answers are read, in words."""
    return dict(ANSWER_MODES)[cast(AnswerMode, mode)]


@register.filter
def call_label(status: str) -> str:
    return str(Call.Status(status).label)


@register.filter
def answer_words(value: Any) -> str:
    """An answer as text; several options with commas."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@register.filter
def answer_to(values: dict[str, Any] | None, question: str) -> str:
    """The answer to this question in words; a dash where it was not asked."""
    answer = (values or {}).get(question)
    return "–" if answer is None else answer_words(answer)


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
