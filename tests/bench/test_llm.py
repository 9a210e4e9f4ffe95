"""The parts of the models' benchmark that do not depend on the machine; nothing is timed here."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from bench import llm, memory, processor
from bench.llm_floor import ask_all
from bench.llm_measure import Run, Spent
from bench.llm_parts import items_needed
from bench.llm_peers import Cost
from bench.llm_planning import CALLS, traced_mib
from bench.llm_server import Tally
from bench.targets import Target, spread, verdict
from tests.model_server import Script, ScriptedModelServer

ONE_LETTER = {"type": "object", "properties": {"answer": {"enum": ["A", "B"]}}}


def test_a_target_is_judged_before_rounding_and_to_its_side():
    assert str(Target("tries each", 1.8, 1.8)) == "tries each 1.80 (target <= 1.8): holds"
    assert str(Target("tries each", 1.801, 1.8)) == "tries each 1.80 (target <= 1.8): falls short"
    assert Target("share", 0.85, 0.85, at_least=True).holds
    assert not Target("share", 0.849, 0.85, at_least=True).holds


def test_what_was_not_measured_never_holds():
    assert not Target("MiB", float("nan"), 250).holds
    assert not Target("share", float("nan"), 0.85, at_least=True).holds
    assert str(spread(0.0, 1.0)) == "nan"
    assert spread(2.0, 3.0) == 1.5


def test_the_verdict_names_what_falls_short_before_its_last_line():
    good, bad = Target("share", 0.9, 0.85, at_least=True), Target("tries each", 2.0, 1.8)
    assert verdict([good]) == ["share 0.90: holds"]
    assert verdict([good, bad]) == [
        "tries each 2.00 (target <= 1.8): falls short",
        "share 0.90, tries each 2.00: falls short",
    ]
    assert verdict([]) == []


def test_the_plan_is_the_protocols_largest():
    assert CALLS == 1_912_320
    assert items_needed(200_000) == 25_000
    assert items_needed(8) == 6_640


def test_a_run_says_what_each_process_cost():
    spent = Spent(worker=8.0, postgres=2.0, valkey=0.5, start=0.1)
    run = Run(job=1, calls=2000, seconds=7.0, spent=spent, memory=240.0, largest=110.0, server={"most_in_flight": 64})
    assert run.per_thousand == pytest.approx(5.3)
    assert str(run).startswith("286 calls/s (89% of the ceiling; 2,000 calls, 7.0 s, at most 64 in flight)")
    assert "5.30 (worker 4.00, postgres 1.00, valkey 0.25, start 0.05); worker 240 MiB" in str(run)
    assert str(Cost(calls=200, seconds=4.0, processor=5.0)) == "50 calls/s, processor s per 1,000 calls 25.0"


def test_the_tally_counts_questions_apart_from_how_often_they_were_answered():
    tally, schema = Tally(0.0, "A"), {"type": "json_schema", "json_schema": {"schema": ONE_LETTER}}
    for text in ("one", "two", "one"):
        body = {"messages": [{"role": "user", "content": text}], "response_format": schema}
        assert json.loads(tally.answer(body))["answer"] in ("A", "B")
    assert tally.answer({"messages": []}) == "A"
    figures = tally.figures(ScriptedModelServer())
    assert (figures["answered"], figures["questions"]) == (4, 3)
    assert figures["body"]["messages"][0]["content"] == "one"


def test_bare_aiohttp_makes_exactly_the_calls_with_so_many_in_flight():
    with ScriptedModelServer(Script(latency_seconds=0.05)) as server:
        asyncio.run(ask_all(server.base_url, json.dumps({"messages": []}).encode(), calls=40, concurrency=8))
        assert (server.requests, server.most_in_flight) == (40, 8)


@pytest.mark.skipif(not processor.PROC.joinpath("self/smaps_rollup").exists(), reason="there is no /proc here")
def test_memory_is_the_processes_own_and_that_of_those_below():
    command = "import time; held = b'x' * (64 << 20); print('ready', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with memory.PeakMemory(os.getpid()) as peak:
            pass
        child.kill()
    assert 64 < peak.largest < peak.together


def test_what_a_step_holds_at_once_is_traced():
    assert 32 < traced_mib(lambda: sum(len(b"x" * (n << 20)) for n in (1, 32))) < 34


def test_arguments_decide_what_is_measured(capsys):
    quick = llm.parse(["--quick"])
    assert (quick.calls, tuple(quick.parts), quick.peers) == (2_800, llm.QUICK_PARTS, [])
    assert tuple(llm.parse([]).parts) == llm.PARTS
    peer = llm.parse(["--peer", "edsl", "--peer-python", "/venv/bin/python"])
    assert (peer.parts, peer.peers) == ([], [("edsl", "/venv/bin/python")])
    assert llm.parse(["--calls", "200000", "--part", "flat"]).parts == ["flat"]
    for bad, words in (
        (["--calls", "100"], "100 is no multiple of 8"),
        (["--calls", "many"], "many is no multiple of 8"),
        (["--peer", "edsl"], "give one --peer-python for each --peer"),
        (["--part", "speed"], "invalid choice"),
    ):
        with pytest.raises(SystemExit):
            llm.parse(bad)
        assert words in capsys.readouterr().err
