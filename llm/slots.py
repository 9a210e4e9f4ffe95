"""An endpoint's limits, shared by all workers through Redis: calls in flight, and calls a minute.

A slot has a time to live, so that a killed worker's slots free themselves. Times are the Redis server's.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from redis.asyncio import Redis

ASK_AGAIN_MS = 50

# Returns 0 when the slot is taken, otherwise the milliseconds after which to ask again.
ACQUIRE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return tonumber(ARGV[5]) end
local per_minute = tonumber(ARGV[4])
if per_minute > 0 then
  local due = tonumber(redis.call('GET', KEYS[2]) or '0')
  if due > now then return math.ceil(due - now) end
  redis.call('SET', KEYS[2], math.max(due, now) + 60000 / per_minute, 'PX', 120000)
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]) * 2)
return 0"""


class EndpointSlots:
    """The limits of one endpoint. `seconds`: how long a slot lives when nobody gives it back.

    `concurrency` may be changed while running.
    """

    def __init__(self, redis: Redis, *, endpoint_id: int, concurrency: int, per_minute: int | None, seconds: float):
        self._redis = redis
        self._keys = [f"concord:endpoint:{endpoint_id}:slots", f"concord:endpoint:{endpoint_id}:due"]
        self.concurrency, self._per_minute, self._milliseconds = concurrency, per_minute or 0, int(seconds * 1000)
        self._acquire = redis.register_script(ACQUIRE)

    @asynccontextmanager
    async def slot(self, sleep: Callable[[float], Awaitable[None]]) -> AsyncIterator[None]:
        """One call's place at the endpoint; waits by `sleep` (seconds), which may raise to give up waiting."""
        token = uuid.uuid4().hex
        while wait := await self._take(token):
            await sleep(wait / 1000)
        try:
            yield
        finally:
            await self._redis.zrem(self._keys[0], token)

    async def _take(self, token: str) -> int:
        """0 when the slot is taken, otherwise milliseconds to wait."""
        limits = [self.concurrency, self._milliseconds, self._per_minute, ASK_AGAIN_MS]
        return int(await self._acquire(keys=self._keys, args=[token, *limits]))
