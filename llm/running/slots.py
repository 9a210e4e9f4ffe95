"""An endpoint's limits, shared by all workers through Redis: calls in flight, calls a minute and tokens a minute.

What a killed worker held frees itself: slots have a time to live, and turns are given out only a little ahead. Times
are the Redis server's.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from llm.running.kept_replies import KEPT_SECONDS, Entry

ASK_AGAIN_MS = 50
LONGEST_WAIT_MS = 1000  # until somebody who waits looks again: what others give back is noticed
AHEAD_MS = 2000  # how far ahead turns are given out, so that most need not ask for one twice

# Answers {again, delay}: `again` is 0 when the slot is taken, otherwise the milliseconds after which to try again.
# `delay`: milliseconds until its turn. A turn takes the time that one call, or its tokens, have in a minute's limit;
# a call of more tokens than a minute allows is let through at its turn like any other, and the next waits the longer.
ACQUIRE = """
local slots, calls, tokens, hold = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local name, concurrency, lifetime = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local call_ms, tokens_ms, again = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local ahead, longest = tonumber(ARGV[7]), tonumber(ARGV[8])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function at(key) return tonumber(redis.call('GET', key) or '0') end
local function keep(key, due)
  redis.call('SET', key, string.format('%.3f', due), 'PX', math.ceil(math.max(due - now, 0)) + 1000)
end
local held = at(hold) - now
if held > 0 then return {math.min(longest, math.ceil(held)), 0} end
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
if redis.call('ZCARD', slots) >= concurrency then return {again, 0} end
local due = now
if call_ms > 0 then due = math.max(due, at(calls)) end
if tokens_ms > 0 then due = math.max(due, at(tokens)) end
local delay = math.ceil(due - now)
if delay > ahead then return {math.min(longest, math.max(again, delay - ahead)), 0} end
if call_ms > 0 then keep(calls, due + call_ms) end
if tokens_ms > 0 then keep(tokens, due + tokens_ms) end
redis.call('ZADD', slots, now + delay + lifetime, name)
redis.call('PEXPIRE', slots, delay + lifetime * 2)
return {0, delay}"""

# Takes the slot back and moves the turns by what was used more or less than was reserved, in milliseconds of the limit.
# What is to be kept of the call is kept in the same step: there is no moment in which it has neither place nor reply.
RELEASE = """
local slots, calls, tokens, kept = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if kept then
  redis.call('HSET', kept, ARGV[4], ARGV[5])
  redis.call('EXPIRE', kept, ARGV[6])
end
redis.call('ZREM', slots, ARGV[1])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function move(key, by)
  if by == 0 then return end
  local due = math.max(now, tonumber(redis.call('GET', key) or '0')) + by
  if due <= now then redis.call('DEL', key) return end
  redis.call('SET', key, string.format('%.3f', due), 'PX', math.ceil(due - now) + 1000)
end
move(calls, tonumber(ARGV[2]))
move(tokens, tonumber(ARGV[3]))"""

HOLD = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local until_ = math.max(now + tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[1]) or '0'))
if until_ > now then redis.call('SET', KEYS[1], string.format('%d', until_), 'PX', math.ceil(until_ - now)) end"""


KEEP = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for place = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', 'GT', now + tonumber(ARGV[1]), ARGV[place]) end
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[1]) * 2)"""


class Slot:
    """One call's place at the endpoint."""

    def __init__(self) -> None:
        self.reserved = 0  # tokens
        self.spent: int | None = None
        self.came = False  # whether its turn did
        self.kept: Entry | None = None

    def used(self, tokens: int) -> None:
        """What the call really used, for the reserved tokens to be made good. Without this, the estimate stands."""
        self.spent = tokens

    def keep(self, entry: Entry) -> None:
        """What is to be stored when the place is given back."""
        self.kept = entry


class EndpointSlots:
    """The limits of one endpoint. `seconds`: how long a slot lives when nobody keeps it or gives it back.

    `concurrency` may be set while calls are made.
    """

    def __init__(
        self,
        redis: Redis,
        *,
        endpoint_id: int,
        concurrency: int,
        per_minute: int | None,
        seconds: float,
        tokens_per_minute: int | None = None,
    ) -> None:
        names = ("slots", "turn", "tokens", "hold")
        self._keys = [f"concord:endpoint:{endpoint_id}:{name}" for name in names]
        self.concurrency = concurrency
        self._milliseconds = int(seconds * 1000)
        self._call_ms = 60_000 / per_minute if per_minute else 0.0
        self._token_ms = 60_000 / tokens_per_minute if tokens_per_minute else 0.0
        self._acquire, self._release = redis.register_script(ACQUIRE), redis.register_script(RELEASE)
        self._hold, self._keep = redis.register_script(HOLD), redis.register_script(KEEP)
        self._held: set[str] = set()

    @asynccontextmanager
    async def slot(
        self, sleep: Callable[[float], Awaitable[None]], *, tokens: Callable[[], int] = lambda: 0
    ) -> AsyncIterator[Slot]:
        """One call's place at the endpoint; waits by `sleep` (seconds), which may raise to give up waiting: then the
        turn is given back. `tokens` estimates what the call will use, anew whenever it tries for a place, since those
        before it teach what calls use."""
        name, slot = uuid.uuid4().hex, Slot()
        while True:
            slot.reserved = tokens()
            again, delay = await self._take(name, slot.reserved)
            if not again:
                break
            await sleep(again / 1000)
        self._held.add(name)
        try:
            if delay:
                await sleep(delay / 1000)
            slot.came = True
            yield slot
        finally:
            self._held.discard(name)
            await self._give_back(name, slot)

    async def keep(self) -> None:
        """Heartbeat: let the places that are held here live on. To be called several times in their life."""
        if self._held:
            await self._keep(keys=self._keys[:1], args=[self._milliseconds, *self._held])

    async def hold(self, seconds: float) -> None:
        """Let nobody ask the endpoint for so long: it said when to come again."""
        await self._hold(keys=self._keys[3:], args=[int(seconds * 1000)])

    async def _take(self, name: str, tokens: int) -> list[int]:
        again = max(ASK_AGAIN_MS, 3 * self.concurrency)  # those who wait are at most as many as there are slots
        limits = [self.concurrency, self._milliseconds, self._call_ms, tokens * self._token_ms]
        answer: list[int] = await self._acquire(keys=self._keys, args=[name, *limits, again, AHEAD_MS, LONGEST_WAIT_MS])
        return answer

    async def _give_back(self, name: str, slot: Slot) -> None:
        calls, tokens = 0.0, 0.0
        if not slot.came:
            calls, tokens = -self._call_ms, -slot.reserved * self._token_ms
        elif slot.spent is not None:
            tokens = (slot.spent - slot.reserved) * self._token_ms
        keys: list[str] = self._keys[:3]
        args: list[str | float] = [name, calls, tokens]
        if slot.kept:
            keys, args = [*keys, slot.kept.key], [*args, slot.kept.field, slot.kept.value, KEPT_SECONDS]
        await self._release(keys=keys, args=args)
