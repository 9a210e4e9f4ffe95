"""What an endpoint can do, found out by asking it: a few tiny calls at once, told in words.

What is asked once chat works is in llm.servers.probe_questions.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from llm.servers.addresses import url_fault
from llm.servers.client import TRANSPORT_ERRORS, Reply, open_client
from llm.servers.endpoint_config import EndpointConfig, TokenLimitField
from llm.servers.probe_questions import QUESTION, QUESTIONS, REFUSALS, TOKENS, Asker, answered
from llm.servers.replies import load_json
from llm.servers.server_kinds import recognise_server

_NAMES_KEPT, _NAME_LENGTH = 1000, 200  # of models


@dataclass(frozen=True)
class _Listing:
    """What `GET /models` brought: the models' names (None without a list), their owners, the answer's headers."""

    names: list[str] | None = None
    owners: set[str] = field(default_factory=set)
    headers: Mapping[str, str] = field(default_factory=dict)


async def probe(endpoint: EndpointConfig) -> dict[str, Any]:
    """Find out what the server and model can do; a plain dict for JSON. Never raises for their faults.

    Keys: `ok` (a chat call was answered), `models` (list or None), `model_listed`; as in EndpointConfig
    `token_limit_field`, `json_mode`, `supports_seed`, `system_role`, `supports_temperature`, `supports_top_p`,
    `max_top_logprobs`, and `logprobs` (there `supports_logprobs`); `keeps_token_limit` (None: not found out), `batch`
    (it has the Batch API), `usage`, `reasoning` (it thinks first, seen or not), `server` (its kind, "" unknown),
    `latency_seconds` of one tiny call, `sentences` (list of str to show). What could not be determined keeps the
    endpoint's own value.
    """
    if fault := url_fault(endpoint.base_url):
        return _findings(endpoint, Reply("error", error=fault), _Listing(), [f"It is not asked. {fault}"])
    async with open_client(endpoint) as client:
        asker = Asker(client, endpoint)
        listing, (reply, token_limit_field) = await asyncio.gather(_list_models(client, endpoint), _chat(asker))
        sentences = _about_models(endpoint, listing)
        if not answered(reply):
            return _findings(endpoint, reply, listing, [*sentences, *_about_failure(endpoint, reply)])
        endpoint = replace(endpoint, token_limit_field=token_limit_field)
        sentences += _about_chat(reply, token_limit_field)
        asker = Asker(client, endpoint, thinks=thinks(reply))
        found = await asyncio.gather(*(question(asker) for question in QUESTIONS))
    facts: dict[str, Any] = {}
    for finding in found:
        endpoint = replace(endpoint, **finding.changes)
        facts |= finding.facts
        sentences.append(finding.sentence)
    return _findings(endpoint, reply, listing, sentences) | facts


async def _list_models(client: openai.AsyncOpenAI, endpoint: EndpointConfig) -> _Listing:
    try:
        async with asyncio.timeout(endpoint.timeout_seconds):
            answer = await client.get("/models", cast_to=httpx2.Response)
            payload, headers = load_json(answer.text), dict(answer.headers)
    except openai.APIStatusError as error:
        payload, headers = None, dict(error.response.headers)
    except TRANSPORT_ERRORS:
        return _Listing()
    data = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(data, list):
        return _Listing(headers=headers)
    entries = [entry for entry in data if isinstance(entry, dict) and "id" in entry]
    owners = {str(entry["owned_by"]) for entry in entries if entry.get("owned_by")}
    return _Listing([str(entry["id"])[:_NAME_LENGTH] for entry in entries], owners, headers)


async def _chat(asker: Asker) -> tuple[Reply, TokenLimitField]:
    """The reply to a tiny call, and the field that took the token limit in it."""
    reply = await asker.ask(QUESTION, token_limit_field="max_tokens", system_role=True)
    if reply.status_code in REFUSALS:
        other = await asker.ask(QUESTION, token_limit_field="max_completion_tokens", system_role=True)
        if answered(other):
            return other, "max_completion_tokens"
    return reply, "max_tokens"


def thinks(reply: Reply) -> bool:
    """Whether the model thought before it answered: shown, counted by the server, or all that there was room for."""
    usage = reply.raw.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    hidden = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return bool(reply.reasoning) or bool(hidden) or (reply.status == "truncated" and not reply.text)


def _about_models(endpoint: EndpointConfig, listing: _Listing) -> list[str]:
    if listing.names is None:
        return ["It does not list its models."]
    number = len(listing.names)
    sentences = [f"It lists {number} model{'' if number == 1 else 's'}."]
    if endpoint.model not in listing.names:
        sentences.append(f'"{endpoint.model}" is not among them; it may still be served under that name.')
    return sentences


def _about_failure(endpoint: EndpointConfig, reply: Reply) -> list[str]:
    sentences = [f"Chat does not work. {reply.error}"]
    somebody_answers = reply.status_code is not None and reply.status_code not in (401, 403)
    if somebody_answers and not urlsplit(endpoint.base_url).path.strip("/"):
        sentences.append("Most servers want /v1 at the end of the base URL; it has no path.")
    return sentences


def _about_chat(reply: Reply, token_limit_field: str) -> list[str]:
    sentences = [f"Chat works; a tiny call took {reply.latency_seconds:.2f} s."]
    if reply.status == "truncated":
        sentences.append(f"It did not finish one word within {TOKENS} tokens: it thinks first, so set a high limit.")
    elif thinks(reply):
        shown = "the thinking is kept apart" if reply.reasoning else "the thinking is not shown"
        sentences.append(f"It thinks before it answers: {shown}, and it uses up the token limit.")
    if reply.prompt_tokens is None:
        sentences.append("It does not report usage: tokens and cost are estimates.")
    return sentences


def _findings(endpoint: EndpointConfig, reply: Reply, listing: _Listing, sentences: list[str]) -> dict[str, Any]:
    server = recognise_server(endpoint.base_url, owners=listing.owners, headers=listing.headers, completion=reply.raw)
    return {
        "ok": answered(reply),
        "server": server,
        "models": None if listing.names is None else listing.names[:_NAMES_KEPT],
        "model_listed": None if listing.names is None else endpoint.model in listing.names,
        "token_limit_field": endpoint.token_limit_field,
        "keeps_token_limit": None,
        "json_mode": endpoint.json_mode,
        "supports_seed": endpoint.supports_seed,
        "system_role": endpoint.system_role,
        "supports_temperature": endpoint.supports_temperature,
        "supports_top_p": endpoint.supports_top_p,
        "logprobs": endpoint.supports_logprobs,
        "max_top_logprobs": endpoint.max_top_logprobs,
        "batch": False,
        "usage": reply.prompt_tokens is not None,
        "reasoning": thinks(reply),
        "latency_seconds": reply.latency_seconds,
        "sentences": [f"It looks like {server}.", *sentences] if server else sentences,
    }
