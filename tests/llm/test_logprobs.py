"""Log probabilities as servers send them: the tokens, whatever shape they come in, and a ledger that stays small."""

import json
import math
import random

import pytest

from llm.reading.logprobs import LOWEST, MAX_ALTERNATIVES, MAX_TOKENS, Token, read_logprobs
from llm.servers.client import request_body
from llm.servers.endpoint_config import EndpointConfig, Parameters
from llm.servers.replies import read_body
from tests.llm.conftest import MESSAGES, endpoint_of
from tests.model_server import Script, ScriptedModelServer


def entry(token, logprob=-0.5, **changes):
    return {"token": token, "logprob": logprob, "bytes": list(token.encode()), "top_logprobs": []} | changes


def read(*content):
    return read_logprobs({"logprobs": {"content": list(content)}})


def test_an_answers_tokens_come_with_their_alternatives_and_add_up_to_its_text(ask_once):
    with ScriptedModelServer(Script(answer=lambda body: 'Answer: "A"')) as server:
        reply = ask_once(endpoint_of(server, supports_logprobs=True), schema=None, top_logprobs=5)
    assert [token.text for token in reply.logprobs] == ["Answer", ":", " ", '"', "A", '"']
    letter = reply.logprobs[4]
    assert letter.top[0] == ("A", letter.logprob)
    assert {text for text, _ in letter.top} == {"A", "B", "C", "D", "E"}
    assert [logprob for _, logprob in letter.top] == sorted((logprob for _, logprob in letter.top), reverse=True)
    assert all(sum(math.exp(logprob) for _, logprob in token.top) < 1 for token in reply.logprobs)


def test_the_script_decides_on_tokens_and_their_probabilities(ask_once):
    script = Script(
        answer=lambda body: '"B"',
        split=lambda text: ['"B', '"'],
        alternatives=lambda token, place: {'"A': 0.25, '"B': 0.75} if place == 0 else {token: 1.0},
    )
    with ScriptedModelServer(script) as server:
        reply = ask_once(endpoint_of(server, supports_logprobs=True), schema=None, top_logprobs=20)
    assert reply.logprobs[0] == Token('"B', math.log(0.75), (('"B', math.log(0.75)), ('"A', math.log(0.25))))
    assert reply.logprobs[1].logprob == 0


def test_what_was_read_is_not_kept_in_the_raw_reply(ask_once):
    with ScriptedModelServer() as server:
        endpoint = endpoint_of(server, supports_logprobs=True)
        reply, plain = ask_once(endpoint, top_logprobs=20), ask_once(endpoint)
    assert reply.logprobs
    assert "logprobs" not in reply.raw["choices"][0]
    assert len(json.dumps(reply.raw)) <= len(json.dumps(plain.raw))
    assert plain.logprobs == ()


@pytest.mark.parametrize(
    "block",
    [None, 3, [], "x", {}, {"content": None}, {"content": {}}, {"content": []}, {"content": [3]},
     {"content": [{"logprob": -1}]}, {"content": [{"token": 5, "logprob": -1}]}, {"content": [entry("A"), None]},
     {"tokens": ["A"], "token_logprobs": [-0.1], "top_logprobs": [{"A": -0.1}]}],
)  # fmt: skip
def test_what_is_no_list_of_tokens_is_none_and_stays_in_the_raw_reply(block):
    choice = {"message": {"content": "A"}, "logprobs": block}
    assert read_logprobs(choice) == ()
    reply = read_body(json.dumps({"choices": [choice]}))
    assert (reply.status, reply.logprobs, reply.raw["choices"][0]["logprobs"]) == ("ok", (), block)
    assert read_logprobs({}) == ()


def test_numbers_that_are_none():
    body = (
        '{"choices": [{"message": {"content": "ABCDEF"}, "logprobs": {"content": ['
        '{"token": "A", "logprob": -Infinity, "top_logprobs": [{"token": "A", "logprob": null}, 7, null,'
        ' {"token": "B", "logprob": NaN}, {"token": "C", "logprob": "-1"}, {"token": "D", "logprob": true},'
        ' {"token": "E", "logprob": -12345.0}, {"token": "F", "logprob": 1e-7}, {"token": "G", "logprob": 2.5},'
        ' {"logprob": -1}]},'
        '{"token": "B"}, {"token": "C", "logprob": -1e999}, {"token": "D", "logprob": 3, "top_logprobs": {"D": -1}}'
        "]}}]}"
    )
    tokens = read_body(body).logprobs
    assert [token.logprob for token in tokens] == [LOWEST] * 4
    assert tokens[0].top == (("F", 0.0), ("E", LOWEST))
    assert [token.top for token in tokens[1:]] == [(), (), ()]
    assert read(entry("A", -(10**400)))[0].logprob == LOWEST


@pytest.mark.parametrize(
    ("token", "numbers", "text"),
    [
        ("token_id:42", list("Ж".encode()), "Ж"),
        ("\\xd0", [0xD0], "\\xd0"),  # half a character: only its name can be told
        ("A", None, "A"),
        ("A", [], "A"),
        ("A", [300], "A"),
        ("A", ["x"], "A"),
        ("A", 10**12, "A"),
        ("<0x0A>", [10], "\n"),
    ],
)
def test_bytes_say_more_than_the_tokens_name(token, numbers, text):
    assert read(entry(token, bytes=numbers))[0].text == text


def test_long_lists_are_bounded_and_their_end_is_kept():
    alternatives = [{"token": f"t{n}", "logprob": -n - 1.0} for n in range(500)]
    random.Random(1).shuffle(alternatives)
    tokens = read(*(entry(str(n), top_logprobs=alternatives) for n in range(MAX_TOKENS + 10)))
    assert (len(tokens), tokens[-1].text) == (MAX_TOKENS, str(MAX_TOKENS + 9))
    assert tokens[0].top == tuple((f"t{n}", -n - 1.0) for n in range(MAX_ALTERNATIVES))


def test_they_are_asked_for_only_where_they_are_given_and_no_more_than_may_be():
    plain = EndpointConfig(base_url="http://x/v1", api_key="", model="m")
    wish = Parameters(top_logprobs=20)
    assert "logprobs" not in request_body(plain, MESSAGES, wish)
    able = EndpointConfig(base_url="http://x/v1", api_key="", model="m", supports_logprobs=True, max_top_logprobs=5)
    body = request_body(able, MESSAGES, wish)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)
    assert not {"logprobs", "top_logprobs"} & set(request_body(able, MESSAGES, Parameters()))


def test_what_a_reasoning_model_refuses_is_left_out():
    endpoint = EndpointConfig(
        base_url="http://x/v1", api_key="", model="m", supports_temperature=False, supports_top_p=False
    )
    assert set(request_body(endpoint, MESSAGES, Parameters(temperature=0, top_p=1))) == {"model", "messages"}
