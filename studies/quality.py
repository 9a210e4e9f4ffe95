"""A study's sessions as its quality filters see them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from materials.questions import option_codes
from studies.filters import PLACED, Filter, FunnelRow, Run, StraightLining, Submission, apply_filters
from studies.models import PlatformSubmission, Screen, Session, Study

AT_THE_END = (Session.Status.COMPLETED, Session.Status.FAILED_ATTENTION)


@dataclass(frozen=True, slots=True)
class Filtered:
    """What the filters made of people or of simulated people: a row for each filter, and the sessions that pass."""

    rows: list[FunnelRow]
    passed: list[int]


def filter_sessions(study: Study, filters: tuple[Filter, ...] | None = None) -> dict[bool, Filtered]:
    """By whether they are simulated, what the filters (None: the study's) make of the sessions. At most 3 queries.

    Who tried the study out is in neither. Raises DesignError when the study's filters cannot be used.
    """
    filters = study.parsed_filters if filters is None else filters
    runs = list(_runs(study, with_places=any(isinstance(entry, StraightLining) for entry in filters)))
    found = {}
    for simulated in sorted({run.simulated for run in runs}):
        rows, passed = apply_filters(filters, [run for run in runs if run.simulated == simulated])
        found[simulated] = Filtered(rows, [run.session for run in passed])
    return found


def _runs(study: Study, *, with_places: bool) -> Iterator[Run]:
    submissions = _submissions(study)
    places = _places(study) if with_places else {}
    sessions = Session.objects.counted().filter(study=study).select_related("identity").order_by("number")
    for session in sessions.defer("attributes", "cell"):
        on_platform = study.platform != Study.Platform.NONE and not session.simulated
        finished = session.finished_at
        yield Run(
            session=session.pk,
            simulated=session.simulated,
            ended=session.status in AT_THE_END,
            attention_passed=session.attention_passed,
            seconds=(finished - session.started_at).total_seconds() if finished else None,
            code=study.completion_codes.get(session.status, ""),
            has_platform_id=hasattr(session, "identity"),
            submissions=tuple(submissions[session.pk]) if on_platform else None,
            places=places.get(session.pk, {}),
        )


def _submissions(study: Study) -> Mapping[int, list[Submission]]:
    """What the platform knows, by session."""
    known = PlatformSubmission.objects.filter(identity__study=study)
    columns = ("identity__session", "submission_digest", "status", "code", "return_requested_at")
    rows = list(known.order_by("pk").values_list(*columns))
    holders = Counter(digest for _, digest, *_ in rows)
    found = defaultdict(list)
    for session, digest, status, code, return_requested_at in rows:
        found[session].append(Submission(status, code, holders[digest] > 1, return_requested_at is not None))
    return found


def _places(study: Study) -> Mapping[int, Mapping[str, tuple[int, ...]]]:
    """By session and question, where on the page the chosen options and points stood."""
    placed = [question for question in study.item_questions if question.kind in PLACED]
    screens = Screen.objects.filter(session__study=study, session__status__in=AT_THE_END, item__isnull=False)
    found: dict[int, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for session, answers, orders in screens.order_by("session", "position").values_list("session", "answers", "orders"):
        for question in placed:
            if question.code in answers:
                place = _place(question, answers[question.code], orders.get(question.code))
                found[session][question.code] = (*found[session].get(question.code, ()), place)
    return found


def _place(question: Any, value: Any, order: list[str] | None) -> int:
    return list(order or option_codes(question)).index(str(value))
