"""An endpoint's limits, shared by all workers through Redis: calls in flight, and calls a minute.

A slot has a time to live, so that a killed worker's slots free themselves. Times are the Redis server's.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from redis.asyncio import Redis

ASK_AGAIN_MS = 50

# Answers {again, delay}: `again` is 0 when the slot is taken, otherwise the milliseconds after which to try again.
# `delay`: milliseconds until its turn; turns are given out ahead, so that nobody has to ask for one twice.
ACQUIRE = """
local slots, turn = KEYS[1], KEYS[2]
local token, concurrency, lifetime = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local per_minute, again = tonumber(ARGV[4]), tonumber(ARGV[5])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
if redis.call('ZCARD', slots) >= concurrency then return {again, 0} end
local delay = 0
if per_minute > 0 then
  local due = math.max(now, tonumber(redis.call('GET', turn) or '0'))
  delay = math.ceil(due - now)
  redis.call('SET', turn, due + 60000 / per_minute, 'PX', delay + 120000)
end
redis.call('ZADD', slots, now + delay + lifetime, token)
redis.call('PEXPIRE', slots, delay + lifetime * 2)
return {0, delay}"""


class EndpointSlots:
    """The limits of one endpoint. `seconds`: how long a slot lives when nobody gives it back."""

    def __init__(self, redis: Redis, *, endpoint_id: int, concurrency: int, per_minute: int | None, seconds: float):
        self._redis = redis
        self._keys = [f"concord:endpoint:{endpoint_id}:slots", f"concord:endpoint:{endpoint_id}:turn"]
        self._concurrency, self._per_minute, self._milliseconds = concurrency, per_minute or 0, int(seconds * 1000)
        self._acquire = redis.register_script(ACQUIRE)

    @asynccontextmanager
    async def slot(self, sleep: Callable[[float], Awaitable[None]]) -> AsyncIterator[None]:
        """One call's place at the endpoint; waits by `sleep` (seconds), which may raise to give up waiting."""
        token = uuid.uuid4().hex
        while (answer := await self._take(token))[0]:
            await sleep(answer[0] / 1000)
        try:
            if answer[1]:
                await sleep(answer[1] / 1000)
            yield
        finally:
            await self._redis.zrem(self._keys[0], token)

    async def _take(self, token: str) -> list[int]:
        again = max(ASK_AGAIN_MS, 3 * self._concurrency)  # those who wait are at most as many as there are slots
        limits = [self._concurrency, self._milliseconds, self._per_minute, again]
        answer: list[int] = await self._acquire(keys=self._keys, args=[token, *limits])
        return answer
