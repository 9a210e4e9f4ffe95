"""One attempt against a real HTTP server: every fault comes back as a Reply with the right status and words."""

import asyncio
import json
import socket
import time
import tracemalloc

import pytest
from aiohttp.abc import AbstractResolver

from llm.servers.client import ask, open_client, request_body
from llm.servers.endpoint_config import EndpointConfig, Parameters
from llm.servers.probing import probe
from llm.servers.replies import read_body, retry_after_seconds, status_fault
from llm.servers.transport import MAX_BODY_BYTES
from tests.llm.conftest import MESSAGES, SCHEMA, endpoint_of
from tests.model_server import MODEL, Script, ScriptedModelServer


def reply_to(behaviour, ask_once, **changes):
    with ScriptedModelServer(Script(behaviours=[behaviour], **changes.pop("script", {}))) as server:
        reply = ask_once(endpoint_of(server, **changes))
        assert server.requests == 1, "one call of ask is one HTTP attempt"
    return reply


def test_an_answer_comes_with_usage_latency_and_the_raw_body(ask_once):
    reply = reply_to("ok", ask_once)
    assert (reply.status, reply.error, reply.finish_reason) == ("ok", "", "stop")
    assert json.loads(reply.text)["norm"] in ("A", "B")
    assert reply.prompt_tokens == 4
    assert reply.completion_tokens > 0
    assert 0 < reply.latency_seconds < 5
    assert reply.raw["choices"][0]["message"]["content"] == reply.text


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("error_408", "The server answered 408: scripted error_408."),
        ("error_409", "The server answered 409: scripted error_409."),
        ("error_429", "The server answered 429: scripted error_429."),
        ("error_500", "The server answered 500: scripted error_500."),
        ("error_503", "The server answered 503: scripted error_503."),
        ("html_502", "The server answered 502: 502 Bad Gateway."),
        ("html_200", 'The server\'s answer is not a JSON object: "200 Please log in".'),
        ("cut", "The connection broke off: "),
        ("cut_headers", "The connection broke off: "),
        ("empty_200", "The server answered with an empty body."),
        ("invalid_json", "The server's answer is not a JSON object: "),
        ("no_choices", "The server's answer holds no message."),
        ("error_in_200", "The server answered 502: Provider returned error."),
        ("empty_content", "The model's answer is empty."),
        ("null_content", "The model's answer is empty."),
        ("think_unclosed", "The model's answer is empty."),
    ],
)
def test_faults_that_may_pass_are_errors_to_try_again(behaviour, words, ask_once):
    reply = reply_to(behaviour, ask_once)
    assert (reply.status, reply.retryable) == ("error", True)
    assert reply.error.startswith(words)
    assert reply.retry_after is None
    assert reply.latency_seconds > 0


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 422])
@pytest.mark.parametrize("shape", ["openai", "list", "flat", "detail", "html", "text"])
def test_faults_of_the_request_are_final_and_keep_the_servers_words_in_any_shape(code, shape, ask_once):
    reply = reply_to(f"error_{code}", ask_once, script={"error_shape": shape})
    place = {"detail": "body.messages: ", "html": f"{code} "}.get(shape, "")
    assert (reply.status, reply.retryable, reply.status_code) == ("error", False, code)
    assert reply.error == f"The server answered {code}: {place}scripted error_{code}."


def test_a_redirect_is_not_followed(ask_once):
    reply = reply_to("redirect", ask_once)
    assert (reply.status, reply.retryable, reply.status_code) == ("error", False, 307)


@pytest.mark.parametrize("behaviour", ["hang", "trickle"])
def test_the_time_out_is_for_the_whole_attempt(behaviour, ask_once):
    started = time.monotonic()
    reply = reply_to(behaviour, ask_once, timeout_seconds=0.5)
    assert time.monotonic() - started < 4
    assert (reply.status, reply.retryable, reply.error) == ("error", True, "No answer within 0.5 s.")


