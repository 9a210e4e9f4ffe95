"""An endpoint's limits, shared through a real Redis server."""

import asyncio
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis

from llm.running.slots import EndpointSlots

numbers = itertools.count(10_000)


class GaveUpError(Exception):
    pass


@asynccontextmanager
async def two_workers(**limits: Any) -> AsyncIterator[tuple[EndpointSlots, EndpointSlots]]:
    """The same endpoint as two workers see it, each with its own connection."""
    url, given = os.environ["REDIS_URL"], {"concurrency": 100, "per_minute": None, "seconds": 30}
    endpoint = next(numbers)
    async with Redis.from_url(url) as one, Redis.from_url(url) as two:
        slots = [EndpointSlots(redis, endpoint_id=endpoint, **given | limits) for redis in (one, two)]
        yield slots[0], slots[1]
        await one.delete(*slots[0]._keys)


async def ask(slots: EndpointSlots, tokens: int = 0, *, used: int | None = None, takes: float = 0.0) -> float:
    """One call that takes so long; the time at which it was let in."""
    async with slots.slot(asyncio.sleep, tokens=lambda: tokens) as slot:
        let_in = time.monotonic()
        await asyncio.sleep(takes)
        if used is not None:
            slot.used(used)
    return let_in


async def lifetimes(slots: EndpointSlots) -> list[int]:
    """Milliseconds until the server forgets the slots, the turns by calls and by tokens, and the wait for all."""
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        return [await redis.pttl(key) for key in slots._keys]


def gives_up_after(seconds: float) -> Callable[[float], Coroutine[Any, Any, None]]:
    """A sleep for calls that are told to stop waiting after a while."""
    deadline = time.monotonic() + seconds

    async def sleep(wanted: float) -> None:
        await asyncio.sleep(max(0.0, min(wanted, deadline - time.monotonic())))
        if time.monotonic() >= deadline:
            raise GaveUpError

    return sleep


async def gives_up(slots: EndpointSlots, tokens: int = 0, *, after: float) -> bool:
    try:
        async with slots.slot(gives_up_after(after), tokens=lambda: tokens):
            return False
    except GaveUpError:
        return True


def test_calls_in_flight_are_counted_over_all_workers_and_the_number_can_change():
    most = in_flight = 0

    async def call(slots: EndpointSlots) -> None:
        nonlocal most, in_flight
        async with slots.slot(asyncio.sleep):
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0.02)
            in_flight -= 1

    async def run() -> list[int]:
        nonlocal most
        seen = []
        async with two_workers(concurrency=4) as workers:
            for concurrency in (4, 7, 2):
                most = 0
                for slots in workers:
                    slots.concurrency = concurrency
                await asyncio.gather(*(call(slots) for slots in workers for _ in range(15)))
                seen.append(most)
        return seen

    assert asyncio.run(run()) == [4, 7, 2]


def test_calls_a_minute_are_spread_over_all_workers():
    async def run() -> list[float]:
        async with two_workers(per_minute=600) as workers:
            return sorted(await asyncio.gather(*(ask(slots) for slots in workers for _ in range(6))))

    times = asyncio.run(run())
    assert times[-1] - times[0] >= 1.09  # 11 intervals of 0.1 s
    assert times[-1] - times[0] < 2


def test_tokens_a_minute_are_spread_over_all_workers():
    async def run() -> list[float]:
        async with two_workers(tokens_per_minute=6000) as workers:
            return sorted(await asyncio.gather(*(ask(slots, 30) for slots in workers for _ in range(3))))

    times = asyncio.run(run())
    assert times[-1] - times[0] >= 1.49  # 5 intervals of 0.3 s
    assert times[-1] - times[0] < 2.5


def test_the_scarcer_of_calls_and_tokens_counts():
    async def last(**limits: int) -> float:
        async with two_workers(**limits) as workers:
            times = await asyncio.gather(*(ask(slots, 10) for slots in workers for _ in range(2)))
            return max(times) - min(times)

    assert 0.59 <= asyncio.run(last(per_minute=300, tokens_per_minute=60_000)) < 1.2
    assert 0.59 <= asyncio.run(last(per_minute=6000, tokens_per_minute=3000)) < 1.2


def test_what_was_used_is_made_good_in_both_directions():
    async def three(reserved: int, used: int | None) -> float:
        async with two_workers(tokens_per_minute=6000) as (one, two):
            started = time.monotonic()
            for slots in (one, two, one):
                last = await ask(slots, reserved, used=used, takes=0.05)
            return last - started

    assert asyncio.run(three(100, 2)) < 0.6  # as reserved: 2 s
    assert 1.9 <= asyncio.run(three(2, 100)) < 3
    assert 1.9 <= asyncio.run(three(100, None)) < 3  # a server that does not count: the estimate stands


