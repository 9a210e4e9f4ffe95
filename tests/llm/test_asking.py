"""One runner's way of asking, with the real client, a scripted server and a real Redis server; no database."""

import asyncio
import itertools
import json
import os
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from llm.models import Call, Job
from llm.running.asking import Asker
from llm.running.gate import Gate, Halt
from llm.running.kept_replies import KeptReplies
from llm.running.ledger import Outcome
from llm.running.limits import AdaptiveConcurrency, CircuitBreaker
from llm.running.slots import EndpointSlots
from llm.servers.client import open_client
from llm.servers.endpoint_config import EndpointConfig
from materials.models import Item
from materials.questions import parse_questions
from tests.llm.conftest import endpoint_of
from tests.llm.jobs import CHOICE
from tests.model_server import Script, ScriptedModelServer
from tests.model_server.script import split_words

numbers = itertools.count(20_000)


def job_of(**fields: Any) -> Job:
    job = Job(**{"max_tokens": 64} | fields)
    job.questions = parse_questions([CHOICE]).questions
    return job


def calls_of(n: int, **fields: Any) -> list[Call]:
    item = Item(content={})
    return [Call(item=item, messages=[{"role": "user", "content": f"text {i}"}], **fields) for i in range(n)]


@asynccontextmanager
async def open_asker(
    endpoint: EndpointConfig, job: Job, *, number: int, concurrency: int = 8, **limits: Any
) -> AsyncIterator[tuple[Asker, Gate]]:
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis, open_client(endpoint) as client:
        given = {"concurrency": concurrency, "per_minute": None, "seconds": 30}
        slots = EndpointSlots(redis, endpoint_id=number, **given | limits)
        gate, breaker = Gate(AdaptiveConcurrency(concurrency)), CircuitBreaker(threshold=5)
        kept = KeptReplies(redis, job_id=number)
        asker = Asker(client, endpoint, job, gate=gate, slots=slots, kept=kept, breaker=breaker, rng=random.Random(1))
        yield asker, gate


def ask_all(
    server: ScriptedModelServer, calls: list[Call], job: Job | None = None, *, workers: int = 1, **limits: Any
) -> tuple[list[Outcome], list[Asker]]:
    """Outcomes of the calls, shared out among runners that know of each other only through Redis."""
    number, endpoint = next(numbers), endpoint_of(server, supports_logprobs=True)

    async def work(part: list[Call]) -> tuple[list[Outcome], Asker]:
        async with open_asker(endpoint, job or job_of(), number=number, **limits) as (asker, _):
            return list(await asyncio.gather(*(asker.answer(call) for call in part))), asker

    async def run() -> list[tuple[list[Outcome], Asker]]:
        return list(await asyncio.gather(*(work(calls[start::workers]) for start in range(workers))))

    done = asyncio.run(run())
    return [outcome for outcomes, _ in done for outcome in outcomes], [asker for _, asker in done]


def halt_of(server: ScriptedModelServer, n: int = 1) -> Halt | None:
    async def run() -> Halt | None:
        async with open_asker(endpoint_of(server), job_of(), number=next(numbers)) as (asker, gate):
            await asyncio.gather(*(asker.answer(call) for call in calls_of(n)), return_exceptions=True)
            return gate.halt

    return asyncio.run(run())


def test_a_limited_server_refuses_few_calls_of_two_workers():
    with ScriptedModelServer(Script(requests_per_second=30, latency_seconds=0.2)) as server:
        outcomes, _ = ask_all(server, calls_of(180), workers=2, concurrency=64)
    assert {outcome.status for outcome in outcomes} == {Call.Status.OK}
    assert server.requests <= 1.8 * 180


def test_faults_cost_no_more_requests_than_they_make_necessary():
    script = Script(probabilities={"rate_limited": 0.1, "error_500": 0.02}, latency_seconds=0.05, seed=3)
    with ScriptedModelServer(script) as server:
        outcomes, (asker,) = ask_all(server, calls_of(300), concurrency=64)
    assert [outcome.status for outcome in outcomes] == [Call.Status.OK] * 300
    necessary = 300 + server.behaved["rate_limited"] + server.behaved["error_500"]
    assert necessary <= server.requests <= necessary * 1.03
    assert asker.spent.requests == server.requests
    assert sum(outcome.fields["attempts"] for outcome in outcomes) <= server.requests


