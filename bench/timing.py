"""Measured times and what is said about them; no clock but the one that is passed through."""

import time
from collections.abc import Callable, Mapping
from statistics import median

Step = Callable[[int], object]


def interleaved(steps: Mapping[str, Step], *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each step by name, `rounds` values each; every step gets the round's number.

    Steps take turns, and every second round runs backwards: what grows with time or with the table hits all alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds):
        names = list(steps) if number % 2 == 0 else list(steps)[::-1]
        for name in names:
            started = time.perf_counter()
            steps[name](number)
            seconds[name].append(time.perf_counter() - started)
    return seconds


def per_call(call: Callable[[], object], *, rounds: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of so many calls, or of as many as 50 ms hold: what other work adds is left out.

    With `time.process_time` as the clock, waiting for a free core is left out too.
    """
    seconds: list[float] = []
    while len(seconds) < rounds or sum(seconds) < 0.05:
        started = clock()
        call()
        seconds.append(clock() - started)
    return min(seconds)


def ratio(numerator: list[float], denominator: list[float]) -> float:
    """Median over median; both lists hold at least one positive number."""
    return median(numerator) / median(denominator)


def verdict(name: str, value: float, target: float) -> str:
    """`record_many / COPY 2.1 (target <= 3): holds`; judged before rounding, so 3.04 falls short of 3."""
    return f"{name} {value:.2f} (target <= {target:g}): {'holds' if value <= target else 'falls short'}"


def rate(count: int, seconds: list[float], unit: str) -> str:
    """`12,345 items/s (median of 3; 0.41 s for 5,000)`."""
    middle = median(seconds)
    return f"{count / middle:,.0f} {unit}/s (median of {len(seconds)}; {middle:.2f} s for {count:,})"
