"""Runs calls of one job: asyncio inside one Celery task.

Calls are claimed a few at a time, as places become free, so that no runner hoards what another could ask. Outcomes are
settled in batches and the lease is extended while the work goes on. What is left to do is the ledger's to say.
"""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from llm.models import Call, Job
from llm.running.asking import Asker, Gate, Halt, HaltedError
from llm.running.kept_replies import KeptReplies
from llm.running.ledger import Outcome, Used
from llm.running.limits import AdaptiveConcurrency, CircuitBreaker
from llm.running.preparing import render, reused
from llm.running.reservations import Reservations
from llm.running.slots import EndpointSlots
from llm.servers.client import open_client
from llm.servers.endpoint_config import EndpointConfig
from llm.servers.replies import Reply

GATHER_SECONDS = 0.02  # outcomes of so long are settled together
BEAT_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 0.25  # after the ledger had nothing to claim, while calls in flight may give some back


@dataclass(frozen=True)
class Pace:
    """How many calls at once from now on: at the endpoint by all runners together, and by this one; 0 to stop.

    Runners of one job share its places, so that none of them queues for places that the other has.
    """

    endpoint: int
    own: int


@dataclass(frozen=True)
class Hooks:
    """What the runner needs from the database, as coroutines."""

    claim: Callable[[int], Awaitable[list[Call]]]
    settle: Callable[[list[Outcome], Used], Awaitable[int]]  # told also what asking took since the last time
    beat: Callable[[bool], Awaitable[Pace]]  # told whether the endpoint answers
    find_answered: Callable[[list[str]], Awaitable[dict[str, Call]]]  # ok calls by fingerprint