def test_one_workers_retry_after_is_obeyed_by_all():
    async def run(server: ScriptedModelServer) -> float:
        number, endpoint = next(numbers), endpoint_of(server)
        async with (
            open_asker(endpoint, job_of(), number=number, concurrency=64) as (one, _),
            open_asker(endpoint, job_of(), number=number, concurrency=64) as (two, _),
        ):
            first = asyncio.gather(*(one.answer(call) for call in calls_of(8)))
            while server.requests < 8:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            started = time.monotonic()
            await asyncio.gather(*(two.answer(call) for call in calls_of(20)))
            waited = time.monotonic() - started
            await first
            return waited

    with ScriptedModelServer(Script(behaviours=["rate_limited"] * 8)) as server:
        assert asyncio.run(run(server)) >= 0.6
        assert server.requests == 8 + 28


def test_a_refused_call_keeps_its_place_so_that_no_other_is_refused_as_well():
    with ScriptedModelServer(Script(behaviours=["rate_limited"] * 2, latency_seconds=0.01)) as server:
        started = time.monotonic()
        outcomes, _ = ask_all(server, calls_of(6), concurrency=2)
        assert time.monotonic() - started >= 1
        assert server.behaved == {"rate_limited": 2, "ok": 6}
    assert sorted(outcome.fields["attempts"] for outcome in outcomes) == [1, 1, 1, 1, 2, 2]


def test_an_overloaded_servers_retry_after_is_obeyed_too():
    answer = json.dumps({"choices": [{"message": {"content": '{"answer": "A"}'}, "finish_reason": "stop"}]})
    times: list[float] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        times.append(time.monotonic())
        head = "503 Service Unavailable\r\nRetry-After: 1" if len(times) == 1 else "200 OK"
        writer.write(f"HTTP/1.1 {head}\r\nContent-Length: {len(answer)}\r\nConnection: close\r\n\r\n{answer}".encode())
        await writer.drain()
        writer.close()

    async def run() -> Outcome:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            endpoint = EndpointConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key="sk-scripted", model="m")
            async with open_asker(endpoint, job_of(), number=next(numbers)) as (asker, _):
                return await asker.answer(calls_of(1)[0])

    assert asyncio.run(run()).status == Call.Status.OK
    assert len(times) == 2
    assert times[1] - times[0] >= 1


