"""Who is asking what at this moment, among all workers: so that equal requests that run at once are asked once.

What is lost here costs a request and no more: the ledger holds the answers.
"""

from collections.abc import Collection, Sequence

from redis.asyncio import Redis


class Reservations:
    """Fingerprints being asked in one project. `seconds`: how long one lives when nobody keeps it or gives it back."""

    def __init__(self, redis: Redis, *, project_id: int, seconds: float) -> None:
        self._redis = redis
        self._prefix = f"concord:asking:{project_id}:"
        self._milliseconds = int(seconds * 1000)
        self._mine: set[str] = set()

    async def take(self, fingerprints: Sequence[str]) -> set[str]:
        """Reserve what nobody else has; the fingerprints that are the caller's now, also those that were so before:
        who asks again what was refused must not wait for itself."""
        mine = self._mine.intersection(fingerprints)
        others = [fingerprint for fingerprint in fingerprints if fingerprint not in mine]
        if others:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for fingerprint in others:
                    pipeline.set(self._prefix + fingerprint, 1, nx=True, px=self._milliseconds)
                taken = await pipeline.execute()
            mine |= {fingerprint for fingerprint, ok in zip(others, taken, strict=True) if ok}
            self._mine |= mine
        return mine

    async def keep(self) -> None:
        """Heartbeat: let what was taken here live on. To be called several times in its life."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for fingerprint in self._mine:
                pipeline.pexpire(self._prefix + fingerprint, self._milliseconds)
            await pipeline.execute()

    async def give_back(self, fingerprints: Collection[str]) -> None:
        if fingerprints:
            self._mine.difference_update(fingerprints)
            await self._redis.delete(*(self._prefix + fingerprint for fingerprint in fingerprints))

    async def give_back_all(self) -> None:
        """What was taken here and not given back, so that nobody waits for one who asks no more."""
        await self.give_back(list(self._mine))
