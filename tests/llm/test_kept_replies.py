"""Replies that a killed worker could not store are found by whoever goes on."""

import asyncio
import os
from collections.abc import Sequence

import pytest
from redis.asyncio import Redis

from llm.models import Call, Job
from llm.reading.logprobs import Token
from llm.running import ledger
from llm.running.kept_replies import KeptReplies
from llm.running.slots import EndpointSlots
from llm.servers.replies import Reply
from llm.services import resume_job
from llm.tasks import run_shard
from responses.models import Response
from tests.llm.jobs import JobMaker, counts, run_here
from tests.model_server import ScriptedModelServer

REPLY = Reply(
    "ok",
    text="Yes, très",
    prompt_tokens=3,
    latency_seconds=0.25,
    raw={"choices": []},
    logprobs=(Token("Yes", -0.1, (("Yes", -0.1), ("No", -2.5))), Token("!", -1.0)),
)


def kept_after(calls: Sequence[Call], settled: Sequence[Call] = (), *, job_id: int) -> dict[int, Reply]:
    """What is found for the calls after each got REPLY in its place at an endpoint and some were settled."""

    async def run() -> dict[int, Reply]:
        async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
            kept = KeptReplies(redis, job_id=job_id)
            slots = EndpointSlots(redis, endpoint_id=job_id, concurrency=9, per_minute=None, seconds=5)
            for call in calls:
                async with slots.slot(asyncio.sleep) as slot:
                    slot.keep(kept.entry(call, REPLY))
            await kept.forget(settled)
            return await kept.find([Call(pk=call.pk, attempts=call.attempts) for call in (*calls, Call(pk=99))])

    return asyncio.run(run())


def number_kept(job: Job) -> int:
    async def run() -> int:
        async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
            return int(await redis.hlen(KeptReplies(redis, job_id=job.pk).key))

    return asyncio.run(run())


def test_a_reply_comes_back_whole():
    assert kept_after([Call(pk=1), Call(pk=2, attempts=3)], job_id=91_001) == {1: REPLY, 2: REPLY}


def test_a_settled_call_has_none():
    one, two = Call(pk=1), Call(pk=2)
    assert kept_after([one, two], [one], job_id=91_002) == {2: REPLY}


def test_a_call_that_was_settled_and_is_asked_anew_is_asked():
    """Its worker was killed between storing the outcome and forgetting the reply."""

    async def run() -> dict[int, Reply]:
        async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
            kept = KeptReplies(redis, job_id=91_003)
            entry = kept.entry(Call(pk=1, attempts=0), REPLY)
            await redis.hset(entry.key, entry.field, entry.value)
            return await kept.find([Call(pk=1, attempts=1)])

    assert asyncio.run(run()) == {}


@pytest.mark.django_db(transaction=True)
def test_answers_that_could_not_be_stored_are_not_paid_for_again(jobs: JobMaker, monkeypatch: pytest.MonkeyPatch):
    with ScriptedModelServer() as server:
        job = jobs.start(server, n=30)
        with monkeypatch.context() as patch:
            patch.setattr(ledger, "settle", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
            with pytest.raises(ExceptionGroup):
                run_shard(job.pk)
        asked, kept = server.requests, number_kept(job)
        assert counts(job) == {"pending": 30}
        assert 0 < kept <= asked <= kept + job.endpoint.concurrency  # the others broke off
        Job.objects.filter(pk=job.pk).update(held_until=None)
        resume_job(job=job)
        run_here(job)
        assert server.requests == asked + 30 - kept
    assert number_kept(job) == 0
    assert counts(job) == {"ok": 30}
    assert (job.n_ok, job.requests, Response.objects.count()) == (30, 30, 30)
