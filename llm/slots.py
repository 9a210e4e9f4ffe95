"""An endpoint's limits, shared by all workers through Redis: calls in flight, and calls a minute.

A slot has a time to live, so that a killed worker's slots free themselves. Times are the Redis server's.
"""

import asyncio
import uuid
from types import TracebackType
from typing import Self

from redis.asyncio import Redis

# Returns 0 when the slot is taken, otherwise the milliseconds after which to ask again.
ACQUIRE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 25 end
local per_minute = tonumber(ARGV[4])
if per_minute > 0 then
  local interval = 60000 / per_minute
  local due = tonumber(redis.call('GET', KEYS[2]) or '0')
  if due > now then return math.ceil(due - now) end
  redis.call('SET', KEYS[2], math.max(due, now) + interval, 'PX', 120000)
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]) * 2)
return 0"""


class Slot:
    """One call's place at an endpoint: `async with slots.slot(): ask`."""

    def __init__(self, slots: "EndpointSlots") -> None:
        self._slots, self._token = slots, uuid.uuid4().hex

    async def __aenter__(self) -> Self:
        while wait := await self._slots.acquire(self._token):
            await asyncio.sleep(wait / 1000)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self._slots.release(self._token)


class EndpointSlots:
    """The limits of one endpoint. `seconds`: how long a slot lives when nobody gives it back."""

    def __init__(self, redis: Redis, *, endpoint_id: int, concurrency: int, per_minute: int | None, seconds: float):
        self._redis = redis
        self._keys = [f"concord:endpoint:{endpoint_id}:slots", f"concord:endpoint:{endpoint_id}:due"]
        self._concurrency, self._per_minute, self._milliseconds = concurrency, per_minute or 0, int(seconds * 1000)
        self._acquire = redis.register_script(ACQUIRE)

    def slot(self) -> Slot:
        return Slot(self)

    async def acquire(self, token: str) -> int:
        """0 when the slot is taken, otherwise milliseconds to wait."""
        return int(
            await self._acquire(keys=self._keys, args=[token, self._concurrency, self._milliseconds, self._per_minute])
        )

    async def release(self, token: str) -> None:
        await self._redis.zrem(self._keys[0], token)
