"""How fast to ask, and when to stop asking: state machines without a clock.

Pure code: time and randomness come in as arguments. Times are seconds on whatever clock the caller uses throughout.
"""

import random
from dataclasses import dataclass
from typing import Literal

BACKOFF_BASE_SECONDS = 0.5
BACKOFF_CAP_SECONDS = 60.0
RETRY_AFTER_CAP_SECONDS = 300.0  # a server that asks for more is treated as down by the circuit breaker

CircuitState = Literal["closed", "open", "half_open"]


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

    def set_maximum(self, maximum: int) -> None:
        """Change the ceiling while running; what is in flight stays."""
        if maximum < 1:
            raise ValueError("maximum is at least 1")
        self._maximum = maximum
        self._limit = min(self._limit, float(maximum))


@dataclass
class CircuitBreaker:
    """Stops asking an endpoint that is down, and tries again by itself with one request at a time.

    `threshold` failures in a row open it for `cooldown` seconds; then one trial request may go. Its success closes the
    circuit; its failure opens it again for twice as long, at most `longest`. A trial whose outcome is never reported
    (its worker died) makes room for another after one cool-down. All fields are plain numbers and can be stored.
    """

    threshold: int = 10
    cooldown: float = 15.0
    longest: float = 600.0
    failures: int = 0
    openings: int = 0
    retry_at: float | None = None
    trial: bool = False

    def state(self, now: float) -> CircuitState:
        if self.retry_at is None:
            return "closed"
        return "half_open" if self.trial or now >= self.retry_at else "open"

    def allow(self, now: float) -> bool:
        """Whether a request may go now; when the cool-down is over, the one that is allowed is the trial."""
        if self.retry_at is None:
            return True
        if now < self.retry_at:
            return False
        self.trial = True
        self.retry_at = now + self._wait()
        return True

    def succeeded(self) -> None:
        """A request was answered: the endpoint is up."""
        self.failures = self.openings = 0
        self.retry_at, self.trial = None, False

    def failed(self, now: float) -> None:
        """A request failed for want of a server (connection, time-out, 5xx); a 429 is an answer and does not count.

        While the circuit is open, failures of requests that had started before say nothing new.
        """
        self.failures += 1
        if self.trial or (self.retry_at is None and self.failures >= self.threshold):
            self.openings += 1
            self.retry_at, self.trial = now + self._wait(), False

    def _wait(self) -> float:
        return min(self.longest, self.cooldown * 2.0 ** min(max(self.openings - 1, 0), 30))
