"""Many people at a survey at once: each comes, thinks, answers page after page, and waits for each next one."""

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from studies.walk.browser import WalkError


@dataclass(frozen=True)
class Load:
    """So many people who come evenly within so many seconds and think so long before each answer, on average."""

    people: int
    within: float
    thinking: float


class Visitor(Protocol):
    """One person; what is not answered as it must be is a WalkError."""

    def enter(self) -> bool:
        """Follow the link up to the first page; whether there is one to answer."""

    def answer(self) -> bool:
        """Answer the page that is shown; whether the next one is to be answered too."""

    def rest(self) -> None:
        """Let go of the connection, which no server keeps for as long as people think."""


@dataclass
class Visits:
    """Seconds of each wait from sending to the next page, and what stopped those who did not come to the end."""

    waits: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


def visit(visitors: Sequence[Visitor], load: Load, *, seed: int) -> Visits:
    """Send everybody through, each in a thread of its own."""
    visits = Visits()
    started = time.perf_counter()
    with ThreadPoolExecutor(len(visitors)) as pool:
        starts = [started + load.within * index / len(visitors) for index in range(len(visitors))]
        rngs = [random.Random(f"{seed}/{index}") for index in range(len(visitors))]
        list(pool.map(partial(_visit, load=load, visits=visits), visitors, starts, rngs))
    visits.seconds = time.perf_counter() - started
    return visits


def _visit(visitor: Visitor, start: float, rng: random.Random, *, load: Load, visits: Visits) -> None:
    time.sleep(max(0.0, start - time.perf_counter()))
    try:
        going_on = _wait(visitor.enter, visits)
        while going_on:
            if load.thinking:
                visitor.rest()
                time.sleep(load.thinking * rng.uniform(0.5, 1.5))
            going_on = _wait(visitor.answer, visits)
    except WalkError as error:
        visits.faults.append(str(error))
    finally:
        visitor.rest()


def _wait(step: Callable[[], bool], visits: Visits) -> bool:
    asked = time.perf_counter()
    going_on = step()
    visits.waits.append(time.perf_counter() - asked)
    return going_on