def test_tokens_and_requests_are_counted_over_all_tries_of_a_call():
    texts = ["Both have their merits.", '{"answer": "A"}']
    answers = iter(texts)
    script = Script(behaviours=["ok", "error_500", "rate_limited", "ok"], answer=lambda body: next(answers))
    with ScriptedModelServer(script) as server:
        (outcome,), (asker,) = ask_all(server, calls_of(1))
        asked = [sum(len(message["content"]) for message in body["messages"]) // 4 for body in server.bodies]
    fields = outcome.fields
    assert outcome.status == Call.Status.OK
    assert fields["attempts"] == asker.spent.requests == 4
    assert fields["prompt_tokens"] == asker.spent.prompt_tokens == asked[0] + asked[3]
    assert fields["completion_tokens"] == asker.spent.completion_tokens == sum(len(split_words(text)) for text in texts)


def test_earlier_tries_of_a_call_count_and_unknown_tokens_stay_unknown():
    with ScriptedModelServer(Script(behaviours=["ok", "no_usage"])) as server:
        (again,), (asker,) = ask_all(server, calls_of(1, attempts=2, prompt_tokens=50, completion_tokens=7))
        (unknown,), _ = ask_all(server, calls_of(1))
    assert again.fields["attempts"] == 3
    assert again.fields["prompt_tokens"] == 50 + (asker.spent.prompt_tokens or 0) > 50
    assert asker.spent.requests == 1
    assert (unknown.fields["prompt_tokens"], unknown.fields["completion_tokens"]) == (None, None)


def test_a_control_question_is_counted_as_asked_but_not_as_a_try_of_the_call():
    with ScriptedModelServer(Script(behaviours=["error_400"])) as server:
        (outcome,), (asker,) = ask_all(server, calls_of(1))
        assert server.requests == asker.spent.requests == 2
    assert outcome.status == Call.Status.ERROR
    assert outcome.fields["attempts"] == 1


def test_a_long_unreadable_answer_is_shown_again_from_both_ends_only():
    text = "Well, " + "or maybe " * 20_000 + "who knows."
    answers = iter([text, '{"answer": "B"}'])
    with ScriptedModelServer(Script(answer=lambda body: next(answers))) as server:
        (outcome,), _ = ask_all(server, calls_of(1), job_of(max_tokens=10**6))
        shown = server.bodies[1]["messages"][1]["content"]
    assert outcome.fields["values"] == {"answer": "no"}
    assert len(shown) < 2100
    assert shown.startswith("Well, or")
    assert shown.endswith("who knows.")


def test_an_unreadable_answer_is_kept_with_what_was_wrong_and_no_values():
    with ScriptedModelServer(Script(answer=lambda body: "Both.")) as server:
        (outcome,), _ = ask_all(server, calls_of(1), job_of(max_parse_attempts=3))
        assert server.requests == 3
        asked = [message["content"] for message in server.bodies[2]["messages"]]
    assert outcome.status == Call.Status.UNPARSED
    assert outcome.fields["problem"] in asked[-1]
    assert "values" not in outcome.fields


def test_only_modes_that_want_json_send_a_schema():
    def ask(text: str, **fields: Any) -> tuple[Outcome, dict[str, Any]]:
        with ScriptedModelServer(Script(answer=lambda body: text)) as server:
            (outcome,), _ = ask_all(server, calls_of(1), job_of(**fields))
            return outcome, server.bodies[0]

    for fields, text, with_schema in [
        ({}, '{"answer": "B"}', True),
        ({"answer_mode": "json"}, '{"answer": "B"}', True),
        ({"answer_mode": "letter"}, "B", False),
        ({"answer_mode": "label"}, "No", False),
        ({"answer_mode": "sentence", "answer_sentence": "My choice is {letter}."}, "So: My choice is B.", False),
    ]:
        outcome, body = ask(text, **fields)
        assert outcome.fields["values"] == {"answer": "no"}, fields
        assert outcome.fields["parse_mode"] == fields.get("answer_mode", "json")
        assert ("response_format" in body) is with_schema


def test_option_probabilities_come_from_the_answers_tokens_where_the_job_wants_them():
    chances = {"A": 0.6, "B": 0.3, "X": 0.05}
    script = Script(answer=lambda body: "A", alternatives=lambda token, place: chances)
    with ScriptedModelServer(script) as server:
        (with_them,), _ = ask_all(server, calls_of(1), job_of(answer_mode="letter", logprobs=True))
        (without,), _ = ask_all(server, calls_of(1), job_of(answer_mode="letter"))
        assert "logprobs" not in server.bodies[1]
    found = with_them.fields["probabilities"]["answer"]
    assert found["shares"] == pytest.approx({"yes": 0.6, "no": 0.3})
    assert (found["other"], found["unresolved"]) == pytest.approx((0.05, 0))
    assert without.fields["probabilities"] is None


def test_a_used_up_quota_halts_for_good_with_the_servers_words():
    with ScriptedModelServer(Script(probabilities={"quota": 1})) as server:
        halt = halt_of(server, n=5)
        assert server.requests <= 6
    assert halt is not None
    assert "You exceeded your current quota" in halt.reason
    assert halt.retry_seconds is None


def test_who_waits_at_the_gate_goes_in_as_soon_as_the_maximum_rises():
    async def run() -> tuple[int, int, int]:
        gate = Gate(AdaptiveConcurrency(2))
        waiting = [asyncio.create_task(gate.enter()) for _ in range(10)]
        await asyncio.sleep(0.01)
        before = gate.concurrency.in_flight
        await gate.set_maximum(7)
        await asyncio.sleep(0.01)
        after = gate.concurrency.in_flight
        await gate.set_maximum(3)
        for _ in range(4):
            await gate.leave()
        await asyncio.sleep(0.01)
        lowered = gate.concurrency.in_flight
        for task in waiting:
            task.cancel()
        return before, after, lowered

    assert asyncio.run(run()) == (2, 7, 3)


def test_a_servers_token_limit_is_kept():
    with ScriptedModelServer() as server:
        job, calls = job_of(), calls_of(12)
        started = time.monotonic()
        _, askers = ask_all(server, calls, job, workers=2, tokens_per_minute=3000)
        seconds = time.monotonic() - started
    used = sum((asker.spent.prompt_tokens or 0) + (asker.spent.completion_tokens or 0) for asker in askers)
    assert used / seconds <= 3000 / 60 * 1.1
