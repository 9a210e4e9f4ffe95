"""A person's way from screen to screen. The database decides which screen is next and which answer came first."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from materials.questions import NO_CONTENT, AnswerError, check_value, is_shown
from responses.models import Respondent
from studies.flow import OUTCOME, last_ending
from studies.models import Screen, Session
from studies.services.consequences import CONSEQUENCES
from studies.services.entry import id_ending
from studies.services.laying_out import asks_nothing, earlier_answers, questions_of
from studies.services.places import give_back
from studies.translating import ENGLISH

MOST_KEPT, MOST_OPTIONS = 10_000, 200  # of drafts and refused answers: characters of a text, and chosen options
NO_PARADATA: Mapping[str, float] = {}


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


def show_screen(first: Screen | None) -> Screen | None:
    """The session's `first` screen without an answer, marked as shown; None when the session has ended.

    Pages on which earlier answers leave nothing to ask are passed over.
    """
    screen = first
    while screen and screen.session.status == Session.Status.STARTED:
        if screen.shown_at is None:
            screen.shown_at = timezone.now()
            Screen.objects.filter(pk=screen.pk, shown_at=None).update(shown_at=screen.shown_at)
        if not asks_nothing(screen):
            return screen
        screen = _pass_over(screen)
    return None


def _pass_over(screen: Screen) -> Screen | None:
    """Answer a page on which nothing is asked; the next one without an answer."""
    session = screen.session
    if not _settle(screen, {}, NO_PARADATA, ""):
        session.refresh_from_db(fields=["status", "finished_at"])
    following = session.screens.filter(answered_at=None).select_related("item").order_by("position").first()
    if following:
        following.session = session
    return following


def submit_screen(
    *,
    screen: Screen,
    answers: Mapping[str, Any],
    asked: Collection[str] | None = None,
    tries: int | None = None,
    paradata: Mapping[str, float] = NO_PARADATA,
    language: str = "",
) -> Submission:
    """Store what a person sent for a screen, once: the first that arrives counts, whatever arrives later.

    `answers` are the form's values by question code; `asked` the codes that stood on the form (None: all); `tries` how
    many tries the form said were over, so that one sent twice counts once; `paradata` as studies.paradata has it;
    `language` that of the page, one of the study's. Raises AnswersRefusedError when an answer is missing or not
    allowed, when the answers call for a question that was not on the form, or when an answer to a comprehension check
    is wrong and there is another try; the screen keeps what was refused, to show it once more, until it is answered.
    Raises Screen.DoesNotExist when the person has been deleted meanwhile. When this returns, what it says is committed.
    """
    if screen.shown_at is None:
        return Submission("not_reached")
    if screen.answered_at is None:
        try:
            values = _check(screen, answers, asked)
        except AnswersRefusedError as error:
            Screen.objects.filter(pk=screen.pk, answered_at=None).update(
                refused=_refused(screen, answers, error), draft={}
            )
            raise
        _take_try(screen, answers, values, tries)
        if _settle(screen, values, paradata, language or screen.session.language):
            return Submission("stored", screen)
        screen.refresh_from_db(fields=["answers", "answered_at"])
    return Submission("kept", screen)


def save_draft(*, screen: Screen, answers: Mapping[str, Any]) -> bool:
    """Keep what is typed and not sent yet, to show it when the person comes back. False where nothing is asked now."""
    asked_now = Screen.objects.filter(pk=screen.pk, shown_at__isnull=False, answered_at=None)
    return bool(asked_now.update(draft=_as_sent(screen, answers)))


def _check(screen: Screen, answers: Mapping[str, Any], asked: Collection[str] | None) -> dict[str, Any]:
    if screen.kind == Screen.Kind.CONSENT:
        if answers.get("consent") not in ("yes", "no"):
            raise AnswersRefusedError({"consent": ENGLISH["missing_consent"]})
        return {"consent": answers["consent"]}
    content = screen.item.content if screen.item else NO_CONTENT
    earlier = earlier_answers(screen)
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for question in questions_of(screen):
        if not is_shown(question, earlier | values):
            continue
        if asked is not None and question.code not in asked:
            errors[question.code] = ENGLISH["led_here"]
            continue
        try:
            value = check_value(question, answers.get(question.code), content)
        except AnswerError as error:
            errors[question.code] = _sentence(question, answers.get(question.code), error)
            continue
        if value is not None:
            values[question.code] = value
    if screen.kind == Screen.Kind.PLATFORM_ID and values == {"platform_id": "no"} and id_ending(screen.session):
        errors["platform_id"] = ENGLISH["not_your_id"]
    if errors:
        raise AnswersRefusedError(errors)
    return values


def _take_try(screen: Screen, answers: Mapping[str, Any], values: Mapping[str, Any], tries: int | None) -> None:
    """Of a comprehension check: raise AnswersRefusedError when it is not understood and can be tried again."""
    check = screen.session.study.parsed_design.comprehension
    if screen.kind != Screen.Kind.COMPREHENSION or check is None:
        return
    left = check.tries - screen.tries - 1
    wrong = check.wrong(values)
    if wrong and tries is not None and tries != screen.tries:  # the same form once more
        raise AnswersRefusedError(screen.refused.get("errors", {}))
    if not wrong or not left:
        return
    sentence = ENGLISH["not_understood_last" if left == 1 else "not_understood"]
    error = AnswersRefusedError(dict.fromkeys(wrong, sentence))
    unanswered = Screen.objects.filter(pk=screen.pk, answered_at=None, tries=screen.tries)
    unanswered.update(tries=F("tries") + 1, refused=_refused(screen, answers, error), draft={})
    raise error


def _refused(screen: Screen, answers: Mapping[str, Any], error: AnswersRefusedError) -> dict[str, Any]:
    return {"given": _as_sent(screen, answers), "errors": error.errors}


def _as_sent(screen: Screen, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The form's values of the screen's questions, cut to what a person may have typed and the database takes."""

    def cut(value: Any) -> Any:
        if isinstance(value, list):
            return [cut(part) for part in value[:MOST_OPTIONS]]
        if isinstance(value, dict):
            return {code: cut(part) for code, part in value.items()}
        return str(value).replace("\x00", "")[:MOST_KEPT]

    return {question.code: cut(answers[question.code]) for question in questions_of(screen) if question.code in answers}


