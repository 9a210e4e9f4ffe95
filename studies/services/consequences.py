"""What the answers to a screen change besides being stored, by its kind."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from projects.models import Project
from responses.kept import kept_id
from responses.models import RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many
from studies.flow import OUTCOME, UNFINISHED, is_allowed
from studies.models import Screen, Session
from studies.services.laying_out import screens_before_place, screens_of_place
from studies.services.places import deal_place, full_quota
from studies.translating import translated

Changes = dict[str, Any]  # of the session's fields; with a status the session ends
Consequence = Callable[[Screen, Mapping[str, Any], datetime], Changes]


def _consent(screen: Screen, values: Mapping[str, Any], now: datetime) -> Changes:
    session = screen.session
    if values["consent"] == "no":
        return {"status": Session.Status.NO_CONSENT}
    following = screens_before_place(session)[1:]
    Screen.objects.bulk_create(following)
    version = hashlib.sha256(translated(session.study, screen.language).texts.consent.encode()).hexdigest()
    consented = {"consent_version": version, "consented_at": now}
    return consented if following else consented | _admit(session)


def _platform_id(screen: Screen, values: Mapping[str, Any], now: datetime) -> Changes:
    return {} if screen.session.study.demographics else _admit(screen.session)


def _demographics(screen: Screen, values: Mapping[str, Any], now: datetime) -> Changes:
    screen.session.attributes = dict(values)
    return {"attributes": screen.session.attributes} | _admit(screen.session)


def _admit(session: Session) -> Changes:
    """Deal the place and lay out what belongs to it, unless the study does not ask this person or has enough people."""
    if not is_allowed(session.study.parsed_design.screening, session.attributes):
        return {"status": Session.Status.SCREENED_OUT}
    if full_quota(session) is not None:
        return {"status": Session.Status.QUOTA_FULL}
    deal_place(session)
    Screen.objects.bulk_create(screens_of_place(session))
    return {}


def _comprehension(screen: Screen, values: Mapping[str, Any], now: datetime) -> Changes:
    check = screen.session.study.parsed_design.comprehension
    return {"status": Session.Status.FAILED_COMPREHENSION} if check and check.wrong(values) else {}


def _attention(screen: Screen, values: Mapping[str, Any], now: datetime) -> Changes:
    design = screen.session.study.parsed_design
    checks = {check.question.code: check for check in design.attention_checks}
    screens = Screen.objects.filter(session=screen.session, kind=Screen.Kind.ATTENTION, answered_at__isnull=False)
    given = [(code, value) for answers in screens.values_list("answers", flat=True) for code, value in answers.items()]
    failed = sum(not checks[code].is_passed(value) for code, value in given)
    return {"attention_passed": failed < design.attention_limit}


def _item(screen: Screen, values: Mapping[str, Any], now: datetime) -> Changes:
    """Record the answers about the item, but those of somebody who only tries the study out."""
    session, study = screen.session, screen.session.study
    if session.pilot or not values:
        return {}
    changes: Changes = {}
    if session.respondent_id is None:
        changes["respondent"] = session.respondent = get_respondent(
            project=study.project,
            kind=RespondentKind.PARTICIPANT,
            key=f"session:{session.pk}",
            attributes=session.attributes | {OUTCOME: UNFINISHED},
            simulated=session.simulated,
        )
    factors = session.cell | screen.factors
    if study.translations:
        factors["language"] = screen.language
    shown = {code: "|".join(order) for code, order in screen.orders.items()}
    conditions = {
        order: _condition(study.project, factors | ({"option_order": order} if order else {}))
        for order in sorted({shown.get(code, "") for code in values})  # in one order for all, or two would deadlock
    }
    seconds = (now - screen.shown_at).total_seconds() if screen.shown_at else None
    record_many(
        project=study.project,
        instrument=study.instrument,
        source_kind=SourceKind.SESSION,
        answers=[
            Answer(
                respondent_id=session.respondent_id,  # type: ignore[arg-type]  # set above
                item_id=screen.item_id,  # type: ignore[arg-type]  # every item screen has one
                question=code,
                value=value,
                condition_id=conditions[shown.get(code, "")],
                answered_at=now,
                seconds=seconds,
                source_id=session.pk,
            )
            for code, value in values.items()
        ],
    )
    return changes


def _condition(project: Project, factors: Mapping[str, str]) -> int:
    key = ("condition", project.pk, tuple(sorted(factors.items())))
    return kept_id(key, lambda: get_condition(project=project, factors=factors).pk)


CONSEQUENCES: Mapping[str, Consequence] = {
    Screen.Kind.CONSENT: _consent,
    Screen.Kind.PLATFORM_ID: _platform_id,
    Screen.Kind.DEMOGRAPHICS: _demographics,
    Screen.Kind.COMPREHENSION: _comprehension,
    Screen.Kind.ATTENTION: _attention,
    Screen.Kind.ITEM: _item,
}
