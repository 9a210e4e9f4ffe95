"""A person's way from screen to screen. The database decides which screen is next and which answer came first."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import F
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from materials.models import Item
from materials.questions import NO_CONTENT, AnswerError, check_value, draw_orders, is_shown
from responses.models import Respondent, RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many
from studies.design import assign_items
from studies.flow import OUTCOME, UNFINISHED, outcome
from studies.models import Screen, Session, Study

MOST_KEPT, MOST_OPTIONS = 10_000, 200  # of answers that were refused: characters of a text, and chosen options


class AnswersRefusedError(ValueError):
    """No answer was stored. `errors` gives a sentence by question code."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = dict(errors)


@dataclass(frozen=True)
class Submission:
    """What became of a submitted screen.

    `stored`: these answers are in the database. `kept`: an earlier submit was there first and `screen` holds what it
    said. `not_reached`: the person has not been shown this screen, nothing was stored.
    """

    state: Literal["stored", "kept", "not_reached"]
    screen: Screen | None = None


def questions_of(screen: Screen) -> tuple[Any, ...]:
    """The questions on a screen; empty where there is only something to read or to agree to."""
    study = screen.session.study
    if screen.kind == Screen.Kind.ITEM:
        return study.item_questions
    if screen.kind == Screen.Kind.DEMOGRAPHICS:
        return study.demographic_questions
    if screen.kind == Screen.Kind.ATTENTION:
        check = study.parsed_design.attention_check
        return (check.question,) if check else ()
    return ()


def current_screen(session: Session) -> Screen | None:
    """The first screen without an answer, marked as shown; None when the session has ended."""
    screen = session.screens.filter(answered_at=None).select_related("item").order_by("position").first()
    if screen is None:
        return None
    screen.session = session
    if screen.shown_at is None:
        screen.shown_at = timezone.now()
        Screen.objects.filter(pk=screen.pk, shown_at=None).update(shown_at=screen.shown_at)
    return screen


def submit_screen(
    *, session: Session, position: int, answers: Mapping[str, Any], asked: Collection[str] | None = None
) -> Submission:
    """Store what a person sent for a screen, once: the first that arrives counts, whatever arrives later.

    `answers` are the form's values by question code; `asked` the codes that stood on the form (None: all). Raises
    AnswersRefusedError when an answer is missing or not allowed, or when the answers call for a question that was not
    on the form; the screen keeps what was refused, to show it once more, until it is answered. When this returns, what
    it says is committed.
    """
    screen = session.screens.filter(position=position).select_related("item").first()
    if screen is None or screen.shown_at is None:
        return Submission("not_reached")
    screen.session = session
    if screen.answered_at is None:
        try:
            values = _check(screen, answers, asked)
        except AnswersRefusedError as error:
            refused = {"given": _as_sent(screen, answers), "errors": error.errors}
            Screen.objects.filter(pk=screen.pk, answered_at=None).update(refused=refused)
            raise
        if _settle(screen, values):
            return Submission("stored", screen)
        screen.refresh_from_db(fields=["answers", "answered_at"])
    return Submission("kept", screen)


def _check(screen: Screen, answers: Mapping[str, Any], asked: Collection[str] | None) -> dict[str, Any]:
    if screen.kind == Screen.Kind.CONSENT:
        if answers.get("consent") not in ("yes", "no"):
            raise AnswersRefusedError({"consent": "Choose whether you take part."})
        return {"consent": answers["consent"]}
    content = screen.item.content if screen.item else NO_CONTENT
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for question in questions_of(screen):
        if not is_shown(question, values):
            continue
        if asked is not None and question.code not in asked:
            errors[question.code] = "Your other answers lead to this question."
            continue
        try:
            value = check_value(question, answers.get(question.code), content)
        except AnswerError as error:
            errors[question.code] = _sentence(question, answers.get(question.code), error)
            continue
        if value is not None:
            values[question.code] = value
    if errors:
        raise AnswersRefusedError(errors)
    return values