def _sentence(question: Any, value: Any, error: AnswerError) -> str:
    if not value:
        return ENGLISH.get(f"missing_{question.kind}", ENGLISH["missing_choice"])
    return error.sentence


@transaction.atomic
def _settle(screen: Screen, values: dict[str, Any], paradata: Mapping[str, float], language: str) -> bool:
    """Whether this submit was the first. Its answers and their consequences are one transaction."""
    now = timezone.now()
    told = {"answers": values, "paradata": dict(paradata), "language": language, "refused": {}, "draft": {}}
    # Of submits that arrive together one changes the row; the others wait here for its commit and then find no row.
    if not Screen.objects.filter(pk=screen.pk, answered_at=None).update(answered_at=now, **told):
        return False
    screen.answered_at, screen.answers, screen.language = now, values, language
    session = screen.session
    changes = CONSEQUENCES.get(screen.kind, lambda *_: {})(screen, values, now)
    if "status" not in changes and screen.position == session.study.page_count - 1:
        passed = changes.get("attention_passed", session.attention_passed)
        changes["status"] = last_ending(attention_passed=passed)
    if "status" in changes:
        changes["finished_at"] = now
    if changes:
        for name, value in changes.items():
            setattr(session, name, value)
        session.save(update_fields=changes)
    if session.status != Session.Status.STARTED:
        _end(session)
    return True


def _end(session: Session) -> None:
    if session.status != Session.Status.COMPLETED and session.place:
        give_back(session, Session.GivenBack.ENDED)
    if session.respondent_id:
        told = session.attributes | {OUTCOME: session.status}
        Respondent.objects.filter(pk=session.respondent_id).update(attributes=told)
