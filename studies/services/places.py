"""Places: dealt under one lock a study, so that nobody shares one and no quota is over-filled, and given back."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.db import connection
from django.db.models import Count, Q
from django.utils import timezone

from studies.models import PlatformIdentity, PlatformSubmission, Session, Study
from studies.platform_words import GONE
from studies.services.laying_out import cell_of, stratum_of

SHORTEST_WAIT = timedelta(minutes=30)


def full_quota(session: Session) -> Mapping[str, Any] | None:
    """The attributes of the first quota of the session's attributes that is full; None when there is room.

    Within a transaction: until its end nobody else of the study is dealt a place.
    """
    quotas = [quota for quota in session.study.parsed_design.quotas if quota.covers(session.attributes)]
    if not quotas:
        return None
    _lock(session.study)
    counted = {
        f"quota_{n}": Count("pk", filter=Q(attributes__contains=quota.attributes)) for n, quota in enumerate(quotas)
    }
    there = Session.objects.holding_places(session).aggregate(**counted)
    return next((quota.attributes for n, quota in enumerate(quotas) if there[f"quota_{n}"] >= quota.most), None)


def deal_place(session: Session) -> None:
    """Give the session, whose attributes are known, the lowest free place of its stratum and the cell of that place.

    Within a transaction: until its end nobody else of the study is dealt a place.
    """
    _lock(session.study)
    session.stratum = stratum_of(session.study, session.attributes)
    holding = Session.objects.holding_places(session).filter(stratum=session.stratum)
    taken = set(holding.values_list("place", flat=True))
    session.place = next(place for place in count(1) if place not in taken)
    session.cell = cell_of(session)
    session.save(update_fields=["stratum", "place", "cell"])


def _lock(study: Study) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('places of a study'), %s)", [study.pk])


def give_back(session: Session, why: Session.GivenBack) -> bool:
    """Let the session's place, or the one that it would still get, go to the next person. False when it has none.

    Who has completed keeps the place when the platform says that their time is over. Who goes on afterwards keeps their
    items, or gets those of the next person, and finishes late.
    """
    has_or_gets = Q(place__isnull=False) | Q(status=Session.Status.STARTED)
    held = Session.objects.filter(has_or_gets, pk=session.pk, given_back_at=None)
    if why == Session.GivenBack.TIMED_OUT:
        held = held.filter(status=Session.Status.STARTED)
    return bool(held.update(given_back_at=timezone.now(), given_back_why=why))


def follow_platform(identity: PlatformIdentity, status: str) -> bool:
    """Give the person's place back when all of their submissions are gone there; whether one was given back.

    `status` is that of one of them. The platform sends somebody else for a rejected one too.
    """
    if status not in GONE or identity.session is None or identity.submissions.exclude(status__in=GONE).exists():
        return False
    timed_out = status == PlatformSubmission.Status.TIMED_OUT
    return give_back(identity.session, Session.GivenBack.TIMED_OUT if timed_out else Session.GivenBack.RETURNED)


def give_back_timed_out(now: datetime) -> int:
    """Give back the places of people without a new page for twice the study's minutes, at least 30; how many."""
    started = Session.objects.counted().filter(status=Session.Status.STARTED)
    waiting = started.filter(place__isnull=False, given_back_at=None)
    given_back = 0
    for study in Study.objects.filter(pk__in=waiting.values("study")):
        since = now - max(2 * timedelta(minutes=study.parsed_design.minutes), SHORTEST_WAIT)
        moved = Q(screens__shown_at__gte=since)
        idle = waiting.filter(study=study).exclude(pk__in=Session.objects.filter(moved, study=study))
        given_back += idle.update(given_back_at=now, given_back_why=Session.GivenBack.TIMED_OUT)
    return given_back
