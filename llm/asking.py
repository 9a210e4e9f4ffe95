"""Asks for one call until there is an answer, its tries are used up, or the fault turns out to be the endpoint's.

A fault that every call would meet (no server, a wrong key, a parameter the server refuses) must not be written into
every call. Whether it is one is found out by a control question: the same request with a trivial text.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import openai

from llm.client import Reply, ask
from llm.endpoint_config import EndpointConfig, Parameters
from llm.ledger import Outcome
from llm.limits import RETRY_AFTER_CAP_SECONDS, AdaptiveConcurrency, CircuitBreaker, backoff_seconds
from llm.models import Call, Job
from llm.parsing import answer_schema, parse_reply
from llm.slots import EndpointSlots

CONTROL_QUESTION = [{"role": "user", "content": "Answer with the first option."}]
CONTROL_TRIES = 2
THROTTLED_IN_A_ROW = 12  # answers 429 to one call, with growing waits between them, until the calls are given back
TOO_MANY_REQUESTS = 429


class HaltedError(Exception):
    """Nothing more is asked; the call goes back to the ledger."""


@dataclass(frozen=True)
class Halt:
    """Why a runner stopped asking. `reason` is empty when it was told to; `retry_seconds` is None when trying again by
    itself cannot help."""

    reason: str = ""
    retry_seconds: float | None = 0.0


class Gate:
    """The runner's own concurrency: places that adapt to the server's 429. First come, first in."""

    def __init__(self, concurrency: AdaptiveConcurrency) -> None:
        self.concurrency = concurrency
        self.halt: Halt | None = None
        self.halted = asyncio.Event()
        self._changed = asyncio.Condition()
        self._shut = False

    async def enter(self, *, control: bool = False) -> int:
        def may_go_on() -> bool:
            return self.halt is not None or (self.concurrency.has_room and (control or not self._shut))

        async with self._changed:
            await self._changed.wait_for(may_go_on)
            self.refuse_when_halted()
            return self.concurrency.start()

    @asynccontextmanager
    async def shut(self) -> AsyncIterator[None]:
        """Let in nothing but control questions meanwhile."""
        self._shut = True
        try:
            yield
        finally:
            self._shut = False
            async with self._changed:
                self._changed.notify_all()

    async def leave(self, ticket: int, *, throttled: bool) -> None:
        self.concurrency.finish(ticket, throttled=throttled)
        async with self._changed:
            if self._shut:
                self._changed.notify_all()  # among those who wait, only the control question may go
            else:
                self._changed.notify(2)  # the limit may have grown by one

    async def stop(self, halt: Halt) -> None:
        """Let nobody in any more; the first reason stands."""
        self.halt = self.halt or halt
        self.halted.set()
        async with self._changed:
            self._changed.notify_all()

    def refuse_when_halted(self) -> None:
        if self.halt is not None:
            raise HaltedError

    async def sleep(self, seconds: float) -> None:
        """Wait, or raise HaltedError as soon as there is nothing to wait for."""
        try:
            await asyncio.wait_for(self.halted.wait(), seconds)
        except TimeoutError:
            return
        raise HaltedError


class Asker:
    """Turns calls into outcomes at one endpoint, for one runner."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        endpoint: EndpointConfig,
        job: Job,
        *,
        gate: Gate,
        slots: EndpointSlots,
        breaker: CircuitBreaker,
        rng: random.Random,
    ) -> None:
        self._client, self._endpoint, self._job = client, endpoint, job
        self._gate, self._slots, self._breaker, self._rng = gate, slots, breaker, rng
        self._parameters = parameters_of(job)
        self._deciding = asyncio.Lock()
        self._control_answered = False

    async def answer(self, call: Call) -> Outcome:
        """The call's outcome; raises HaltedError when the call is to go back to the ledger."""
        schema = answer_schema(self._job.questions, call.orders)
        messages: Sequence[dict[str, str]] = call.messages
        tries, failures, throttled, parses = call.attempts, 0, 0, 0
        while True:
            reply = await self._attempt(messages, schema)
            tries += 1
            fields = reply_fields(call, reply) | {"attempts": tries}
            if is_throttled(reply):
                throttled += 1
                await self._wait_for_the_limit(reply, throttled)
                continue
            throttled = 0
            if reply.status == "error":
                await self._blame(reply, schema)
                failures += 1
                if reply.retryable and failures < self._job.max_attempts:
                    await self._gate.sleep(backoff_seconds(failures, rng=self._rng))
                    continue
            else:
                self._breaker.succeeded()
            if reply.status != "ok":
                return Outcome(call, Call.Status(reply.status), fields | {"problem": reply.error[:500]})
            parsed = parse_reply(reply.text, self._job.questions, call.orders, content=call.item.content)
            parses += 1
            if parsed.status == "ok":
                return Outcome(call, Call.Status.OK, fields | {"values": parsed.values, "problem": ""})
            if parses >= self._job.max_parse_attempts:
                return Outcome(call, Call.Status.UNPARSED, fields | {"problem": parsed.problem[:500]})
            messages = [*call.messages, *asked_again(reply.text, parsed.problem)]

    async def _attempt(
        self, messages: Sequence[dict[str, str]], schema: dict[str, Any], *, control: bool = False
    ) -> Reply:
        ticket = await self._gate.enter(control=control)
        throttled = False
        try:
            async with self._slots.slot(self._gate.sleep):
                self._gate.refuse_when_halted()
                reply = await ask(self._client, self._endpoint, messages, self._parameters, schema=schema)
            throttled = is_throttled(reply)
            return reply
        finally:
            await self._gate.leave(ticket, throttled=throttled)

    async def _wait_for_the_limit(self, reply: Reply, times: int) -> None:
        """429 uses up no tries. A server that says nothing else, or asks for a long wait, gets its calls back."""
        asked = reply.retry_after or 0.0
        if times >= THROTTLED_IN_A_ROW or asked > RETRY_AFTER_CAP_SECONDS:
            await self._gate.stop(Halt(reply.error, max(asked, 60.0)))
        await self._gate.sleep(backoff_seconds(times, retry_after=reply.retry_after, rng=self._rng))

    async def _blame(self, reply: Reply, schema: dict[str, Any]) -> None:
        """Return when the fault is this call's own; halt the runner when every call would meet it."""
        if reply.retryable:
            self._breaker.failed(time.monotonic())
            if self._breaker.retry_at is None:
                return
        async with self._deciding:  # one control question, however many calls failed together
            self._gate.refuse_when_halted()
            if (self._control_answered and not reply.retryable) or (reply.retryable and self._breaker.retry_at is None):
                return
            control = await self._ask_control(schema)
            if control is None:
                self._control_answered = True
                self._breaker.succeeded()
                return
            await self._gate.stop(self._halt_for(control))
            raise HaltedError

    async def _ask_control(self, schema: dict[str, Any]) -> Reply | None:
        """None when the endpoint answers a trivial question in whatever way, otherwise what it says."""
        async with self._gate.shut():
            for _ in range(CONTROL_TRIES):
                reply = await self._attempt(CONTROL_QUESTION, schema, control=True)
                if reply.status != "error" or is_throttled(reply) or "choices" in reply.raw:
                    return None
                if not reply.retryable:
                    break
            return reply

    def _halt_for(self, control: Reply) -> Halt:
        if not control.retryable:
            return Halt(control.error, None)
        now = time.monotonic()
        return Halt(control.error, max(1.0, self._breaker.open(now) - now))


def parameters_of(job: Job) -> Parameters:
    return Parameters(temperature=job.temperature, max_tokens=job.max_tokens, top_p=job.top_p, seed=job.seed)


def is_throttled(reply: Reply) -> bool:
    """A 429 that waiting cures; one that says the quota is used up is a fault."""
    return reply.status_code == TOO_MANY_REQUESTS and reply.retryable


def asked_again(text: str, problem: str) -> list[dict[str, str]]:
    return [
        {"role": "assistant", "content": text},
        {"role": "user", "content": f"That answer could not be read. {problem} Answer again."},
    ]


def reply_fields(call: Call, reply: Reply) -> dict[str, Any]:
    return {
        "fingerprint": call.fingerprint,
        "messages": call.messages,
        "reply": reply.raw,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "latency_seconds": reply.latency_seconds,
    }
