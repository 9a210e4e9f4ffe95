"""Runs one shard of calls: asyncio inside one Celery task.

Calls are asked with the concurrency that the endpoint, the other workers and the server's 429 allow; outcomes are
settled in batches; the shard's lease is extended while the work goes on. What is left to do is the ledger's to say.
"""

import asyncio
import contextlib
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import openai

from llm.client import EndpointConfig, Parameters, ask, open_client
from llm.fingerprint import fingerprint
from llm.ledger import Outcome
from llm.limits import AdaptiveConcurrency, CircuitBreaker, backoff_seconds
from llm.models import Call, Job
from llm.parsing import answer_schema, parse_reply
from llm.planning import call_messages, questions_of
from llm.rendering import PromptError
from llm.replies import Reply
from llm.slots import EndpointSlots

BATCH_CALLS = 50
BATCH_SECONDS = 0.5
HEARTBEAT_SECONDS = 10.0
PERSONA_FIELDS_LEFT_OUT = ("model", "endpoint", "persona")


class EndpointDownError(Exception):
    """The circuit breaker is open: the calls that are left go back to the ledger."""


@dataclass(frozen=True)
class Hooks:
    """What the shard needs from the database, as coroutines."""

    settle: Callable[[list[Outcome]], Awaitable[int]]
    heartbeat: Callable[[], Awaitable[bool]]  # extends the lease; False when the job is to stop starting calls
    find_answered: Callable[[list[str]], Awaitable[dict[str, Call]]]  # ok calls by fingerprint


