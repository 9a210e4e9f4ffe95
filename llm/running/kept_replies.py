"""Replies that came and are not settled yet, kept by the Redis server until they are.

A worker that is killed between the two has been answered, and paid for: whoever takes its calls finds the answers here.
What is lost here costs a request and no more.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

from redis.asyncio import Redis

from llm.models import Call
from llm.reading.logprobs import Token
from llm.servers.replies import Reply

KEPT_SECONDS = 3600  # for whoever goes on


class Entry(NamedTuple):
    """What `EndpointSlots` stores in the same step in which it frees the place."""

    key: str
    field: str
    value: str


class KeptReplies:
    """Of one job's calls, the last reply of each that is no fault."""

    def __init__(self, redis: Redis, *, job_id: int | None) -> None:
        self._redis = redis
        self.key = f"concord:job:{job_id}:replies"

    def entry(self, call: Call, reply: Reply) -> Entry:
        value = {"attempts": call.attempts, "reply": vars(reply)}
        return Entry(self.key, str(call.pk), json.dumps(value, default=astuple))

    async def find(self, calls: Sequence[Call]) -> dict[int, Reply]:
        """By call id. A call that was settled since, and is asked again, is asked."""
        if not calls:
            return {}
        kept = await self._redis.hmget(self.key, [str(call.pk) for call in calls])
        found = {call.pk: json.loads(value) for call, value in zip(calls, kept, strict=True) if value}
        return {call.pk: _reply(found[call.pk]["reply"]) for call in calls if _is_of(call, found.get(call.pk))}

    async def forget(self, calls: Collection[Call]) -> None:
        if calls:
            await self._redis.hdel(self.key, *(str(call.pk) for call in calls))


def _is_of(call: Call, kept: dict[str, Any] | None) -> bool:
    return kept is not None and kept["attempts"] == call.attempts


def _reply(kept: dict[str, Any]) -> Reply:
    tokens = [
        Token(text, logprob, tuple((other, its) for other, its in top)) for text, logprob, top in kept["logprobs"]
    ]
    return Reply(**kept | {"logprobs": tuple(tokens)})
