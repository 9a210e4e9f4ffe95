import heapq
import itertools
import random

import pytest

from llm.limits import RETRY_AFTER_CAP_SECONDS, AdaptiveConcurrency, CircuitBreaker, backoff_seconds


def test_backoff_is_full_jitter_that_doubles_up_to_a_cap():
    rng = random.Random(1)
    for attempt, top in [(1, 1), (2, 2), (3, 4), (7, 60), (10_000, 60)]:
        waits = [backoff_seconds(attempt, rng=rng) for _ in range(400)]
        assert 0 <= min(waits) < top * 0.05
        assert top * 0.95 < max(waits) <= top
    with pytest.raises(ValueError):
        backoff_seconds(0, rng=rng)


def test_retry_after_is_a_lower_bound_and_has_a_cap():
    rng = random.Random(1)
    waits = [backoff_seconds(1, retry_after=8, rng=rng) for _ in range(200)]
    assert min(waits) >= 8
    assert 9 < max(waits) <= 10
    assert backoff_seconds(1, retry_after=1e9, rng=rng) <= RETRY_AFTER_CAP_SECONDS * 1.25
    assert 0 <= backoff_seconds(1, retry_after=0, rng=rng) <= 0.1


def test_concurrency_doubles_each_round_until_the_first_refusal_and_then_grows_by_one():
    limits = AdaptiveConcurrency(64, start=4)
    sizes = []
    for _ in range(5):
        for ticket in [limits.start() for _ in range(limits.limit)]:
            limits.finish(ticket)
        sizes.append(limits.limit)
    assert sizes == [8, 16, 32, 64, 64]
    limits.finish(limits.start(), throttled=True)
    after = limits.limit
    assert after == 44
    for ticket in [limits.start() for _ in range(after)]:
        limits.finish(ticket)
    assert limits.limit == after + 1


def test_requests_refused_together_lower_the_limit_once():
    limits = AdaptiveConcurrency(64, start=64)
    for ticket in [limits.start() for _ in range(64)]:
        limits.finish(ticket, throttled=True)
    assert limits.limit == 44
    limits.finish(limits.start(), throttled=True)
    assert limits.limit == 31


def test_the_limit_stays_between_one_and_the_maximum():
    limits = AdaptiveConcurrency(8)
    assert (limits.limit, limits.has_room) == (8, True)
    for _ in range(50):
        limits.finish(limits.start(), throttled=True)
    assert (limits.limit, limits.in_flight) == (1, 0)
    limits.start()
    assert not limits.has_room
    for _ in range(50):
        limits.finish(limits.start())
    assert limits.limit == 8
    for bad in ({"maximum": 0}, {"maximum": 1, "start": 0}, {"maximum": 1, "decrease": 1}):
        with pytest.raises(ValueError):
            AdaptiveConcurrency(**bad)


def simulate(*, items: int, rate: float, latency: float, maximum: int) -> tuple[float, float]:
    """Seconds and tries an item against a token-bucket server with Retry-After 1, in simulated time."""
    rng, limits, counter = random.Random(4), AdaptiveConcurrency(maximum), itertools.count()
    now, tokens, filled, tries, done = 0.0, rate, 0.0, 0, 0
    ready = [(0.0, next(counter)) for _ in range(items)]
    flying: list[tuple[float, int, int, bool]] = []
    while done < items:
        if ready and limits.has_room and ready[0][0] <= now:
            heapq.heappop(ready)
            tokens, filled, tries = min(rate, tokens + (now - filled) * rate), now, tries + 1
            accepted = tokens >= 1
            tokens -= accepted
            heapq.heappush(flying, (now + (latency if accepted else 0.01), next(counter), limits.start(), accepted))
            continue
        events = [flying[0][0]] if flying else []
        if ready and limits.has_room:
            events.append(ready[0][0])
        now = max(now, min(events))
        while flying and flying[0][0] <= now:
            _, _, ticket, accepted = heapq.heappop(flying)
            limits.finish(ticket, throttled=not accepted)
            done += accepted
            if not accepted:
                heapq.heappush(ready, (now + backoff_seconds(1, retry_after=1, rng=rng), next(counter)))
    return now, tries / items


def test_a_limited_server_is_used_nearly_fully_without_many_refusals():
    seconds, tries = simulate(items=600, rate=30, latency=0.2, maximum=64)
    assert seconds <= 25
    assert tries <= 1.8


def test_the_circuit_opens_after_failures_in_a_row():
    breaker = CircuitBreaker(threshold=3, cooldown=10)
    breaker.failed(0)
    breaker.failed(0)
    breaker.succeeded()
    for _ in range(2):
        breaker.failed(1)
    assert breaker.retry_at is None
    breaker.failed(1)
    assert (breaker.retry_at, breaker.openings) == (11, 1)
    breaker.succeeded()
    assert (breaker.retry_at, breaker.openings) == (None, 0)


def test_each_opening_in_a_row_waits_twice_as_long_up_to_the_longest():
    waits = [CircuitBreaker(cooldown=10, longest=35, openings=earlier).open(0) for earlier in (0, 1, 2, 3, 10_000)]
    assert waits == [10, 20, 35, 35, 35]


def test_latecomers_do_not_prolong_the_wait():
    breaker = CircuitBreaker(threshold=2, cooldown=10)
    for now in (0, 0, 1, 2, 3):
        breaker.failed(now)
    assert (breaker.retry_at, breaker.openings) == (10, 1)
