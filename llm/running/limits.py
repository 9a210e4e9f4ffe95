"""How fast to ask, and when to stop asking: state machines without a clock.

Pure code: time and randomness come in as arguments. Times are seconds on whatever clock the caller uses throughout.
"""

import math
import random
from collections import deque
from dataclasses import dataclass
from statistics import median

BACKOFF_BASE_SECONDS = 0.5
BACKOFF_CAP_SECONDS = 60.0
RETRY_AFTER_CAP_SECONDS = 300.0  # a server that asks for more is treated as down by the circuit breaker

START = 16  # requests in flight before anything is known of the server
LOSS = 0.3  # places a refusal costs
REFUSED_IN_A_ROW = 4
SLOW, TOO_SLOW, SHRINK = 2.0, 3.0, 0.9
LATENCY_SAMPLES, LATENCY_ROUNDS = 20, 10
LATENCY_FLOOR_SECONDS = 0.1  # what is quicker is all the same: this process's own delays are of that size
ESTIMATE_CALLS = 50


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


class LatencyWatch:
    """How much slower a server answers now than it did in the best of its last rounds.

    A round is at least LATENCY_SAMPLES answers; it counts with its median. Both the seconds of an answer and its
    seconds a token are followed, and the smaller rise of the two is the one that counts: answers that are only longer
    rise in the first alone, answers that are only shorter in the second alone, and a server that has more to do than
    it can rises in both.
    """

    def __init__(self) -> None:
        self._now: list[tuple[float, float]] = []
        self._size = 0
        self._rounds: deque[tuple[float, float]] = deque(maxlen=LATENCY_ROUNDS)

    def add(self, seconds: float, tokens: int | None, *, in_flight: int) -> float | None:
        """Note one answer, whose `tokens` may be unknown. At the end of a round: the rise, otherwise None.

        A round that begins with this answer takes `in_flight` of them. The rise is at least 1, and 1 in the first one.
        """
        if not self._now:
            self._size = max(in_flight, LATENCY_SAMPLES)
        self._now.append((max(seconds, LATENCY_FLOOR_SECONDS), seconds / tokens if tokens else math.inf))
        if len(self._now) < self._size:
            return None
        whole, a_token = median(pair[0] for pair in self._now), median(pair[1] for pair in self._now)
        self._now.clear()
        self._rounds.append((whole, a_token))
        best_whole, best_a_token = min(pair[0] for pair in self._rounds), min(pair[1] for pair in self._rounds)
        known = best_a_token > 0 and a_token < math.inf
        return min(whole / best_whole, a_token / best_a_token) if known else whole / best_whole


class AdaptiveConcurrency:
    """How many requests may be in flight: grows while the server answers, shrinks when it refuses (429) or gets slow.

    Additive increase: one more for each round of answers (until the first refusal or slow round one for each answer,
    so that a free server is used fully after a few rounds). Multiplicative decrease: each refusal takes LOSS places, so
    a round that is refused altogether multiplies the limit by 1 - LOSS, and one that is refused to a tenth by
    1 - LOSS / 10: a server that now and then refuses somebody is not taken for one that has no room.
    Answers that take more than SLOW times as long as in the best of the last rounds stop the growth; more than
    TOO_SLOW times, and the limit shrinks to SHRINK of itself (see LatencyWatch).
    """

    def __init__(self, maximum: int, *, start: int = START) -> None:
        if maximum < 1 or start < 1:
            raise ValueError("maximum and start are at least 1")
        self._maximum = maximum
        self._limit = float(min(start, maximum))
        self._doubles = True
        self._slow = False
        self._latency = LatencyWatch()
        self.in_flight = 0
        self.refused_in_a_row = 0

    @property
    def limit(self) -> int:
        """Requests allowed in flight: 1 to the maximum."""
        return int(self._limit)

    @property
    def has_room(self) -> bool:
        return self.in_flight < self.limit

    def set_maximum(self, maximum: int) -> None:
        """From now on at most so many. Where only the old maximum held the limit down, it grows by a round's answers
        at once again. Raises ValueError when it is below 1."""
        if maximum < 1:
            raise ValueError("maximum is at least 1")
        if self._limit >= self._maximum < maximum:
            self._doubles = True
            self._limit = max(self._limit, float(min(START, maximum)))
        self._maximum = maximum
        self._limit = min(self._limit, float(maximum))

    def start(self) -> None:
        """Count one request in; whatever became of it, `finish` counts it out."""
        self.in_flight += 1

    def finish(self) -> None:
        self.in_flight -= 1

    def answered(self, seconds: float, tokens: int | None = None) -> None:
        """The server answered, in so many seconds and with so many tokens (None where it does not say)."""
        self.refused_in_a_row = 0
        rise = self._latency.add(seconds, tokens, in_flight=self.limit)
        if rise is not None:
            self._slow = rise > SLOW
            if rise > TOO_SLOW:
                self._limit = max(1.0, self._limit * SHRINK)
        if self._slow:
            self._doubles = False
        else:
            self._limit = min(float(self._maximum), self._limit + (1.0 if self._doubles else 1.0 / self._limit))

    def refused(self) -> None:
        """The server refused a request for coming too fast (429)."""
        self.refused_in_a_row += 1
        self._doubles = False
        self._limit = max(1.0, self._limit - LOSS)

    @property
    def shut_out(self) -> bool:
        """Whether the server refuses everybody rather than one now and then, so that all had better wait."""
        return self.refused_in_a_row >= REFUSED_IN_A_ROW


class TokenEstimate:
    """How many tokens the next call will use, by the mean of those before it, the later the more.

    Before the first one: the tokens that the prompt seems to have, and as many as the answer may have.
    """

    def __init__(self, most_completion: int) -> None:
        self._ratio, self._completion, self._known = 1.0, float(most_completion), 0

    def of(self, prompt: int) -> int:
        """`prompt`: tokens by the length of the text. At least 1."""
        return max(1, math.ceil(prompt * self._ratio + self._completion))

    def learn(self, prompt: int, prompt_tokens: int, completion_tokens: int) -> None:
        """`prompt` was given to `of`; the others are what the server counted."""
        self._known += 1
        share = max(1 / self._known, 1 / ESTIMATE_CALLS)
        self._ratio += share * (prompt_tokens / max(1, prompt) - self._ratio)
        self._completion += share * (completion_tokens - self._completion)


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
