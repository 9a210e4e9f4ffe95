"""The probe against each known kind of server, and a call with what it found out."""

import asyncio
import time
from dataclasses import replace

import pytest

from llm.servers.client import ask, open_client
from llm.servers.endpoint_config import EndpointConfig, Parameters
from llm.servers.probing import probe
from llm.servers.server_kinds import KINDS, recognise_server
from tests.llm.conftest import MESSAGES, SCHEMA, endpoint_of
from tests.model_server import DIALECTS, MODEL, Script, ScriptedModelServer

# What each differs in from a server that can do everything.
EXPECTED = {
    "": {},
    "openai": {
        "server": "OpenAI",
        "token_limit_field": "max_completion_tokens",
        "supports_temperature": False,
        "supports_top_p": False,
        "logprobs": False,
        "reasoning": True,
    },
    "vllm": {"server": "vLLM", "batch": False, "reasoning": True},
    "llama.cpp": {"server": "llama.cpp", "batch": False, "reasoning": True},
    "ollama": {"server": "Ollama", "batch": False, "logprobs": False},
    "deepseek": {
        "server": "DeepSeek",
        "json_mode": "json_object",
        "logprobs": False,
        "reasoning": True,
        "batch": False,
    },
    "gemini": {"server": "Gemini", "supports_seed": False, "max_top_logprobs": 5, "batch": False},
    "lm studio": {"server": "LM Studio", "logprobs": False, "batch": False},
}
EVERYTHING = {
    "ok": True,
    "model_listed": True,
    "server": "",
    "token_limit_field": "max_tokens",
    "keeps_token_limit": True,
    "json_mode": "json_schema",
    "supports_seed": True,
    "system_role": True,
    "supports_temperature": True,
    "supports_top_p": True,
    "logprobs": True,
    "max_top_logprobs": 20,
    "batch": True,
    "usage": True,
    "reasoning": False,
}
PROBED = set(EVERYTHING) & set(EndpointConfig.__dataclass_fields__)


def probed(script, **changes):
    with ScriptedModelServer(script) as server:
        return asyncio.run(probe(endpoint_of(server, model=server.model, **changes)))


def test_every_dialect_is_expected():
    assert set(EXPECTED) == {"", *DIALECTS}


@pytest.mark.parametrize("dialect", EXPECTED)
def test_the_probe_finds_out_each_kind_and_a_call_with_its_findings_is_answered(dialect):
    async def probe_and_ask(endpoint):
        found = await probe(endpoint)
        known = {name: found[name] for name in PROBED}
        endpoint = replace(endpoint, supports_logprobs=found["logprobs"], **known)
        everything = Parameters(temperature=0.7, max_tokens=64, top_p=0.9, seed=1, top_logprobs=20)
        async with open_client(endpoint) as client:
            return found, await ask(client, endpoint, MESSAGES, everything, schema=SCHEMA)

    with ScriptedModelServer(Script(dialect=dialect)) as server:
        found, reply = asyncio.run(probe_and_ask(endpoint_of(server, model=server.model)))
        live = server.requests
    assert {name: found[name] for name in EVERYTHING} == EVERYTHING | EXPECTED[dialect]
    assert (reply.status, reply.error) == ("ok", "")
    assert bool(reply.logprobs) == found["logprobs"]
    assert live <= 14, "a probe is a few calls"
    assert not any("could not be found out" in sentence for sentence in found["sentences"])


def test_the_sentences_of_a_reasoning_model():
    found = probed(Script(dialect="openai"))
    assert found["sentences"][:2] == ["It looks like OpenAI.", "It lists 1 model."]
    assert found["sentences"][2].startswith("Chat works; a tiny call took 0.")
    assert found["sentences"][3:] == [
        "It thinks before it answers: the thinking is not shown, and it uses up the token limit.",
        "The token limit goes into max_completion_tokens and is kept.",
        "It takes a system message.",
        "It refuses a temperature: it is left out, and the same question can get different answers.",
        "It takes a seed.",
        "It keeps to a JSON schema: answers are constrained to the options.",
        "It refuses to give log probabilities.",
        "It has the Batch API.",
    ]


def test_a_limit_that_is_taken_and_ignored_is_not_believed():
    """Ollama takes max_completion_tokens and ignores it: a server that refuses max_tokens too has no limit at all."""
    found = probed(Script(dialect="ollama", rejects=["max_tokens"]))
    assert (found["token_limit_field"], found["keeps_token_limit"]) == ("max_completion_tokens", False)
    assert "It ignores the token limit: an answer can be as long as the model likes." in found["sentences"]


def test_the_other_limit_is_used_when_only_that_one_is_kept(monkeypatch):
    dialect = replace(DIALECTS["ollama"], ignores=("max_tokens",))
    monkeypatch.setitem(DIALECTS, "ollama", dialect)
    found = probed(Script(dialect="ollama"))
    assert (found["token_limit_field"], found["keeps_token_limit"]) == ("max_completion_tokens", True)


