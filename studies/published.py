"""Published studies, kept by each process: of what participants' pages show, nothing changes after the opening."""

from functools import lru_cache
from typing import Any

from studies.models import Screen, Session, Study


def find_session(study_key: str, session_key: str) -> Session | None:
    """The session with these keys, and its study as far as it cannot change: not its status, for one."""
    study = _study(study_key)
    session = Session.objects.filter(study=study, key=session_key).first() if study else None
    if session and study:
        session.study = study
    return session


def find_screen(study_key: str, session_key: str, **which: Any) -> Screen | None:
    """The session's first screen with these values, with its item, and with its session as `find_session` has it."""
    study = _study(study_key)
    screens = Screen.objects.filter(session__study=study, session__key=session_key, **which).order_by("position")
    screen = screens.select_related("session", "item").first() if study else None
    if screen and study:
        screen.session.study = study
    return screen


def _study(key: str) -> Study | None:
    try:
        return _published(key)
    except Study.DoesNotExist:  # a draft that somebody tries out
        return Study.objects.select_related("project", "instrument").filter(key=key).first()


@lru_cache(maxsize=100)
def _published(key: str) -> Study:
    """Raises Study.DoesNotExist, which is not kept, for a study that has not been opened."""
    return Study.objects.select_related("project", "instrument").get(key=key, opened_at__isnull=False)
