"""What the platform's pages show: submissions by pseudonym and the lists of a study. No id of anybody is in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, Sum

from studies.models import PlatformAction, PlatformSubmission, Session, Study
from studies.platform_words import OPEN, difference
from studies.services.platform_actions import unanswered

Kind, Status = PlatformAction.Kind, PlatformAction.Status
NOT_PAID = (Session.Status.NO_CONSENT, Session.Status.SCREENED_OUT, Session.Status.QUOTA_FULL,
            Session.Status.FAILED_COMPREHENSION)  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Submissions for which usually the same is done."""

    name: str
    title: str
    kind: str = ""


GROUPS = (
    Group("all", "All"),
    Group("different", "Different"),
    Group("approve", "To approve", Kind.APPROVE),
    Group("return", "To ask to return", Kind.REQUEST_RETURN),
    Group("bonus", "Approved", Kind.BONUS),
)


@dataclass(frozen=True)
class Row:
    """A submission: the person's number here (None for who never came), how it stands there and here."""

    submission: PlatformSubmission
    session: Session | None
    difference: str

    @property
    def groups(self) -> set[str]:
        here, there = self.session.status if self.session else "", self.submission.status
        completed = here == Session.Status.COMPLETED
        found = {"all"}
        if self.difference:
            found.add("different")
        if completed and there == "AWAITING REVIEW" and not self.difference:
            found.add("approve")
        if here in NOT_PAID and there in (*OPEN, "AWAITING REVIEW") and not self.submission.return_requested_at:
            found.add("return")
        if completed and there == "APPROVED":
            found.add("bonus")
        return found


def submission_rows(study: Study) -> list[Row]:
    """The submissions of people, those who came first, by number."""
    found = PlatformSubmission.objects.filter(identity__study=study).exclude(identity__session__simulated=True)
    ordered = found.select_related("identity__session").order_by("identity__session__number", "pk")
    return [_row(study, submission) for submission in ordered]


def _row(study: Study, submission: PlatformSubmission) -> Row:
    session = submission.identity.session
    here = session.status if session else ""
    words = difference(
        here=here,
        there=submission.status,
        code=submission.code,
        right_code=study.completion_codes.get(here, ""),
    )
    return Row(submission, session, words)


def study_lists(study: Study) -> Iterator[dict[str, Any]]:
    """The study's lists, the newest first, with how many actions they have and how many of them in which state."""
    actions = PlatformAction.objects.filter(study=study)
    counts = actions.values("batch", "kind").annotate(n=Count("pk"), at=Min("created_at"), total=Sum("amount"))
    states: dict[UUID, dict[str, int]] = {}
    for batch, status, n in actions.values_list("batch", "status").annotate(n=Count("pk")):
        states.setdefault(batch, {})[Status(status).label] = n
    for found in counts.order_by("-at"):
        yield found | {"title": Kind(found["kind"]).label, "states": states[found["batch"]]}


def list_context(study: Study, batch: UUID) -> dict[str, Any]:
    """One list: `actions` with what was paid to each person before, `total`, and `states`; empty when there is none."""
    found = PlatformAction.objects.filter(study=study, batch=batch).select_related(
        "submission__identity__session", "planned_by", "confirmed_by"
    )
    actions = list(found.order_by("submission__identity__session__number", "pk"))
    if not actions:
        return {}
    paid = _paid_elsewhere(study, batch) if actions[0].kind == Kind.BONUS else {}
    states = {action.status for action in actions}
    return {
        "first": actions[0],
        "rows": [(action, paid.get(action.submission_id)) for action in actions],
        "total": sum((action.amount or Decimal(0) for action in actions), Decimal(0)),
        "paid_before": len(paid.keys() & {action.submission_id for action in actions}),
        "planned": Status.PLANNED in states,
        "confirmed": Status.CONFIRMED in states,
        "sending": Status.SENDING in states,
        "unanswered": list(unanswered(study, batch)),
        "problem": next((a.problem for a in actions if a.status == Status.CONFIRMED and a.problem), ""),
    }


def _paid_elsewhere(study: Study, batch: UUID) -> dict[int, Decimal]:
    others = PlatformAction.objects.filter(study=study, kind=Kind.BONUS, status=Status.DONE).exclude(batch=batch)
    return dict(others.values_list("submission").annotate(total=Sum("amount")))
