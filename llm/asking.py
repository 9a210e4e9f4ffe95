"""Asks for one call until there is an answer, its tries are used up, or the fault turns out to be the endpoint's.

A fault that every call would meet (no server, a wrong key, a parameter the server refuses) must not be written into
every call. Whether it is one is found out by a control question: the same request with a trivial text.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import openai

from llm.client import Reply, ask
from llm.endpoint_config import EndpointConfig, Parameters
from llm.gate import Gate, Halt, HaltedError
from llm.ledger import Outcome
from llm.limits import RETRY_AFTER_CAP_SECONDS, CircuitBreaker, TokenEstimate, backoff_seconds
from llm.models import Call, Job
from llm.parsing import AnswerMode, Parsed, answer_schema, parse_reply
from llm.planning import messages_tokens
from llm.slots import EndpointSlots

Schema = dict[str, Any]

SCHEMA_MODES = frozenset({"auto", "json"})
MOST_SHOWN_AGAIN = 2000  # characters of an answer that could not be read
CONTROL_QUESTION = [{"role": "user", "content": "Answer with the first option."}]
CONTROL_TRIES = 2
THROTTLED_IN_A_ROW = 12  # answers 429 to one call, with growing waits between them, until the calls are given back
TOO_MANY_REQUESTS = 429


@dataclass
class Spent:
    """HTTP requests, and the tokens that the server counted in their answers; None while it counted none."""

    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def add(self, reply: Reply) -> None:
        self.requests += 1
        for name in ("prompt_tokens", "completion_tokens"):
            if (tokens := getattr(reply, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + tokens)


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
        self._estimate = TokenEstimate(job.max_tokens)
        self.spent = Spent()  # everything asked here, control questions and calls that were given back among it
        self._deciding = asyncio.Lock()
        self._control_answered = False

    async def answer(self, call: Call) -> Outcome:
        """The call's outcome; raises HaltedError when the call is to go back to the ledger."""
        job = self._job
        schema = answer_schema(job.questions, call.orders) if job.answer_mode in SCHEMA_MODES else None
        messages: Sequence[dict[str, str]] = call.messages
        spent = Spent(call.attempts, call.prompt_tokens, call.completion_tokens)
        failures, throttled, parses = 0, 0, 0
        while True:
            reply = await self._attempt(messages, schema, spent=spent, throttled=throttled)
            if is_throttled(reply):
                throttled += 1
                continue
            throttled = 0
            if reply.status == "error":
                await self._blame(reply, schema)
                failures += 1
                if reply.retryable and failures < job.max_attempts:
                    await self._gate.sleep(backoff_seconds(failures, rng=self._rng))
                    continue
            else:
                self._breaker.succeeded()
            fields = reply_fields(call, reply, spent)
            if reply.status != "ok":
                return Outcome(call, Call.Status(reply.status), fields | {"problem": reply.error[:500]})
            parsed = read_reply(job, call, reply.text)
            parses += 1
            if parsed.status == "ok":
                return Outcome(call, Call.Status.OK, fields | {"values": parsed.values, "parse_mode": parsed.mode})
            if parses >= job.max_parse_attempts:
                return Outcome(call, Call.Status.UNPARSED, fields | {"problem": parsed.problem[:500]})
            messages = [*call.messages, *asked_again(reply.text, parsed.problem)]

    async def _attempt(
        self, messages: Sequence[dict[str, str]], schema: Schema | None, *, spent: Spent, throttled: int
    ) -> Reply:
        """One request. A call that is refused (429) keeps its place while it waits, so that no other takes it only to
        be refused as well; afterwards it queues again, for fewer places. `throttled`: how often it was, in a row."""
        await self._gate.enter()
        try:
            reply = await self._request(messages, schema)
            spent.add(reply)
            if is_throttled(reply):
                await self._wait_for_the_limit(reply, throttled + 1)
            return reply
        finally:
            await self._gate.leave()

    async def _request(self, messages: Sequence[dict[str, str]], schema: Schema | None) -> Reply:
        prompt = messages_tokens(messages)
        async with self._slots.slot(self._gate.sleep, tokens=self._estimate.of(prompt)) as slot:
            self._gate.refuse_when_halted()
            reply = await ask(self._client, self._endpoint, messages, self._parameters, schema=schema)
            self.spent.add(reply)
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

    async def _wait_for_the_limit(self, reply: Reply, times: int) -> None:
        """429 uses up no tries. A server that says nothing else, or asks for a long wait, gets its calls back."""
        asked = reply.retry_after or 0.0
        if times >= THROTTLED_IN_A_ROW or asked > RETRY_AFTER_CAP_SECONDS:
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


def parameters_of(job: Job) -> Parameters:
    return Parameters(temperature=job.temperature, max_tokens=job.max_tokens, top_p=job.top_p, seed=job.seed)


def is_throttled(reply: Reply) -> bool:
    """A 429 that waiting cures; one that says the quota is used up is a fault."""
    return reply.status_code == TOO_MANY_REQUESTS and reply.retryable


def read_reply(job: Job, call: Call, text: str) -> Parsed:
    """The values in a reply to the call, read by the job's answer mode."""
    return parse_reply(
        text,
        job.questions,
        call.orders,
        content=call.item.content,
        mode=cast(AnswerMode, job.answer_mode),
        sentence=job.answer_sentence,
    )


def asked_again(text: str, problem: str) -> list[dict[str, str]]:
    """What follows an answer that could not be read. Of a long one the model sees both ends."""
    half = MOST_SHOWN_AGAIN // 2
    shown = text if len(text) <= MOST_SHOWN_AGAIN else f"{text[:half]}\n[…]\n{text[-half:]}"
    return [
        {"role": "assistant", "content": shown},
        {"role": "user", "content": f"That answer could not be read. {problem} Answer again."},
    ]


def reply_fields(call: Call, reply: Reply, spent: Spent) -> dict[str, Any]:
    """The call's fields after its last reply. `spent`: by all of its tries."""
    return {
        "fingerprint": call.fingerprint,
        "messages": call.messages,
        "reply": reply.raw,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "attempts": spent.requests,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "latency_seconds": reply.latency_seconds,
        "problem": "",
    }