def test_who_waits_estimates_anew():
    async def run() -> float:
        guesses = itertools.chain([1000], itertools.repeat(10))
        async with two_workers(tokens_per_minute=6000) as (one, two):
            first = asyncio.create_task(ask(one, 1000, used=1, takes=0.3))
            await asyncio.sleep(0.1)
            async with two.slot(asyncio.sleep, tokens=lambda: next(guesses)):
                pass
            return await ask(two, 10) - await first

    assert asyncio.run(run()) < 2.5  # with the first guess: 10 s


def test_a_call_of_more_tokens_than_a_minute_allows_goes_alone_at_its_turn():
    async def run() -> tuple[float, bool, float]:
        async with two_workers(tokens_per_minute=600) as (one, two):
            started = time.monotonic()
            first = asyncio.create_task(ask(one, 5000, used=3, takes=1.0))
            await asyncio.sleep(0.1)
            waited_in_vain = await gives_up(two, 1, after=0.5)
            second = await ask(two, 5000)
            return await first - started, waited_in_vain, second - started

    first, waited_in_vain, second = asyncio.run(run())
    assert first < 0.5
    assert waited_in_vain
    assert 1.0 <= second < 3.5


def test_who_gives_up_waiting_gives_the_turn_back():
    async def run(**limits: int) -> float:
        async with two_workers(**limits) as (one, two):
            started = await ask(one, 150)
            given_up = await asyncio.gather(*(gives_up(one, 150, after=0.3) for _ in range(10)))
            assert all(given_up)
            return await ask(two, 150) - started

    assert 1.4 <= asyncio.run(run(per_minute=40)) < 2.5  # one interval, and not eleven
    assert 1.4 <= asyncio.run(run(tokens_per_minute=6000)) < 2.5


def test_killed_workers_leave_nothing_stuck():
    async def run() -> tuple[float, list[int]]:
        async with two_workers(concurrency=1, seconds=0.6, per_minute=60, tokens_per_minute=6000) as (one, two):
            started = time.monotonic()
            assert await one._take("killed", 50) == [0, 0]  # and never given back
            await two.hold(0.1)
            left = await lifetimes(one)
            return await ask(two, 50) - started, left

    waited, left = asyncio.run(run())
    assert 1.0 <= waited < 2.5
    assert all(0 < lifetime <= 4000 for lifetime in left)


def test_turns_are_not_given_out_far_ahead():
    async def run() -> int:
        async with two_workers(per_minute=6) as (one, two):
            await ask(one)
            waiting = asyncio.gather(*(gives_up(slots, after=0.4) for slots in (one, two) for _ in range(10)))
            await asyncio.sleep(0.2)
            left = await lifetimes(one)
            assert all(await waiting)
            return left[1]

    assert 9_000 < asyncio.run(run()) <= 11_000  # one interval and the second that is kept for safety


def test_when_a_server_says_when_to_come_again_nobody_asks_before():
    async def run() -> list[float]:
        async with two_workers() as (one, two):
            started = time.monotonic()
            await one.hold(0.6)
            await two.hold(0.1)  # the longer one stands
            return [at - started for at in await asyncio.gather(*(ask(slots) for slots in (one, two)))]

    assert all(0.59 <= waited < 1.5 for waited in asyncio.run(run()))


def test_without_limits_nobody_waits():
    async def run() -> float:
        async with two_workers() as workers:
            times = await asyncio.gather(*(ask(slots, 10**6) for slots in workers for _ in range(20)))
            return max(times) - min(times)

    assert asyncio.run(run()) < 1


def test_a_place_lives_as_long_as_it_is_kept_and_a_killed_workers_frees_itself():
    async def run() -> tuple[float, float]:
        async with two_workers(concurrency=2, seconds=1) as (one, two):
            started = time.monotonic()
            kept = asyncio.create_task(ask(one, takes=2.5))
            await asyncio.sleep(0.05)
            await two._take("of a killed worker", 0)
            third = asyncio.create_task(ask(two))
            for _ in range(10):
                await asyncio.sleep(0.2)
                await one.keep()
            fourth = asyncio.create_task(ask(two, takes=0.1))
            fifth = asyncio.create_task(ask(two))
            await kept
            return await third - started, await fifth - await fourth

    third, between = asyncio.run(run())
    assert 0.9 <= third < 2  # the lost place came free, the kept one did not
    assert between >= 0.1  # only one place beside the kept one
