"""The order of a session's screens and how it ends: a function of a study's parts and of what was answered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from studies.design import Screening

ScreenKind = Literal[
    "consent", "platform_id", "demographics", "instructions", "comprehension", "item", "attention", "debrief"
]
Ending = Literal["completed", "no_consent", "screened_out", "quota_full", "failed_comprehension", "failed_attention"]
OUTCOME, UNFINISHED = "outcome", "unfinished"  # the respondent's attribute, and its value until the session ends


@dataclass(frozen=True)
class Step:
    """One screen. `item` and `check` count the session's items and the study's attention checks from 0."""

    kind: ScreenKind
    item: int | None = None
    group: int = 0
    asked: tuple[str, ...] = ()  # codes of the questions about an item
    check: int | None = None


@dataclass(frozen=True)
class Parts:
    """What a session has. `pages` are the codes asked on each page of each item, in the order they are shown;
    `checks` says which attention check comes after so many items.
    """

    platform_id: bool = False
    demographics: bool = False
    instructions: bool = False
    comprehension: bool = False
    pages: Sequence[Sequence[Sequence[str]]] = ()
    checks: Mapping[int, int] = field(default_factory=dict)
    debrief: bool = False


def steps_before_place(parts: Parts) -> list[Step]:
    """The screens until the person's place is dealt, which may depend on what they say there about themselves."""
    present: list[tuple[ScreenKind, bool]] = [
        ("consent", True),
        ("platform_id", parts.platform_id),
        ("demographics", parts.demographics),
    ]
    return [Step(kind) for kind, there in present if there]


def steps_of_place(parts: Parts) -> list[Step]:
    """The screens after that."""
    steps = [Step("instructions")] if parts.instructions else []
    if parts.comprehension:
        steps.append(Step("comprehension"))
    for item, pages in enumerate(parts.pages):
        if item in parts.checks:
            steps.append(Step("attention", check=parts.checks[item]))
        steps += [Step("item", item, group, tuple(asked)) for group, asked in enumerate(pages) if asked]
    if parts.debrief:
        steps.append(Step("debrief"))
    return steps


def is_allowed(screening: Iterable[Screening], attributes: Mapping[str, Any]) -> bool:
    """Whether the person with these attributes may go on."""
    return all(attributes.get(rule.question) in rule.allowed for rule in screening)


def last_ending(*, attention_passed: bool | None) -> Ending:
    """How a session ends on its last screen: failed attention checks count only there.

    `attention_passed` is None where there is no check.
    """
    return "failed_attention" if attention_passed is False else "completed"
