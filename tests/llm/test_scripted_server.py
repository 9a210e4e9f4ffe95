"""The scripted model server keeps its promises: tests of jobs lean on it."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from llm.reading.parsing import answer_schema, parse_reply
from materials.questions import parse_questions
from tests.llm.conftest import MESSAGES, endpoint_of
from tests.model_server import BEHAVIOURS, MODEL, Script, ScriptedModelServer

QUESTIONS = parse_questions(
    [
        {
            "kind": "choice",
            "code": "norm",
            "text": "?",
            "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
        },
        {
            "kind": "multi",
            "code": "why",
            "text": "?",
            "options": [{"code": "x", "text": "X"}, {"code": "y", "text": "Y"}],
        },
        {"kind": "scale", "code": "sure", "text": "?", "minimum": -2, "maximum": 2},
        {"kind": "number", "code": "age", "text": "?", "minimum": 18},
        {"kind": "text", "code": "note", "text": "?", "required": False},
    ]
).questions


def post(base_url: str, content: str, **fields):
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}).encode()
    request = urllib.request.Request(f"{base_url}/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def statuses(script: Script, contents: list[str]) -> list[int]:
    def status(content: str) -> int:
        try:
            post(server.base_url, content)
            return 200
        except urllib.error.HTTPError as error:
            return error.code

    with ScriptedModelServer(script) as server:
        return [status(content) for content in contents]


def test_answers_follow_from_the_request_and_the_seed():
    questions = [str(n) for n in range(20)]

    def answers(seed: int) -> list[str]:
        with ScriptedModelServer(Script(seed=seed)) as server:
            return [post(server.base_url, question)["choices"][0]["message"]["content"] for question in questions]

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)
    assert set(answers(1)) == {"Answer: A", "Answer: B"}


def test_schema_answers_are_valid_for_every_kind_of_question(ask_once):
    schema = answer_schema(QUESTIONS, {})
    with ScriptedModelServer() as server:
        for number in range(20):
            messages = [{"role": "user", "content": str(number)}]
            parsed = parse_reply(ask_once(endpoint_of(server), schema=schema, messages=messages).text, QUESTIONS, {})
            assert parsed.status == "ok", parsed.problem


def test_faults_by_probability_do_not_depend_on_the_order_and_a_second_try_may_pass():
    script = Script(probabilities={"error_500": 0.3, "rate_limited": 0.2}, seed=3)
    contents = [str(n) for n in range(40)]
    forwards = dict(zip(contents, statuses(script, contents), strict=True))
    backwards = dict(zip(contents[::-1], statuses(script, contents[::-1]), strict=True))
    assert forwards == backwards
    assert 5 <= sum(code == 500 for code in forwards.values()) <= 20
    assert 200 in statuses(script, [next(name for name, code in forwards.items() if code == 500)] * 10)


def test_the_rate_is_limited():
    codes = statuses(Script(requests_per_second=5), ["x"] * 12)
    assert codes[:5] == [200] * 5
    assert 429 in codes


def test_bodies_and_behaviours_are_recorded(ask_once):
    with ScriptedModelServer(Script(behaviours=["error_500"])) as server:
        ask_once(endpoint_of(server))
        ask_once(endpoint_of(server), temperature=0.5)
    assert dict(server.behaved) == {"error_500": 1, "ok": 1}
    assert [body["messages"] for body in server.bodies] == [MESSAGES] * 2
    assert server.bodies[1]["temperature"] == 0.5


def test_an_unknown_behaviour_is_named():
    with pytest.raises(ValueError, match="errorr_500"):
        Script(behaviours=["errorr_500"])
    assert len(set(BEHAVIOURS)) == len(BEHAVIOURS)


def test_it_runs_as_a_program_of_its_own():
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.model_server", "--port", "0", "--fault", "error_500=0"]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, env={**os.environ})
    try:
        base_url = process.stdout.readline().split()[0]
        assert post(base_url, "A or B?")["model"] == MODEL
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
