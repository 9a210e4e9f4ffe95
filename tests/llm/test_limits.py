import heapq
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.running.limits import (
    LATENCY_ROUNDS,
    LATENCY_SAMPLES,
    RETRY_AFTER_CAP_SECONDS,
    AdaptiveConcurrency,
    CircuitBreaker,
    TokenEstimate,
    backoff_seconds,
)


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


def answer_round(limits: AdaptiveConcurrency, seconds: float = 0.2, tokens: int | None = None) -> None:
    for _ in range(limits.limit):
        limits.answered(seconds, tokens)


def test_concurrency_doubles_each_round_until_the_first_refusal_and_then_grows_by_one():
    limits = AdaptiveConcurrency(64, start=4)
    sizes = []
    for _ in range(5):
        answer_round(limits)
        sizes.append(limits.limit)
    assert sizes == [8, 16, 32, 64, 64]
    for _ in range(64):
        limits.refused()
    after = limits.limit
    assert after == 44  # what a refused round leaves
    answer_round(limits)
    answer_round(limits)
    assert limits.limit == after + 2


def test_a_refusal_now_and_then_lowers_the_limit_only_so_far():
    limits = AdaptiveConcurrency(64, start=64)
    for n in range(20_000):
        limits.refused() if n % 10 == 0 else limits.answered(0.2)
    assert 25 <= limits.limit <= 35  # where (1 - p) / limit gained equals 0.3 p lost: 30


def test_only_those_refused_in_a_row_shut_everybody_out():
    limits = AdaptiveConcurrency(64)
    seen = []
    for throttled in [True, True, True, False, True, True, True, True, True]:
        limits.refused() if throttled else limits.answered(0.2)
        seen.append(limits.shut_out)
    assert seen == [False, False, False, False, False, False, False, True, True]


def test_the_limit_stays_between_one_and_the_maximum():
    limits = AdaptiveConcurrency(8)
    assert (limits.limit, limits.has_room) == (8, True)
    for _ in range(50):
        limits.refused()
    assert limits.limit == 1
    limits.start()
    assert not limits.has_room
    limits.finish()
    assert limits.has_room
    for _ in range(50):
        limits.answered(0.2)
    assert limits.limit == 8
    for bad in ({"maximum": 0}, {"maximum": 1, "start": 0}):
        with pytest.raises(ValueError):
            AdaptiveConcurrency(**bad)


def test_a_new_maximum_counts_at_once_in_both_directions():
    limits = AdaptiveConcurrency(4)
    limits.set_maximum(10)
    assert limits.limit == 10
    limits.set_maximum(3)
    assert limits.limit == 3
    limits.set_maximum(64)
    assert limits.limit == 16  # as at the start, and from there on as fast
    answer_round(limits)
    assert limits.limit == 32
    for _ in range(20):
        limits.refused()
    limits.set_maximum(100)
    assert limits.limit == 25  # the server keeps it down, not the old maximum
    with pytest.raises(ValueError):
        limits.set_maximum(0)


def limit_after(*rounds: tuple[float, int | None], start: int = 32) -> int:
    limits = AdaptiveConcurrency(1000, start=start)
    for seconds, tokens in rounds:
        answer_round(limits, seconds, tokens)
    return limits.limit


def test_answers_twice_as_slow_end_the_growth_and_thrice_as_slow_shrink_it():
    assert limit_after((0.2, 3), (0.2, 3)) == 128
    # The growth of a round is over when its latency is known; the rounds after it know.
    assert limit_after((0.2, 3), (0.38, 3), (0.2, 3)) == 256
    assert limit_after((0.2, 3), (0.42, 3), (0.42, 3)) == 127
    for tokens in (3, None):
        assert limit_after((0.2, tokens), (0.62, tokens)) == int(127 * 0.9)
        assert limit_after((0.2, tokens), (0.62, tokens), (0.62, tokens), (0.62, tokens)) <= 127 * 0.9**2


