"""How many more calls a budget allows. Pure code.

A call in flight counts with the most that it can use, so that a budget is never passed by what is under way; only a
call that is asked again (a cut connection, an answer that could not be read) can pass it, by its own tries.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

Price = Callable[[int, int], Decimal | None]


@dataclass(frozen=True)
class Budget:
    """The most that a job may use; None is no limit. `tokens`: of prompts and answers together."""

    calls: int | None = None
    tokens: int | None = None
    price: Decimal | None = None

    def __bool__(self) -> bool:
        return (self.calls, self.tokens, self.price) != (None, None, None)


@dataclass(frozen=True)
class Use:
    """What a job has used so far, and what one more call may use at most."""

    calls: int  # settled and in flight
    in_flight: int
    prompt_tokens: int
    completion_tokens: int
    prompt_each: int
    completion_each: int


@dataclass(frozen=True)
class Room:
    """How many more calls may be asked, and, when that is none, which limit says so, in words."""

    calls: float
    limit: str = ""


def room(budget: Budget, use: Use, price: Price) -> Room:
    """The tightest of the limits; infinite without any.

    >>> use = Use(calls=8, in_flight=2, prompt_tokens=600, completion_tokens=60, prompt_each=100, completion_each=10)
    >>> room(Budget(calls=10, tokens=1000), use, lambda tokens_in, tokens_out: None)
    Room(calls=1, limit='1,000 tokens')
    """
    rooms = [Room(float("inf"))]
    if budget.calls is not None:
        rooms.append(Room(budget.calls - use.calls, f"{budget.calls:,} calls"))
    if budget.tokens is not None:
        each = use.prompt_each + use.completion_each
        left = budget.tokens - use.prompt_tokens - use.completion_tokens - use.in_flight * each
        rooms.append(Room(left // max(1, each), f"{budget.tokens:,} tokens"))
    if budget.price is not None:
        each_price = price(use.prompt_each, use.completion_each)
        spent = price(
            use.prompt_tokens + use.in_flight * use.prompt_each,
            use.completion_tokens + use.in_flight * use.completion_each,
        )
        if each_price and spent is not None:
            rooms.append(Room(int((budget.price - spent) // each_price), f"a price of {budget.price.normalize():f}"))
    tightest = min(rooms, key=lambda found: found.calls)
    return Room(max(0, tightest.calls), tightest.limit)
