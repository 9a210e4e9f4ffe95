"""The questions that a probe asks a server whose chat works. Each is one or two tiny calls, and none needs another.

Pure code, apart from the calls.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import openai

from llm.servers.client import TRANSPORT_ERRORS, Reply, ask
from llm.servers.endpoint_config import EndpointConfig, JsonMode, Parameters, TokenLimitField
from llm.servers.replies import load_json

Messages = Sequence[dict[str, str]]

REFUSALS = (400, 422)
QUESTION = [{"role": "user", "content": "Reply with the single word yes."}]
TOKENS = 256  # enough for a short answer after some thinking
_THINKING_TOKENS = 1024
_AT_ONCE = 4  # calls: what a small server on one's own machine takes
_LONGEST_WAIT_SECONDS = 5.0
# The question does not mention the key: only a server that enforces the schema answers with it.
_COLOUR = [{"role": "user", "content": "Name a colour, as a JSON object."}]
_COLOUR_SCHEMA = {
    "type": "object",
    "properties": {"hue": {"type": "string", "enum": ["teal", "ochre"]}},
    "required": ["hue"],
    "additionalProperties": False,
}
_ROLES = [{"role": "system", "content": "You answer in one word."}, *QUESTION]
_LONG = [{"role": "user", "content": "Count from 1 to 60 in digits, separated by spaces. Write nothing else."}]
_TINY_LIMIT = 8
_TRIES = 3
_LONGEST_IN_LIMIT = 60  # characters: digits and spaces have few to a token
_TOP_LOGPROBS = (20, 5)


@dataclass(frozen=True)
class Finding:
    """What one question brought: a sentence, fields of EndpointConfig that it decides, and other facts to keep."""

    sentence: str
    changes: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Asker:
    """Puts questions to one endpoint, few at once. `thinks`: the model thinks first, so leave it room."""

    def __init__(self, client: openai.AsyncOpenAI, endpoint: EndpointConfig, *, thinks: bool = False) -> None:
        self.client = client
        self.endpoint = endpoint
        self._tokens = _THINKING_TOKENS if thinks else TOKENS
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def ask(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        parameters: Parameters | None = None,
        **changes: Any,
    ) -> Reply:
        """One call to the endpoint with `changes`, and a second one when it is too busy for the first.

        Without `parameters` only a token limit is sent: temperature is left to the server, as some refuse it.
        """
        endpoint = replace(self.endpoint, **changes)
        parameters = parameters or Parameters()
        if parameters.max_tokens is None:
            parameters = replace(parameters, max_tokens=self._tokens)
        async with self._places:
            reply = await ask(self.client, endpoint, messages, parameters, schema=schema)
            if reply.status_code == 429 and reply.retryable:
                await asyncio.sleep(min(reply.retry_after or 1.0, _LONGEST_WAIT_SECONDS))
                reply = await ask(self.client, endpoint, messages, parameters, schema=schema)
        return reply


def answered(reply: Reply) -> bool:
    return reply.status in ("ok", "truncated")


def was_taken(reply: Reply, refusals: Sequence[int] = REFUSALS) -> bool | None:
    """Whether the server takes what was sent; None when the call failed for another reason."""
    if answered(reply):
        return True
    return False if reply.status_code in refusals else None


async def token_limit(asker: Asker) -> Finding:
    """Some servers take a field and ignore it: a tiny limit must cut a long answer."""
    own = asker.endpoint.token_limit_field
    other: TokenLimitField = "max_completion_tokens" if own == "max_tokens" else "max_tokens"
    kept = await _keeps_limit(asker, own)
    if kept is False and await _keeps_limit(asker, other):
        own, kept = other, True
    facts = {"keeps_token_limit": kept}
    if kept is None:
        return Finding(f"The token limit goes into {own}; whether it is kept could not be found out.", {}, facts)
    if not kept:
        return Finding("It ignores the token limit: an answer can be as long as the model likes.", {}, facts)
    return Finding(f"The token limit goes into {own} and is kept.", {"token_limit_field": own}, facts)


async def _keeps_limit(asker: Asker, name: TokenLimitField) -> bool | None:
    for _ in range(_TRIES):
        reply = await asker.ask(_LONG, parameters=Parameters(max_tokens=_TINY_LIMIT), token_limit_field=name)
        if reply.status == "truncated":
            return True
        if reply.status != "ok":
            return None
        if len(reply.text) > _LONGEST_IN_LIMIT:
            return False
    return None  # a few words are no proof either way: the model may just have been brief each time


async def system_role(asker: Asker) -> Finding:
    reply = await asker.ask(_ROLES, system_role=True)
    taken = was_taken(reply, (*REFUSALS, 500))
    if taken is None:
        return _unknown("it takes a system message", reply)
    words = "It takes a system message." if taken else "It takes no system message: its text goes into the user's."
    return Finding(words, {"system_role": taken})


async def temperature(asker: Asker) -> Finding:
    """Both as a job sends them; then without top_p, as some models take either but not both."""
    always: dict[str, Any] = {"supports_temperature": True, "supports_top_p": True}
    reply = await asker.ask(QUESTION, parameters=Parameters(temperature=0.0, top_p=1.0), **always)
    if answered(reply):
        return Finding("It takes a temperature.", always)
    if was_taken(reply) is None:
        return _unknown("it takes a temperature", reply)
    reply = await asker.ask(QUESTION, parameters=Parameters(temperature=0.0), **always)
    taken = was_taken(reply)
    if taken is None:
        return _unknown("it takes a temperature", reply)
    changes = {"supports_temperature": taken, "supports_top_p": False}
    if taken:
        return Finding("It takes a temperature but no top_p beside it, which is left out.", changes)
    return Finding(
        "It refuses a temperature: it is left out, and the same question can get different answers.", changes
    )


async def seed(asker: Asker) -> Finding:
    reply = await asker.ask(QUESTION, parameters=Parameters(seed=1), supports_seed=True)
    taken = was_taken(reply)
    if taken is None:
        return _unknown("it takes a seed", reply)
    words = "It takes a seed." if taken else "It refuses a seed: samples cannot be repeated exactly."
    return Finding(words, {"supports_seed": taken})


async def json_mode(asker: Asker) -> Finding:
    by_schema = await asker.ask(_COLOUR, schema=_COLOUR_SCHEMA, json_mode="json_schema")
    answer = load_json(by_schema.text)
    if isinstance(answer, dict) and answer.get("hue") in ("teal", "ochre"):
        return _json("json_schema", "It keeps to a JSON schema: answers are constrained to the options.")
    by_object = await asker.ask(_COLOUR, schema=_COLOUR_SCHEMA, json_mode="json_object")
    if isinstance(load_json(by_object.text), dict):
        return _json("json_object", "It answers in JSON but does not keep to a schema.")
    for reply in (by_schema, by_object):
        if reply.status != "ok" and was_taken(reply) is not False:
            return _unknown("it answers in JSON", reply)
    return _json("none", "It has no JSON mode: answers are read from its words.")


async def logprobs(asker: Asker) -> Finding:
    for number in _TOP_LOGPROBS:
        wish: dict[str, Any] = {"supports_logprobs": True, "max_top_logprobs": number}
        reply = await asker.ask(QUESTION, parameters=Parameters(top_logprobs=number), **wish)
        if any(token.top for token in reply.logprobs):
            words = f"It gives the log probabilities of the {number} likeliest tokens."
            return Finding(words, wish)
        if answered(reply):
            return Finding("It gives no log probabilities, although it takes the wish.", {"supports_logprobs": False})
        if was_taken(reply, (*REFUSALS, 403)) is None:
            return _unknown("it gives log probabilities", reply)
    return Finding("It refuses to give log probabilities.", {"supports_logprobs": False})


async def batches(asker: Asker) -> Finding:
    """A list must come: some servers answer 200 to whatever they do not know."""
    try:
        async with asyncio.timeout(asker.endpoint.timeout_seconds):
            answer = await asker.client.get("/batches", cast_to=httpx2.Response, options={"params": {"limit": 1}})
        payload = load_json(answer.text)
    except TRANSPORT_ERRORS:
        payload = None
    has_them = isinstance(payload, dict) and isinstance(payload.get("data"), list)
    words = "It has the Batch API." if has_them else "It has no Batch API: calls go live."
    return Finding(words, {}, {"batch": has_them})


QUESTIONS = (token_limit, system_role, temperature, seed, json_mode, logprobs, batches)


def _json(mode: JsonMode, sentence: str) -> Finding:
    return Finding(sentence, {"json_mode": mode})


def _unknown(what: str, reply: Reply) -> Finding:
    return Finding(f"Whether {what} could not be found out; test again. {reply.error}")