@dataclass
class Shard:
    """The calls of one claim. After `run`, `down` says why the endpoint was given up, if it was."""

    job: Job
    endpoint: EndpointConfig
    shard: uuid.UUID
    calls: Sequence[Call]
    slots: EndpointSlots
    hooks: Hooks
    concurrency: AdaptiveConcurrency
    breaker: CircuitBreaker
    rng: random.Random = field(default_factory=lambda: random.Random(uuid.uuid4().int))
    down: str = ""
    retry_in: timedelta = timedelta(0)
    stopping: bool = False

    def __post_init__(self) -> None:
        self._outbox: list[Outcome] = []
        self._wake = asyncio.Event()
        self._finished = False
        self._questions = questions_of(self.job)
        self._parameters = Parameters(
            temperature=self.job.temperature, max_tokens=self.job.max_tokens, top_p=self.job.top_p, seed=self.job.seed
        )

    async def run(self) -> None:
        """Work through the calls; what is not settled afterwards is still held by the shard.

        Raises what settling raised: then nothing more is asked, because nothing more could be kept.
        """
        to_ask = await self._prepare()
        async with open_client(self.endpoint) as client:
            writer, beat = asyncio.create_task(self._write()), asyncio.create_task(self._beat())
            running: set[asyncio.Task[None]] = set()
            try:
                for call in to_ask:
                    while not self.concurrency.has_room and not self.stopping:
                        await asyncio.wait({*running, writer}, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
                        running = {task for task in running if not task.done()}
                    if self.stopping or writer.done():
                        break
                    running.add(asyncio.create_task(self._work(client, call, self.concurrency.start())))
                await asyncio.gather(*running)
            finally:
                beat.cancel()
                self._finished = True
                self._wake.set()
                await writer

    async def _prepare(self) -> list[Call]:
        """Render the prompts, settle those that cannot be rendered, and reuse answers to equal requests."""
        ready = []
        for call in self.calls:
            try:
                call.messages = call_messages(self.job, call.item.content, persona_of(call), call.orders)
            except (PromptError, ValueError) as error:
                self._outbox.append(Outcome(call, Call.Status.ERROR, {"problem": str(error)[:500]}))
                continue
            call.fingerprint = self._fingerprint(call)
            ready.append(call)
        known = await self.hooks.find_answered([call.fingerprint for call in ready]) if self._reusable else {}
        for call in ready:
            if earlier := known.get(call.fingerprint):
                self._outbox.append(Outcome(call, Call.Status.OK, reused_fields(call, earlier)))
        await self._flush()
        return [call for call in ready if call.fingerprint not in known]

    @property
    def _reusable(self) -> bool:
        return self.job.temperature == 0

    def _fingerprint(self, call: Call) -> str:
        parameters = {
            "temperature": self.job.temperature,
            "max_tokens": self.job.max_tokens,
            "top_p": self.job.top_p,
            "seed": self.job.seed if self.endpoint.supports_seed else None,
            "schema": answer_schema(self._questions, call.orders),
            "json_mode": self.endpoint.json_mode,
        }
        return fingerprint(
            base_url=self.endpoint.base_url,
            model=self.endpoint.model,
            messages=call.messages,
            parameters=parameters,
            prompt_version=f"{self.job.prompt_id}",
            sample=call.sample,
        )

    async def _work(self, client: openai.AsyncOpenAI, call: Call, ticket: int) -> None:
        throttled = False
        try:
            outcome, throttled = await self._ask(client, call)
            self._outbox.append(outcome)
            if len(self._outbox) >= BATCH_CALLS:
                self._wake.set()
        except EndpointDownError:
            self.stopping = True
        finally:
            self.concurrency.finish(ticket, throttled=throttled)

    async def _ask(self, client: openai.AsyncOpenAI, call: Call) -> tuple[Outcome, bool]:
        """Ask until there is an answer, the tries are used up or the endpoint is given up."""
        messages, attempts, parse_attempts, throttled = list(call.messages), call.attempts, 0, False
        failures = 0
        schema = answer_schema(self._questions, call.orders)
        while True:
            self._refuse_when_down()
            async with self.slots.slot():
                reply = await ask(client, self.endpoint, messages, self._parameters, schema=schema)
            attempts += 1
            throttled = throttled or reply.status_code == 429
            self._note_health(reply)
            fields = reply_fields(call, reply) | {"attempts": attempts}
            if reply.status == "error" and reply.retryable:
                failures += 1
                if failures >= self.job.max_attempts:
                    return Outcome(call, Call.Status.ERROR, fields | {"problem": reply.error[:500]}), throttled
                self._refuse_when_down()
                await asyncio.sleep(backoff_seconds(failures, retry_after=reply.retry_after, rng=self.rng))
                continue
            if reply.status != "ok":
                return Outcome(call, Call.Status(reply.status), fields | {"problem": reply.error[:500]}), throttled
            parsed = parse_reply(reply.text, self._questions, call.orders, content=call.item.content)
            parse_attempts += 1
            if parsed.status == "ok":
                return Outcome(call, Call.Status.OK, fields | {"values": parsed.values, "problem": ""}), throttled
            if parse_attempts >= self.job.max_parse_attempts:
                return Outcome(call, Call.Status.UNPARSED, fields | {"problem": parsed.problem[:500]}), throttled
            messages = [
                *call.messages,
                {"role": "assistant", "content": reply.text or "(empty)"},
                {"role": "user", "content": f"That answer could not be read. {parsed.problem} Answer again."},
            ]

    def _refuse_when_down(self) -> None:
        if self.breaker.state(time.monotonic()) == "open":
            raise EndpointDownError

    def _note_health(self, reply: Reply) -> None:
        """Only a server that cannot be reached or answers 5xx is down; 429 and 4xx are answers."""
        code = reply.status_code
        if reply.status == "error" and reply.retryable and (code is None or code >= 500 or code == 408):
            self.breaker.failed(time.monotonic())
            if self.breaker.state(time.monotonic()) == "open" and not self.down:
                wait = max(1.0, (self.breaker.retry_at or 0) - time.monotonic())
                self.down, self.retry_in = reply.error, timedelta(seconds=wait)
        else:
            self.breaker.succeeded()

    async def _write(self) -> None:
        while not self._finished:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), BATCH_SECONDS)
            self._wake.clear()
            await self._flush()

    async def _flush(self) -> None:
        if self._outbox:
            batch, self._outbox = self._outbox, []
            await self.hooks.settle(batch)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            if not await self.hooks.heartbeat():
                self.stopping = True


def persona_of(call: Call) -> dict[str, Any]:
    """The persona that the call's respondent answers as; {} for the model as itself."""
    attributes = call.respondent.attributes
    return {name: value for name, value in attributes.items() if name not in PERSONA_FIELDS_LEFT_OUT}


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


def reused_fields(call: Call, earlier: Call) -> dict[str, Any]:
    """The fields of a call whose equal request was answered before: marked, and costing nothing."""
    return {
        "fingerprint": call.fingerprint,
        "messages": call.messages,
        "text": earlier.text,
        "reasoning": earlier.reasoning,
        "values": earlier.values,
        "reused_from": earlier,
        "problem": "",
    }