def test_answers_that_are_only_longer_or_only_shorter_are_not_slow():
    assert limit_after((0.2, 3), (8.0, 400), (8.0, 400)) == 256
    assert limit_after((8.0, 400), (0.2, 3), (0.2, 3)) == 256
    assert limit_after((0.2, 3), (8.0, 12), (8.0, 12)) < 128


def test_a_few_slow_answers_and_differences_of_milliseconds_are_not_slow():
    limits = AdaptiveConcurrency(1000, start=32)
    answer_round(limits, 0.2)
    for n in range(1000):
        limits.answered(5.0 if n % 3 == 0 else 0.2)
    assert limits.limit > 500
    assert limit_after((0.005, 3), (0.09, 3), (0.09, 3)) == 256


def test_no_judgement_before_twenty_answers():
    limits = AdaptiveConcurrency(2)
    for _ in range(20):
        limits.answered(0.2)
    for _ in range(19):
        limits.answered(9.0)
    assert limits.limit == 2
    limits.answered(9.0)
    assert limits.limit == 1


EVENTS = st.one_of(
    st.just("refused"),
    st.tuples(st.floats(0, 600), st.none() | st.integers(0, 10_000)),
    st.integers(1, 300),
)


@given(st.integers(1, 300), st.integers(1, 300), st.lists(EVENTS, max_size=300))
def test_whatever_happens_the_limit_keeps_its_bounds_and_recovers(maximum: int, start: int, events: list):
    limits = AdaptiveConcurrency(maximum, start=start)
    for event in events:
        if event == "refused":
            limits.refused()
        elif isinstance(event, int):
            maximum = event
            limits.set_maximum(maximum)
        else:
            limits.answered(*event)
        assert 1 <= limits.limit <= maximum
    for _ in range(LATENCY_ROUNDS * max(LATENCY_SAMPLES, maximum) + maximum**2):
        limits.answered(0.3, 10)
        if limits.limit == maximum:
            break
    assert limits.limit == maximum


def test_a_server_that_has_become_slower_for_good_is_used_fully_again():
    limits = AdaptiveConcurrency(64, start=64)
    sizes: list[int] = []
    for _ in range(80):
        answer_round(limits, 0.2 if len(sizes) < 5 else 2.0)
        sizes.append(limits.limit)
    assert 15 < min(sizes) < 40
    assert sizes[-1] == 64


def test_the_estimate_of_tokens_follows_what_the_server_counts():
    estimate = TokenEstimate(128)
    assert estimate.of(100) == 228  # as much as it can be
    estimate.learn(100, 120, 8)
    assert estimate.of(100) == 128
    assert estimate.of(200) == 248
    for _ in range(400):
        estimate.learn(100, 90, 30)
    assert 119 <= estimate.of(100) <= 121
    assert TokenEstimate(0).of(0) == 1


def simulate(*, items: int, rate: float, latency: float, maximum: int) -> tuple[float, float]:
    """Seconds and tries an item against a token-bucket server with Retry-After 1, in simulated time."""
    rng, limits, counter = random.Random(4), AdaptiveConcurrency(maximum), itertools.count()
    now, tokens, filled, tries, done = 0.0, rate, 0.0, 0, 0
    ready = [(0.0, next(counter)) for _ in range(items)]
    flying: list[tuple[float, int, bool]] = []
    while done < items:
        if ready and limits.has_room and ready[0][0] <= now:
            heapq.heappop(ready)
            tokens, filled, tries = min(rate, tokens + (now - filled) * rate), now, tries + 1
            accepted = tokens >= 1
            tokens -= accepted
            limits.start()
            heapq.heappush(flying, (now + (latency if accepted else 0.01), next(counter), accepted))
            continue
        events = [flying[0][0]] if flying else []
        if ready and limits.has_room:
            events.append(ready[0][0])
        now = max(now, min(events))
        while flying and flying[0][0] <= now:
            accepted = heapq.heappop(flying)[2]
            limits.finish()
            done += accepted
            if accepted:
                limits.answered(latency)
            else:
                limits.refused()
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