def test_a_refused_connection_names_the_address(ask_once):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    reply = ask_once(EndpointConfig(base_url=url, api_key="", model=MODEL, timeout_seconds=5))
    assert (reply.status, reply.retryable, reply.status_code) == ("error", True, None)
    assert reply.error.startswith(f"No connection to {url}: ")


def test_a_host_that_does_not_exist_and_a_malformed_address_are_replies_too(ask_once):
    for url in ("http://no-such-host.invalid/v1", "ftp://127.0.0.1/v1"):
        reply = ask_once(EndpointConfig(base_url=url, api_key="", model=MODEL, timeout_seconds=5))
        assert reply.status == "error"
        assert reply.error.endswith(".")


@pytest.mark.parametrize("behaviour", ["huge", "huge_packed"])
def test_a_body_without_end_is_not_read_on(behaviour, ask_once):
    tracemalloc.start()
    try:
        reply = reply_to(behaviour, ask_once)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (reply.status, reply.retryable) == ("error", False)
    assert reply.error == "The server's answer is longer than 8 MB; it was not read on."
    assert peak < 4 * MAX_BODY_BYTES  # of this process, which is the server's too


def test_a_body_up_to_the_limit_is_read(ask_once):
    text = "x" * (MAX_BODY_BYTES - 2**20)
    assert reply_to("ok", ask_once, script={"answer": lambda body: text}).text == text


def test_the_server_does_not_choose_how_its_text_is_decoded(ask_once):
    assert reply_to("odd_charset", ask_once).error.startswith("The server's answer is not a JSON object")


