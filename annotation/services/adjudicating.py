"""What an adjudicator does: decide. Nothing else writes decisions, and none is ever changed or removed."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.adjudication import standing_decisions
from annotation.answers import check_answers
from annotation.models import Assignment, Decision, LabelProject
from annotation.refusals import RefusedError
from materials.models import Item
from projects.models import User
from projects.services import audit

NOTE_LIMIT = 2000


class DecisionError(RefusedError):
    """There is nothing to decide, or a value that a question does not allow; `errors` by question code."""

    def __init__(self, sentence: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.errors = dict(errors or {})


class DecidedMeanwhileError(RefusedError):
    """Somebody else decided after the page was drawn."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(
            f"{decision.by} has decided on this item meanwhile. Their decision stands and is shown below; "
            "decide again to replace it by what is chosen here."
        )


@transaction.atomic
def decide(
    *, label_project: LabelProject, item: Item, values: Mapping[str, Any], note: str = "", seen: int, by: User
) -> list[Decision]:
    """Decide on the questions that have a value: the decisions made, without those that stand already.

    `seen` is the latest decision on the item that the adjudicator had before them, 0 for none. Earlier decisions are
    kept as history. Raises DecisionError and, when somebody decided meanwhile, DecidedMeanwhileError.
    """
    if not Assignment.objects.filter(label_project=label_project, item=item, purpose=Assignment.Purpose.LABEL).exists():
        raise DecisionError("This item is not among those that are labelled here.")
    given = {code: value for code, value in values.items() if value not in (None, "", [], {})}
    checked = check_answers(label_project.instrument.questionnaire, given, item.content)
    if errors := {code: error for code, error in checked.errors.items() if code in given}:
        raise DecisionError("Some decisions need your attention.", errors)
    decided = {code: value for code, value in checked.values.items() if code in given}
    if not decided:
        raise DecisionError("Choose what is right for at least one question.")
    # Two adjudicators of one item queue up here, so that the second sees what the first decided.
    Item.objects.select_for_update(of=("self",), no_key=True).get(pk=item.pk)
    note = note.replace("\x00", "").strip()[:NOTE_LIMIT]
    standing = standing_decisions(label_project, item)
    news = {
        code: value
        for code, value in decided.items()
        if code not in standing or (standing[code].value, standing[code].note) != (value, note)
    }
    latest = max(standing.values(), key=lambda decision: decision.pk, default=None)
    if news and latest is not None and latest.pk > seen and latest.by_id != by.pk:
        raise DecidedMeanwhileError(latest)
    made = [
        Decision.objects.create(label_project=label_project, item=item, question=code, value=value, note=note, by=by)
        for code, value in news.items()
    ]
    if made:
        audit(
            project=label_project.project,
            user=by,
            action="labelling decided",
            label_project=label_project.slug,
            item=item.external_id,
            questions=list(news),
        )
    return made
