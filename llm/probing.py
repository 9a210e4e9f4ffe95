"""What an endpoint can do, found out by asking it: a few tiny calls, told in words."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import openai

from llm.addresses import url_fault
from llm.client import TRANSPORT_ERRORS, Reply, ask, open_client
from llm.endpoint_config import EndpointConfig, JsonMode, Parameters, TokenLimitField
from llm.replies import load_json

_TOKENS = 256  # enough for a short answer after some thinking
_QUESTION = [{"role": "user", "content": "Reply with the single word yes."}]
# The question does not mention the key: only a server that enforces the schema answers with it.
_COLOUR = [{"role": "user", "content": "Name a colour, as a JSON object."}]
_COLOUR_SCHEMA = {
    "type": "object",
    "properties": {"hue": {"type": "string", "enum": ["teal", "ochre"]}},
    "required": ["hue"],
    "additionalProperties": False,
}
_ROLES = [{"role": "system", "content": "You answer in one word."}, *_QUESTION]


async def probe(endpoint: EndpointConfig) -> dict[str, Any]:
    """Find out what the server and model can do; a plain dict for JSON. Never raises for their faults.

    Keys: `ok` (a chat call was answered), `models` (list or None), `model_listed`, `token_limit_field`, `json_mode`,
    `supports_seed`, `system_role` (as in EndpointConfig), `usage`, `reasoning` (seen in the reply), `latency_seconds`
    of one tiny call, `sentences` (list of str to show). What could not be determined keeps the endpoint's own value.
    """
    if fault := url_fault(endpoint.base_url):
        return _findings(endpoint, Reply("error", error=fault), models=None, sentences=[f"It is not asked. {fault}"])
    async with open_client(endpoint) as client:
        return await _Probe(client, endpoint).run()


class _Probe:
    def __init__(self, client: openai.AsyncOpenAI, endpoint: EndpointConfig) -> None:
        self.client = client
        self.endpoint = endpoint
        self.sentences: list[str] = []

    async def run(self) -> dict[str, Any]:
        models = await self._models()
        reply = await self._chat()
        if reply.status in ("ok", "truncated"):
            await self._system_role()
            await self._seed()
            await self._json_mode()
        return _findings(self.endpoint, reply, models=models, sentences=self.sentences)

    async def _ask(self, messages: Sequence[dict[str, str]], **changes: Any) -> Reply:
        """One call to the endpoint with `changes`; temperature is the server's, as reasoning models refuse it."""
        schema, seed = changes.pop("schema", None), changes.pop("seed", None)
        parameters = Parameters(max_tokens=_TOKENS, seed=seed)
        return await ask(self.client, replace(self.endpoint, **changes), messages, parameters, schema=schema)

    async def _models(self) -> list[str] | None:
        try:
            async with asyncio.timeout(self.endpoint.timeout_seconds):
                payload = load_json(await self.client.get("/models", cast_to=str))
        except TRANSPORT_ERRORS:
            payload = None
        data = payload.get("data") if isinstance(payload, dict) else None
        if not isinstance(data, list):
            self._say("It does not list its models.")
            return None
        names = [str(entry["id"]) for entry in data if isinstance(entry, dict) and "id" in entry]
        self._say(f"It lists {len(names)} model{'' if len(names) == 1 else 's'}.")
        if self.endpoint.model not in names:
            self._say(f'"{self.endpoint.model}" is not among them; it may still be served under that name.')
        return names[:1000]

    async def _chat(self) -> Reply:
        reply = await self._ask(_QUESTION, token_limit_field="max_tokens", system_role=True)
        field: TokenLimitField = "max_tokens"
        if reply.status_code in (400, 422):
            other = await self._ask(_QUESTION, token_limit_field="max_completion_tokens", system_role=True)
            if other.status in ("ok", "truncated"):
                reply, field = other, "max_completion_tokens"
        if reply.status not in ("ok", "truncated"):
            self._say(f"Chat does not work. {reply.error}")
            return reply
        self.endpoint = replace(self.endpoint, token_limit_field=field)
        self._say(f"Chat works; the token limit goes into {field}; a tiny call took {reply.latency_seconds:.2f} s.")
        if reply.status == "truncated":
            self._say(
                f"It did not finish one word within {_TOKENS} tokens: it thinks first, so set a high token limit."
            )
        if reply.prompt_tokens is None:
            self._say("It does not report usage: tokens and cost are estimates.")
        if reply.reasoning:
            self._say("It thinks before it answers; the thinking is kept apart and uses up the token limit.")
        return reply

    async def _system_role(self) -> None:
        works = self._verdict(await self._ask(_ROLES, system_role=True), refusals=(400, 422, 500))
        if works is not None:
            self.endpoint = replace(self.endpoint, system_role=works)
        self._tell(
            works, "It takes a system message.", "It takes no system message: the text goes into the user message."
        )

    async def _seed(self) -> None:
        works = self._verdict(await self._ask(_QUESTION, seed=1, supports_seed=True))
        if works is not None:
            self.endpoint = replace(self.endpoint, supports_seed=works)
        self._tell(works, "It takes a seed.", "It refuses a seed: samples cannot be repeated exactly.")

    async def _json_mode(self) -> None:
        by_schema = await self._ask(_COLOUR, schema=_COLOUR_SCHEMA, json_mode="json_schema")
        answer = load_json(by_schema.text)
        if isinstance(answer, dict) and answer.get("hue") in ("teal", "ochre"):
            self._set_json_mode("json_schema", "It keeps to a JSON schema: answers are constrained to the options.")
            return
        by_object = await self._ask(_COLOUR, schema=_COLOUR_SCHEMA, json_mode="json_object")
        if isinstance(load_json(by_object.text), dict):
            self._set_json_mode("json_object", "It answers in JSON but does not keep to a schema.")
        elif by_schema.retryable or by_object.retryable:
            self._tell(None, "", "")
        else:
            self._set_json_mode("none", "It has no JSON mode: answers are read from its words.")

    def _set_json_mode(self, mode: JsonMode, sentence: str) -> None:
        self.endpoint = replace(self.endpoint, json_mode=mode)
        self._say(sentence)

    def _verdict(self, reply: Reply, refusals: Sequence[int] = (400, 422)) -> bool | None:
        """Whether the feature works; None when the call failed for another reason."""
        if reply.status in ("ok", "truncated"):
            return True
        return False if reply.status_code in refusals else None

    def _tell(self, works: bool | None, yes: str, no: str) -> None:
        self._say("One of the tests failed for another reason; test again." if works is None else yes if works else no)

    def _say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def _findings(
    endpoint: EndpointConfig, reply: Reply, *, models: list[str] | None, sentences: list[str]
) -> dict[str, Any]:
    return {
        "ok": reply.status in ("ok", "truncated"),
        "models": models,
        "model_listed": None if models is None else endpoint.model in models,
        "token_limit_field": endpoint.token_limit_field,
        "json_mode": endpoint.json_mode,
        "supports_seed": endpoint.supports_seed,
        "system_role": endpoint.system_role,
        "usage": reply.prompt_tokens is not None,
        "reasoning": bool(reply.reasoning),
        "latency_seconds": reply.latency_seconds,
        "sentences": sentences,
    }
