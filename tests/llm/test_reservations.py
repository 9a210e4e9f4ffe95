"""Who asks what at this moment, through a real Redis server."""

import asyncio
import os

from redis.asyncio import Redis

from llm.running.reservations import Reservations


def test_what_is_being_asked_stays_reserved_as_long_as_a_heartbeat_says_so():
    async def run() -> tuple[set[str], set[str]]:
        async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
            mine, others = (Reservations(redis, project_id=91_001, seconds=5) for _ in range(2))
            await mine.take(["slow", "answered"])
            for fingerprint in ("slow", "answered"):
                await redis.pexpire(f"concord:asking:91001:{fingerprint}", 200)
            await mine.give_back(["answered"])
            await mine.keep()
            await asyncio.sleep(0.3)
            refused = await others.take(["slow"])
            await mine.give_back_all()
            return refused, await others.take(["slow", "answered"])

    refused, taken = asyncio.run(run())
    assert refused == set()
    assert taken == {"slow", "answered"}


def test_nobody_waits_for_what_they_reserved_themselves():
    async def run() -> tuple[set[str], set[str]]:
        async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
            mine, others = (Reservations(redis, project_id=91_002, seconds=5) for _ in range(2))
            await mine.take(["refused"])
            again, refused = await mine.take(["refused", "new"]), await others.take(["refused"])
            await mine.give_back_all()
            return again, refused

    assert asyncio.run(run()) == ({"refused", "new"}, set())