@dataclass
class Runner:
    """Claims and asks until nothing is left or `seconds` are over. Afterwards `halt` says why it stopped early, if so.

    What is not settled after `run` is still held by the shard. `run` raises what settling raised: then nothing more is
    asked, because nothing more could be kept.
    """

    job: Job
    endpoint: EndpointConfig
    slots: EndpointSlots
    hooks: Hooks
    reservations: Reservations
    kept: KeptReplies
    breaker: CircuitBreaker
    pace: Pace
    seconds: float
    rng: random.Random = field(default_factory=lambda: random.Random(uuid.uuid4().int))

    def __post_init__(self) -> None:
        self._concurrency = self.pace.own
        self._reusable = self.job.repeatable
        self._gate = Gate(AdaptiveConcurrency(self._concurrency))
        self._groups: dict[str, list[Call]] = {}  # calls being asked, and those that wait for an equal one
        self._fresh: dict[str, Call] = {}  # answered and not yet settled
        self._outbox: list[Outcome] = []
        self._wake, self._freed = asyncio.Event(), asyncio.Event()
        self._alive, self._unsettled = 0, 0  # claimed and not yet answered; answered and not yet settled
        self._answered = False
        self._finished = False
        self._told = Used()  # to the ledger
        self.starved = False  # nothing was left to claim

    @property
    def halt(self) -> Halt | None:
        return self._gate.halt

    async def run(self) -> None:
        try:
            await self._run()
        finally:
            await self.reservations.give_back_all()

    async def _run(self) -> None:
        async with open_client(self.endpoint) as client, asyncio.TaskGroup() as group:
            asker = Asker(
                client,
                self.endpoint,
                self.job,
                gate=self._gate,
                slots=self.slots,
                kept=self.kept,
                breaker=self.breaker,
                rng=self.rng,
            )
            group.create_task(self._write(asker))
            beat = group.create_task(self._beat())
            await self._ask_all(asker)
            beat.cancel()
            self._finished = True
            self._wake.set()

    async def _ask_all(self, asker: Asker) -> None:
        deadline = time.monotonic() + self.seconds
        async with asyncio.TaskGroup() as asking:
            while self.halt is None and time.monotonic() < deadline:
                room = 2 * self._concurrency - self._alive
                if room < max(1, self._concurrency // 2):
                    self._freed.clear()
                    await self._freed.wait()
                    continue
                # As it was before: what is settled while nothing can be claimed leaves room in the budget.
                idle = not self._alive and not self._unsettled
                calls = await self.hooks.claim(room)
                self.starved = not calls
                if not calls and idle:
                    return
                if not calls:  # what is in flight may leave room in the budget
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
                self._alive += len(calls)
                kept = await self.kept.find(calls)
                for group, mine in await self._prepare(calls):
                    asking.create_task(self._work(asker, group, kept, mine=mine))

    async def _prepare(self, calls: Sequence[Call]) -> list[tuple[list[Call], bool]]:
        """The calls to ask, grouped where they ask the same, each group with whether it is this runner's to ask;
        settles those that need not or cannot be asked."""
        ready = [call for call in calls if self._render(call)]
        if not self._reusable:
            return [([call], True) for call in ready]
        fingerprints = list({call.fingerprint for call in ready}.difference(self._groups, self._fresh))
        # In this order: whoever gives a reservation back has settled before.
        mine = await self.reservations.take(fingerprints)
        known = await self.hooks.find_answered(fingerprints)
        groups = []
        for call in ready:
            earlier = known.get(call.fingerprint) or self._fresh.get(call.fingerprint)
            if earlier and (outcome := reused(self.job, call, earlier)):
                self._deliver(outcome)
            elif call.fingerprint in self._groups:
                self._groups[call.fingerprint].append(call)
            else:
                self._groups[call.fingerprint] = [call]
                groups.append((self._groups[call.fingerprint], call.fingerprint in mine))
        return groups

    def _render(self, call: Call) -> bool:
        fault = render(self.job, self.endpoint, call)
        if fault:
            self._deliver(fault)
        return fault is None

    async def _work(self, asker: Asker, group: list[Call], kept: Mapping[int, Reply], *, mine: bool) -> None:
        """Ask the group's first call and give its answer to those that ask the same; without one, ask the next.

        `kept`: replies that came before, by call id. `mine`: nobody else asks the same at this moment.
        """
        answered: Call | None = None
        while group:
            call = group[0]
            try:
                if not mine:
                    answered, mine = await self._answer_of_another(call), True
                outcome = reused(self.job, call, answered) if answered else None
                outcome = outcome or await asker.answer(call, kept.get(call.pk))
            except HaltedError:
                break
            if outcome.status == Call.Status.OK and answered is None:
                call.text, call.reasoning = outcome.fields["text"], outcome.fields["reasoning"]
                call.probabilities = outcome.fields.get("probabilities")
                answered, self._answered = call, True
                self._fresh[call.fingerprint] = call
            del group[0]
            self._deliver(outcome)
        if not group:
            self._groups.pop(call.fingerprint, None)

    async def _answer_of_another(self, call: Call) -> Call | None:
        """Wait for whoever asks the same: their answer, or None when it is this runner's turn to ask."""
        while True:
            mine = await self.reservations.take([call.fingerprint])
            found = await self.hooks.find_answered([call.fingerprint])
            if mine or found:
                return found.get(call.fingerprint)
            await self._gate.sleep(LOOK_AGAIN_SECONDS)

    def _deliver(self, outcome: Outcome) -> None:
        self._alive -= 1
        self._unsettled += 1
        self._freed.set()
        self._outbox.append(outcome)
        self._wake.set()

    async def _write(self, asker: Asker) -> None:
        while not (self._finished and not self._outbox and _used(asker) == self._told):
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(GATHER_SECONDS)
            if self._outbox or self._finished:
                batch, self._outbox = self._outbox, []
                before, self._told = self._told, _used(asker)
                new = Used(*(now - told for now, told in zip(self._told, before, strict=True)))
                await self.hooks.settle(batch, new)
                self._unsettled -= len(batch)
                for outcome in batch:
                    if self._fresh.get(outcome.call.fingerprint) is outcome.call:
                        del self._fresh[outcome.call.fingerprint]
                await self.kept.forget([outcome.call for outcome in batch])
                if self._reusable:
                    over = {outcome.call.fingerprint for outcome in batch}.difference(self._groups, self._fresh)
                    await self.reservations.give_back(over)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            answered, self._answered = self._answered, False
            pace = await self.hooks.beat(answered)
            await self.slots.keep()
            await self.reservations.keep()
            self.slots.concurrency = pace.endpoint
            if not pace.own:
                await self._gate.stop(Halt())
            elif pace.own != self._concurrency:
                self._concurrency = pace.own
                await self._gate.set_maximum(pace.own)
            if self.halt is not None:
                self._freed.set()


def _used(asker: Asker) -> Used:
    spent = asker.spent
    return Used(spent.requests, spent.prompt_tokens or 0, spent.completion_tokens or 0)
