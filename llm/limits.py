"""How fast to ask, and when to stop asking: state machines without a clock.

Pure code: time and randomness come in as arguments. Times are seconds on whatever clock the caller uses throughout.
"""

import random
from dataclasses import dataclass

BACKOFF_BASE_SECONDS = 0.5
BACKOFF_CAP_SECONDS = 60.0
RETRY_AFTER_CAP_SECONDS = 300.0  # a server that asks for more is treated as down by the circuit breaker


def backoff_seconds(attempt: int, *, retry_after: float | None = None, rng: random.Random) -> float:
    """How long to wait before trying again, in seconds, after `attempt` failed tries (1 for the first).

    Without `retry_after`: full jitter, uniform between 0 and BACKOFF_BASE_SECONDS * 2**attempt, at most
    BACKOFF_CAP_SECONDS. With it: at least what the server asked for (at most RETRY_AFTER_CAP_SECONDS), plus up to a
    quarter of it, so that those who were turned away together do not come back together. Raises ValueError when
    attempt < 1.

    >>> 0 <= backoff_seconds(3, rng=random.Random(1)) <= 4
    True
    """
    if attempt < 1:
        raise ValueError("attempt counts from 1")
    if retry_after is not None and retry_after >= 0:
        asked = min(retry_after, RETRY_AFTER_CAP_SECONDS)
        return asked + rng.uniform(0, max(asked / 4, 0.1))
    return rng.uniform(0, min(BACKOFF_CAP_SECONDS, BACKOFF_BASE_SECONDS * 2 ** min(attempt, 30)))


class AdaptiveConcurrency:
    """How many requests may be in flight: grows while the server answers, shrinks when it says 429.

    Additive increase: one more for each round of answers (and one for each answer until the first 429, so that a free
    server is used fully after a few rounds). Multiplicative decrease: a throttled request multiplies the limit by
    `decrease`, but only if it was started after the last decrease; the others in flight then tell nothing new.
    """

    def __init__(self, maximum: int, *, start: int = 16, decrease: float = 0.7) -> None:
        if maximum < 1 or start < 1 or not 0 < decrease < 1:
            raise ValueError("maximum and start are at least 1 and decrease lies between 0 and 1")
        self._maximum = maximum
        self._limit = float(min(start, maximum))
        self._decrease = decrease
        self._tickets = 0
        self._decreased_at = 0
        self.in_flight = 0

    @property
    def limit(self) -> int:
        """Requests allowed in flight: 1 to the maximum."""
        return int(self._limit)

    @property
    def has_room(self) -> bool:
        return self.in_flight < self.limit

    def start(self) -> int:
        """Count one request in and return its ticket, to be given back to `finish`."""
        self.in_flight += 1
        self._tickets += 1
        return self._tickets

    def finish(self, ticket: int, *, throttled: bool = False) -> None:
        """Count the request out; `throttled` when the server refused it for coming too fast (429)."""
        self.in_flight -= 1
        if not throttled:
            growing_fast = self._decreased_at == 0
            self._limit = min(float(self._maximum), self._limit + (1.0 if growing_fast else 1.0 / self._limit))
        elif ticket > self._decreased_at:
            self._limit = max(1.0, self._limit * self._decrease)
            self._decreased_at = self._tickets


@dataclass
class CircuitBreaker:
    """When an endpoint is down, and from when on it may be asked again.

    `threshold` failures in a row open the circuit for `cooldown` seconds. `openings` counts how often in a row that
    happened, also in earlier runs: each waits twice as long as the one before, at most `longest`.
    """

    threshold: int = 10
    cooldown: float = 15.0
    longest: float = 600.0
    failures: int = 0
    openings: int = 0
    retry_at: float | None = None  # None while the circuit is closed

    def succeeded(self) -> None:
        """A request was answered: the endpoint is up."""
        self.failures = self.openings = 0
        self.retry_at = None

    def failed(self, now: float) -> None:
        """A request failed for want of a server (connection, time-out, 5xx); a 429 is an answer and does not count."""
        self.failures += 1
        if self.failures >= self.threshold:
            self.open(now)

    def open(self, now: float) -> float:
        """The endpoint is down: the time from which on it may be asked again.

        Failures of requests that were under way when it opened say nothing new and do not prolong the wait.
        """
        if self.retry_at is None:
            self.retry_at = now + min(self.longest, self.cooldown * 2.0 ** min(self.openings, 30))
            self.openings += 1
        return self.retry_at
