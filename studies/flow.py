"""The order of a session's screens and how it ends: a function of a study's parts and of what was answered."""

from dataclasses import dataclass
from typing import Literal

ScreenKind = Literal["consent", "demographics", "instructions", "item", "attention", "debrief"]
Outcome = Literal["started", "completed", "no_consent", "failed_attention"]
OUTCOME, UNFINISHED = "outcome", "unfinished"  # the respondent's attribute, and its value until the session ends


@dataclass(frozen=True)
class Parts:
    """What a study has. `attention_after` is the number of items before the attention check, None without one."""

    consent: bool
    demographics: bool
    instructions: bool
    items: int
    attention_after: int | None
    debrief: bool


@dataclass(frozen=True)
class Step:
    """One screen; `item` counts the session's items from 0 and is None on other screens."""

    kind: ScreenKind
    item: int | None = None


def plan(parts: Parts) -> list[Step]:
    """All screens of a session, in order."""
    before: list[tuple[ScreenKind, bool]] = [
        ("consent", parts.consent),
        ("demographics", parts.demographics),
        ("instructions", parts.instructions),
    ]
    steps = [Step(kind) for kind, present in before if present]
    for item in range(parts.items):
        if item == parts.attention_after:
            steps.append(Step("attention"))
        steps.append(Step("item", item))
    if parts.debrief:
        steps.append(Step("debrief"))
    return steps


def outcome(*, consented: bool, remaining: int, attention_passed: bool | None) -> Outcome:
    """How the session stands. Without consent it ends at once; a failed attention check counts only at the end.

    `attention_passed` is None while (or where) there is no check.
    """
    if not consented:
        return "no_consent"
    if remaining:
        return "started"
    return "failed_attention" if attention_passed is False else "completed"
