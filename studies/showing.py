"""One session's screens as a researcher reads them: what was shown, how it was answered, and how long it took."""

from dataclasses import dataclass
from typing import Any

from materials.questions import option_label
from responses.showing import value_text
from studies.models import Screen, Session
from studies.paradata import PARADATA
from studies.services.laying_out import questions_of


@dataclass(frozen=True)
class ShownScreen:
    """`seconds` are by the server's clock, from shown to answered; `browser` are (label, number) by the browser's.
    `answers` are (question, answer, options in the order shown).
    """

    screen: Screen
    seconds: float | None
    browser: list[tuple[str, float]]
    conditions: list[tuple[str, str]]
    answers: list[tuple[str, str, list[str]]]


def shown_screens(session: Session) -> list[ShownScreen]:
    """The session's screens in order, those to come too; one query."""
    screens = session.screens.select_related("item").order_by("position")
    return [_shown(session, screen) for screen in screens]


def _shown(session: Session, screen: Screen) -> ShownScreen:
    screen.session = session
    taken = screen.answered_at - screen.shown_at if screen.answered_at and screen.shown_at else None
    factors = session.cell | screen.factors if screen.item else {}
    language = {"language": screen.language} if screen.language else {}
    return ShownScreen(
        screen=screen,
        seconds=taken.total_seconds() if taken is not None else None,
        browser=[(name.replace("_", " "), screen.paradata[name]) for name in PARADATA if name in screen.paradata],
        conditions=list((factors | language).items()),
        answers=[_answer(question, screen) for question in questions_of(screen)],
    )


def _answer(question: Any, screen: Screen) -> tuple[str, str, list[str]]:
    content = screen.item.content if screen.item else {}
    given = screen.answers.get(question.code)
    order = [option_label(question, code, content) or code for code in screen.orders.get(question.code, ())]
    return question.text, "" if given is None else value_text(question, given, content), order
