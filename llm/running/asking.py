"""Asks for one call until there is an answer, its tries are used up, or the fault turns out to be the endpoint's.

A fault that every call would meet (no server, a wrong key, a parameter the server refuses) must not be written into
every call. Whether it is one is found out by a control question: the same request with a trivial text.
"""

import asyncio
import random
import time
from collections.abc import Sequence

import openai

from llm.models import Call, Job
from llm.planning.costs import messages_tokens
from llm.reading.outcomes import Schema, Spent, asked_again, outcome_of, parameters_of, schema_of
from llm.running.gate import Gate, Halt, HaltedError
from llm.running.kept_replies import KeptReplies
from llm.running.ledger import Outcome
from llm.running.limits import RETRY_AFTER_CAP_SECONDS, CircuitBreaker, TokenEstimate, backoff_seconds
from llm.running.slots import EndpointSlots
from llm.servers.client import Reply, ask
from llm.servers.endpoint_config import EndpointConfig

CONTROL_QUESTION = [{"role": "user", "content": "Answer with the first option."}]
CONTROL_TRIES = 2
THROTTLED_IN_A_ROW = 12  # answers 429 to one call, with growing waits between them, until the calls are given back
TOO_MANY_REQUESTS = 429


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
        kept: KeptReplies,
        breaker: CircuitBreaker,
        rng: random.Random,
    ) -> None:
        self._client, self._endpoint, self._job = client, endpoint, job
        self._gate, self._slots, self._kept, self._breaker, self._rng = gate, slots, kept, breaker, rng
        self._parameters = parameters_of(job)
        self._estimate = TokenEstimate(job.max_tokens)
        self.spent = Spent()  # everything asked here, control questions and calls that were given back among it
        self._deciding = asyncio.Lock()
        self._control_answered = False

    async def answer(self, call: Call, earlier: Reply | None = None) -> Outcome:
        """The call's outcome; raises HaltedError when the call is to go back to the ledger.

        `earlier`: a reply that somebody got and could not settle.
        """
        job = self._job
        schema = schema_of(job, call)
        messages: Sequence[dict[str, str]] = call.messages
        spent = Spent(call.attempts, call.prompt_tokens, call.completion_tokens)
        failures, throttled, parses = 0, 0, 0
        while True:
            if earlier is None:
                reply = await self._attempt(call, messages, schema, spent=spent, throttled=throttled)
            else:
                reply, earlier = earlier, None
                self.spent.add(reply)
                spent.add(reply)
            if is_throttled(reply):  # uses up no tries
                throttled += 1
                continue
            throttled = 0
            if reply.status == "error":
                await self._blame(reply, schema)
                failures += 1
                if reply.retryable and failures < job.max_attempts:
                    await self._wait(reply, failures)
                    continue
            else:
                self._breaker.succeeded()
            outcome = outcome_of(job, call, reply, spent)
            parses += 1
            if outcome.status != Call.Status.UNPARSED or parses >= job.max_parse_attempts:
                return outcome
            messages = [*call.messages, *asked_again(reply.text, outcome.fields["problem"])]

    async def _attempt(
        self, call: Call, messages: Sequence[dict[str, str]], schema: Schema | None, *, spent: Spent, throttled: int
    ) -> Reply:
        """One request. A call that is refused (429) keeps its place while it waits, so that no other takes it only to
        be refused as well; then it queues again. `throttled`: how often it was refused just before."""
        await self._gate.enter()
        try:
            reply = await self._request(messages, schema, call)
            spent.add(reply)
            if is_throttled(reply):
                await self._wait(reply, throttled + 1)
            return reply
        finally:
            await self._gate.leave()

    async def _request(
        self, messages: Sequence[dict[str, str]], schema: Schema | None, call: Call | None = None
    ) -> Reply:
        prompt = messages_tokens(messages)
        async with self._slots.slot(self._gate.sleep, tokens=lambda: self._estimate.of(prompt)) as slot:
            self._gate.refuse_when_halted()
            reply = await ask(self._client, self._endpoint, messages, self._parameters, schema=schema)
            self.spent.add(reply)
            if call and reply.status != "error":
                slot.keep(self._kept.entry(call, reply))
            if reply.prompt_tokens is not None:
                completion = reply.completion_tokens or 0
                slot.used(reply.prompt_tokens + completion)
                self._estimate.learn(prompt, reply.prompt_tokens, completion)
        await self._adapt(reply)
        return reply

    async def _adapt(self, reply: Reply) -> None:
        concurrency = self._gate.concurrency
        if is_throttled(reply):
            concurrency.refused()
            if reply.retry_after and concurrency.shut_out:
                await self._slots.hold(min(reply.retry_after, RETRY_AFTER_CAP_SECONDS))
        elif reply.status != "error":
            concurrency.answered(reply.latency_seconds, reply.completion_tokens)

    async def _wait(self, reply: Reply, times: int) -> None:
        """Until the call may be tried again, which a server that asks for a long wait or says 429 for long decides."""
        asked = reply.retry_after or 0.0
        if asked > RETRY_AFTER_CAP_SECONDS or (is_throttled(reply) and times >= THROTTLED_IN_A_ROW):
            await self._gate.stop(Halt(reply.error, max(asked, 60.0)))
        await self._gate.sleep(backoff_seconds(times, retry_after=reply.retry_after, rng=self._rng))

    async def _blame(self, reply: Reply, schema: Schema | None) -> None:
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

    async def _ask_control(self, schema: Schema | None) -> Reply | None:
        """None when the endpoint answers a trivial question in whatever way, otherwise what it says."""
        async with self._gate.shut():
            for _ in range(CONTROL_TRIES):
                await self._gate.enter(control=True)
                try:
                    reply = await self._request(CONTROL_QUESTION, schema)
                finally:
                    await self._gate.leave()
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


def is_throttled(reply: Reply) -> bool:
    """A 429 that waiting cures; one that says the quota is used up is a fault."""
    return reply.status_code == TOO_MANY_REQUESTS and reply.retryable