def _as_sent(screen: Screen, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The form's values of the screen's questions, cut to what a person may have typed and the database takes."""

    def cut(value: Any) -> Any:
        if isinstance(value, list):
            return [cut(part) for part in value[:MOST_OPTIONS]]
        if isinstance(value, dict):
            return {code: cut(part) for code, part in value.items()}
        return str(value).replace("\x00", "")[:MOST_KEPT]

    return {question.code: cut(answers[question.code]) for question in questions_of(screen) if question.code in answers}


_MISSING = {
    "text": "Write an answer.",
    "number": "Write an answer.",
    "rank": "Give the options their places.",
    "best_worst": "Choose the best and the worst.",
    "span": "Mark at least one passage.",
}


def _sentence(question: Any, value: Any, error: AnswerError) -> str:
    if not value:
        return _MISSING.get(question.kind, "Choose an answer.")
    return error.sentence


@transaction.atomic
def _settle(screen: Screen, values: dict[str, Any]) -> bool:
    """Whether this submit was the first. Its answers and their consequences are one transaction."""
    now = timezone.now()
    # Of submits that arrive together one changes the row; the others wait here for its commit and then find no row.
    if not Screen.objects.filter(pk=screen.pk, answered_at=None).update(answered_at=now, answers=values, refused={}):
        return False
    screen.answered_at, screen.answers = now, values
    changed = _CONSEQUENCES.get(screen.kind, _nothing)(screen, values, now)
    session = screen.session
    ended = outcome(
        consented=session.consented_at is not None,
        remaining=len(session.study.steps(session.number)) - 1 - screen.position,
        attention_passed=session.attention_passed,
    )
    if ended != "started":
        session.status, session.finished_at = ended, now
        changed += ["status", "finished_at"]
        if session.respondent_id:
            told = session.attributes | {OUTCOME: ended}
            Respondent.objects.filter(pk=session.respondent_id).update(attributes=told)
    if changed:
        session.save(update_fields=changed)
    return True


def _nothing(screen: Screen, values: Mapping[str, Any], now: datetime) -> list[str]:
    return []


def _consent(screen: Screen, values: Mapping[str, Any], now: datetime) -> list[str]:
    if values["consent"] == "no":
        return []
    session = screen.session
    session.consent_version = hashlib.sha256(session.study.parsed_texts.consent.encode()).hexdigest()
    session.consented_at = now
    Screen.objects.bulk_create(planned_screens(session)[1:])
    changed = ["consent_version", "consented_at"]
    return changed if session.study.demographics else changed + _become_respondent(session)


def _demographics(screen: Screen, values: Mapping[str, Any], now: datetime) -> list[str]:
    session = screen.session
    session.attributes = dict(values)
    return ["attributes", *_become_respondent(session)]


def _become_respondent(session: Session) -> list[str]:
    session.respondent = get_respondent(
        project=session.study.project,
        kind=RespondentKind.PARTICIPANT,
        key=f"session:{session.pk}",
        attributes=session.attributes | {OUTCOME: UNFINISHED},
        simulated=session.simulated,
    )
    return ["respondent"]


def _item(screen: Screen, values: Mapping[str, Any], now: datetime) -> list[str]:
    session, study = screen.session, screen.session.study
    shown = {code: "|".join(order) for code, order in screen.orders.items()}
    conditions = {
        order: get_condition(project=study.project, factors={"option_order": order} if order else {})
        for order in sorted({shown.get(code, "") for code in values})  # in one order for all, or two would deadlock
    }
    seconds = (now - screen.shown_at).total_seconds() if screen.shown_at else None
    record_many(
        project=study.project,
        instrument=study.instrument,
        source_kind=SourceKind.SESSION,
        answers=[
            Answer(
                respondent_id=session.respondent_id,  # type: ignore[arg-type]  # set with the screens before
                item_id=screen.item_id,  # type: ignore[arg-type]  # every item screen has one
                question=code,
                value=value,
                condition_id=conditions[shown.get(code, "")].pk,
                answered_at=now,
                seconds=seconds,
                source_id=session.pk,
            )
            for code, value in values.items()
        ],
    )
    return []


def _attention(screen: Screen, values: Mapping[str, Any], now: datetime) -> list[str]:
    check = screen.session.study.parsed_design.attention_check
    screen.session.attention_passed = all(check.is_passed(value) for value in values.values()) if check else None
    return ["attention_passed"]


Consequence = Callable[[Screen, Mapping[str, Any], datetime], list[str]]
# Each returns the session's fields that it changed.
_CONSEQUENCES: Mapping[str, Consequence] = {
    Screen.Kind.CONSENT: _consent,
    Screen.Kind.DEMOGRAPHICS: _demographics,
    Screen.Kind.ITEM: _item,
    Screen.Kind.ATTENTION: _attention,
}


def planned_screens(session: Session) -> list[Screen]:
    """All screens of a session, unsaved, with the items and orders that belong to its number."""
    study, number = session.study, session.number
    items = _assigned_items(study, number)
    screens = []
    for position, step in enumerate(study.steps(number)):
        screen = Screen(session=session, position=position, kind=step.kind)
        place = str(step.kind)
        if step.item is not None:
            screen.item = items[step.item]
            place = screen.item.external_id
        screen.orders = draw_orders(questions_of(screen), key=f"{study.parsed_design.seed}/{number}/{place}")
        screens.append(screen)
    return screens


def _assigned_items(study: Study, number: int) -> Sequence[Item]:
    # Items that came after the opening would change who gets what; a draft (in the preview) has all of them.
    items = Item.objects.filter(dataset_id=study.dataset_id).order_by("position", "pk")
    if study.opened_at:
        items = items.filter(created_at__lte=study.opened_at)
    design = study.parsed_design
    level = KeyTextTransform(design.balance_field, "content") if design.balance_field else F("dataset_id")
    pks, strata = zip(*items.values_list("pk", level), strict=True)
    chosen = assign_items(strata, items_each=design.items_each, number=number, seed=design.seed)
    found = Item.objects.in_bulk([pks[index] for index in chosen])
    return [found[pks[index]] for index in chosen]
