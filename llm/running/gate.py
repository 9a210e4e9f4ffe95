"""How a runner lets its calls in, and how it stops them all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from llm.running.limits import AdaptiveConcurrency


class HaltedError(Exception):
    """Nothing more is asked; the call goes back to the ledger."""


@dataclass(frozen=True)
class Halt:
    """Why a runner stopped asking. `reason` is empty when it was told to; `retry_seconds` is None when trying again by
    itself cannot help."""

    reason: str = ""
    retry_seconds: float | None = 0.0


class Gate:
    """The runner's own concurrency: places that adapt to how the server answers. First come, first in."""

    def __init__(self, concurrency: AdaptiveConcurrency) -> None:
        self.concurrency = concurrency
        self.halt: Halt | None = None
        self.halted = asyncio.Event()
        self._changed = asyncio.Condition()
        self._shut = False

    async def enter(self, *, control: bool = False) -> None:
        """Take a place, to be given back by `leave`; raises HaltedError when there will be none."""

        def may_go_on() -> bool:
            return self.halt is not None or (self.concurrency.has_room and (control or not self._shut))

        async with self._changed:
            await self._changed.wait_for(may_go_on)
            self.refuse_when_halted()
            self.concurrency.start()

    @asynccontextmanager
    async def shut(self) -> AsyncIterator[None]:
        """Let in nothing but control questions meanwhile."""
        self._shut = True
        try:
            yield
        finally:
            self._shut = False
            await self._wake_all()

    async def leave(self) -> None:
        self.concurrency.finish()
        if self._shut:
            await self._wake_all()  # among those who wait, only the control question may go
        else:
            async with self._changed:
                self._changed.notify(2)  # the limit may have grown by one

    async def set_maximum(self, maximum: int) -> None:
        """From now on at most so many at once; those in flight finish."""
        self.concurrency.set_maximum(maximum)
        await self._wake_all()

    async def stop(self, halt: Halt) -> None:
        """Let nobody in any more; the first reason stands."""
        self.halt = self.halt or halt
        self.halted.set()
        await self._wake_all()

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

    async def _wake_all(self) -> None:
        async with self._changed:
            self._changed.notify_all()