class FakeResolver(AbstractResolver):
    """Every name leads to one address."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list:
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        return [{"hostname": host, "host": self.address, "port": port, "family": family, "proto": 0, "flags": 0}]

    async def close(self) -> None:
        return None


def ask_by(resolver, endpoint):
    async def call():
        async with open_client(endpoint, resolver=resolver) as client:
            return await ask(client, endpoint, MESSAGES, Parameters())

    return asyncio.run(call())


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fe80::1", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "::ffff:169.254.1.1"]
)
def test_a_name_that_leads_to_a_metadata_service_is_not_asked(address):
    endpoint = EndpointConfig(base_url="http://models.example.org/v1", api_key="", model=MODEL, timeout_seconds=5)
    reply = ask_by(FakeResolver(address), endpoint)
    assert (reply.status, reply.retryable) == ("error", False)
    assert reply.error.startswith("http://models.example.org/v1 is not asked: ")
    assert "is an address for machines' own metadata" in reply.error


def test_a_metadata_address_is_not_asked_even_when_it_was_stored(ask_once):
    reply = ask_once(EndpointConfig(base_url="http://169.254.169.254/v1", api_key="", model=MODEL, timeout_seconds=5))
    assert (reply.retryable, "own metadata" in reply.error) == (False, True)


def test_names_may_lead_to_the_own_machine():
    with ScriptedModelServer() as server:
        endpoint = endpoint_of(server, base_url=f"http://models.example.org:{server.port}/v1")
        assert ask_by(FakeResolver("127.0.0.1"), endpoint).status == "ok"


def test_a_proxy_from_the_environment_is_used(ask_once, monkeypatch):
    with ScriptedModelServer() as server:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{server.port}")
        endpoint = endpoint_of(server, base_url="http://models.invalid/v1")
        assert ask_once(endpoint).status == "ok"
        assert server.headers[0]["Host"] == "models.invalid"
        monkeypatch.setenv("no_proxy", "models.invalid")
        assert ask_once(endpoint).error.startswith("No connection to http://models.invalid/v1: ")


def test_retry_after_is_read_in_seconds_and_as_a_date(ask_once):
    assert reply_to("rate_limited", ask_once).retry_after == 1.0
    assert 5 <= reply_to("rate_limited_date", ask_once).retry_after <= 8


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after_values(headers, seconds):
    assert retry_after_seconds(headers, now=1_700_000_000) == seconds


def test_no_money_left_is_final_although_it_is_a_429(ask_once):
    reply = reply_to("quota", ask_once)
    assert (reply.status, reply.retryable, reply.retry_after) == ("error", False, None)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("content_filter", "Refused by the server's content filter."),
        ("content_filter_400", "Refused by the server's content filter: The prompt was filtered."),
        ("refusal", 'The model refused: "I cannot help with that".'),
    ],
)
def test_refusals_are_apart_from_errors_and_final(behaviour, words, ask_once):
    reply = reply_to(behaviour, ask_once)
    assert (reply.status, reply.error, reply.retryable) == ("refused", words, False)


def test_a_truncated_answer_is_no_answer(ask_once):
    reply = reply_to("length", ask_once)
    assert (reply.status, reply.retryable, reply.finish_reason) == ("truncated", False, "length")
    assert reply.text
    assert "token limit" in reply.error


@pytest.mark.parametrize("behaviour", ["think", "reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_wherever_the_server_puts_it(behaviour, ask_once):
    reply = reply_to(behaviour, ask_once)
    assert (reply.status, reply.reasoning) == ("ok", "First A, then B.")
    assert json.loads(reply.text)["norm"] in ("A", "B")


@pytest.mark.parametrize("behaviour", ["parts", "json_in_reasoning"])
def test_answers_in_parts_or_filed_under_reasoning_are_found(behaviour, ask_once):
    reply = reply_to(behaviour, ask_once)
    assert (reply.status, reply.reasoning) == ("ok", "")
    assert json.loads(reply.text)["norm"] in ("A", "B")


def test_missing_usage_is_unknown_and_not_zero(ask_once):
    reply = reply_to("no_usage", ask_once)
    assert (reply.status, reply.prompt_tokens, reply.completion_tokens) == ("ok", None, None)


def test_what_postgresql_cannot_store_is_taken_out(ask_once):
    reply = reply_to("nul_bytes", ask_once)
    assert reply.status == "ok"
    for text in (reply.text, json.dumps(reply.raw, ensure_ascii=False)):
        assert "\x00" not in text
        text.encode("utf-8")
    body = '{"choices": [{"message": {"content": "A"}, "logprobs": [NaN, -Infinity, 1e999, 0.5]}]}'
    assert read_body(body).raw["choices"][0]["logprobs"] == [None, None, None, 0.5]


def test_the_key_never_appears_in_what_is_kept(ask_once):
    with ScriptedModelServer(Script(api_key="sk-right-one")) as server:
        reply = ask_once(endpoint_of(server, api_key="sk-wrong-secret"))
    assert (reply.status, reply.status_code, reply.retryable) == ("error", 401, False)
    assert "[key]" in reply.error
    assert "sk-wrong-secret" not in f"{reply} {endpoint_of(server, api_key='sk-wrong-secret')}"


@pytest.mark.parametrize(
    "body",
    ["[]", "3", "null", '{"choices": {}}', '{"choices": [3]}', '{"choices": [{}]}', "{" * 9999]
    + [f'{{"a": {"[" * depth}"\\u0000"{"]" * depth}}}' for depth in (300, 600, 900)],
)
def test_no_body_makes_it_raise(body):
    assert (read_body(body).status, read_body(body).retryable) == ("error", True)
    assert status_fault(400, body, {}, now=0).status == "error"


def test_the_request_speaks_the_dialect_of_the_endpoint():
    plain = EndpointConfig(base_url="http://x/v1", api_key="", model="m")
    parameters = Parameters(temperature=0, max_tokens=5, seed=7)
    assert request_body(plain, MESSAGES, parameters, schema=SCHEMA) == {
        "model": "m",
        "messages": MESSAGES,
        "temperature": 0,
        "max_tokens": 5,
        "seed": 7,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
    }
    other = EndpointConfig(
        base_url="http://x/v1",
        api_key="",
        model="m",
        token_limit_field="max_completion_tokens",
        json_mode="none",
        supports_seed=False,
        system_role=False,
    )
    assert request_body(other, MESSAGES, parameters, schema=SCHEMA) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Be brief.\n\nA or B?"}],
        "temperature": 0,
        "max_completion_tokens": 5,
    }


def test_organisation_headers_from_the_environment_stay_here(ask_once, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-private")
    with ScriptedModelServer() as server:
        assert ask_once(endpoint_of(server)).status == "ok"
    assert "private" not in json.dumps(server.headers)


def test_many_calls_share_one_client():
    async def ask_many(endpoint, count):
        async with open_client(endpoint) as client:
            calls = [ask(client, endpoint, [{"role": "user", "content": str(n)}], Parameters()) for n in range(count)]
            return await asyncio.gather(*calls)

    with ScriptedModelServer(Script(latency_seconds=0.2)) as server:
        started = time.monotonic()
        replies = asyncio.run(ask_many(endpoint_of(server), 32))
        elapsed = time.monotonic() - started
    assert [reply.status for reply in replies] == ["ok"] * 32
    assert server.most_in_flight > 16
    assert elapsed < 32 * 0.2


def probed(script, **changes):
    with ScriptedModelServer(script) as server:
        return asyncio.run(probe(endpoint_of(server, **changes)))


def test_probe_of_a_server_that_can_do_everything():
    found = probed(Script())
    assert {name: found[name] for name in ("ok", "models", "model_listed", "usage", "reasoning")} == {
        "ok": True,
        "models": [MODEL],
        "model_listed": True,
        "usage": True,
        "reasoning": False,
    }
    assert (found["token_limit_field"], found["json_mode"]) == ("max_tokens", "json_schema")
    assert (found["supports_seed"], found["system_role"]) == (True, True)
    assert json.loads(json.dumps(found)) == found


def test_probe_of_a_server_that_refuses_much():
    found = probed(Script(rejects=["max_tokens", "json_schema", "system", "seed"], error_shape="list"))
    assert found["ok"] is True
    assert (found["token_limit_field"], found["json_mode"]) == ("max_completion_tokens", "json_object")
    assert (found["supports_seed"], found["system_role"]) == (False, False)


def test_probe_sees_a_schema_that_is_ignored():
    found = probed(Script(honours_schema=False))
    assert found["json_mode"] == "json_object"
    assert probed(Script(honours_schema=False, rejects=["json_object"]))["json_mode"] == "none"


@pytest.mark.parametrize("url", ["http://0177.0.0.1:1/v1", "http://\uff11\uff12\uff17.0.0.1/v1", "http://a\nb/", "x"])
def test_probe_of_an_address_that_is_none_says_so(url):
    found = asyncio.run(probe(EndpointConfig(base_url=url, api_key="", model=MODEL)))
    assert (found["ok"], found["models"]) == (False, None)
    assert found["sentences"][0].startswith("It is not asked. ")


def test_probe_of_a_server_that_sends_without_end():
    found = probed(Script(behaviours=["huge"]))
    assert found["sentences"][1] == "Chat does not work. The server's answer is longer than 8 MB; it was not read on."


def test_probe_of_a_wrong_key_says_so_and_keeps_what_was_set():
    found = probed(Script(api_key="sk-right-one"), json_mode="none", system_role=False)
    assert (found["ok"], found["models"], found["json_mode"], found["system_role"]) == (False, None, "none", False)
    assert any("401" in sentence for sentence in found["sentences"])


def test_a_400_that_says_the_thinking_used_up_the_limit_is_a_truncated_answer():
    words = "Could not finish the message because max_tokens or model output limit was reached. Please try again."
    reply = status_fault(400, json.dumps({"error": {"message": words, "code": None}}), {}, now=0)
    assert (reply.status, reply.retryable, reply.status_code) == ("truncated", False, 400)
    assert reply.error == "The token limit was reached before the answer began; raise the limit."