def test_a_short_answer_proves_nothing_about_the_limit():
    found = probed(Script(answer=lambda body: "1 2"))
    assert found["keeps_token_limit"] is None
    assert "The token limit goes into max_tokens; whether it is kept could not be found out." in found["sentences"]


def test_temperature_or_top_p_but_not_both():
    found = probed(Script(rejects=["top_p"]))
    assert (found["supports_temperature"], found["supports_top_p"]) == (True, False)


def test_names_of_models_are_kept_within_bounds():
    found = probed(Script(models=[MODEL, "x" * 5000, *(f"m{number}" for number in range(2000))]))
    assert (len(found["models"]), max(map(len, found["models"]))) == (1000, 200)
    assert "It lists 2002 models." in found["sentences"]


def test_no_money_left_says_so():
    found = probed(Script(dialect="deepseek", probabilities={"error_402": 1}))
    assert (found["ok"], found["server"]) == (False, "DeepSeek")
    assert found["sentences"][-1] == "Chat does not work. The server answered 402: scripted error_402."


@pytest.mark.parametrize("dialect", ["ollama", "lm studio"])
def test_an_address_without_its_path_is_told(dialect):
    with ScriptedModelServer(Script(dialect=dialect)) as server:
        found = asyncio.run(probe(endpoint_of(server, base_url=f"http://127.0.0.1:{server.port}")))
    assert found["ok"] is False
    assert found["sentences"][-1] == "Most servers want /v1 at the end of the base URL; it has no path."


def test_a_busy_server_is_asked_again():
    assert probed(Script(behaviours=["rate_limited"] * 2))["ok"] is False
    found = probed(Script(behaviours=["rate_limited"]))
    assert found["ok"] is True


def test_what_fails_for_another_reason_keeps_what_was_known_and_is_told():
    found = probed(Script(behaviours=["ok", *["error_500"] * 30]), supports_seed=False, json_mode="none")
    assert (found["ok"], found["supports_seed"], found["json_mode"], found["logprobs"]) == (True, False, "none", False)
    unknown = [sentence for sentence in found["sentences"] if "could not be found out" in sentence]
    assert (
        "Whether it takes a seed could not be found out; test again. The server answered 500: scripted error_500."
        in (unknown)
    )
    assert len(unknown) == 5  # the system role's 500 is an answer


@pytest.mark.parametrize("behaviour", ["cut", "html_200", "empty_200", "invalid_json", "think_unclosed", "no_choices"])
def test_no_server_makes_it_raise(behaviour):
    assert probed(Script(probabilities={behaviour: 1}))["ok"] is False
    assert probed(Script(behaviours=["ok"], probabilities={behaviour: 1}, batch_behaviours=["cut"]))["ok"] is True


def test_a_model_that_thinks_long_is_given_room():
    def answer(body):
        return "yes" if body.get("max_tokens", 0) > 256 or "Count" in str(body["messages"]) else "hm " * 300

    found = probed(Script(answer=answer))
    assert any("It did not finish one word within 256 tokens" in sentence for sentence in found["sentences"])


def test_questions_that_do_not_depend_on_each_other_are_asked_together():
    started = time.monotonic()
    with ScriptedModelServer(Script(latency_seconds=0.3)) as server:
        asyncio.run(probe(endpoint_of(server)))
    assert 2 <= server.most_in_flight <= 4
    assert time.monotonic() - started < 0.3 * server.requests


@pytest.mark.parametrize(
    ("url", "owners", "headers", "completion", "name"),
    [
        ("https://api.openai.com/v1", {"me"}, {}, {}, "OpenAI"),
        ("https://api.deepseek.com", set(), {}, {}, "DeepSeek"),
        ("http://gpu/v1", set(), {"server": "llama.cpp"}, {}, "llama.cpp"),
        ("http://gpu/v1", {"library"}, {}, {"system_fingerprint": "fp_ollama"}, "Ollama"),
        ("https://router.example/v1", {"openai", "google", "vllm"}, {}, {}, ""),  # a gateway lists many owners
        ("http://gpu/v1", set(), {}, {"system_fingerprint": None, "stats": None}, "LM Studio"),
        ("http://gpu/v1", set(), {"server": "uvicorn"}, {}, ""),
    ],
)
def test_kinds_are_recognised_by_what_is_their_own(url, owners, headers, completion, name):
    assert recognise_server(url, owners=owners, headers=headers, completion=completion) == name


def test_each_kind_says_where_it_is_and_what_to_mind():
    for kind in KINDS:
        assert kind.base_url.startswith("http")
        assert kind.hint.endswith(".")
    assert len({kind.name for kind in KINDS}) == len(DIALECTS)
