"""One HTTP attempt at an OpenAI-compatible server, and an account of what came back, whatever came back.

No Django here. Retrying, limits and records are the caller's: `Reply.retryable` says whether trying again can help.
"""

import asyncio
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
import httpx2
import openai
from aiohttp.abc import AbstractResolver

from llm.servers.endpoint_config import EndpointConfig, JsonMode, Parameters
from llm.servers.replies import Reply, read_body, redacted, status_fault, transport_fault
from llm.servers.transport import BodyTooLargeError, BoundedTransport, MetadataAddressError

__all__ = ["TRANSPORT_ERRORS", "Reply", "ask", "fault_of", "open_client", "request_body"]

# InvalidURL is no HTTPError; ValueError covers UnicodeError, ipaddress.AddressValueError and refused headers.
TRANSPORT_ERRORS = (
    openai.OpenAIError, aiohttp.ClientError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError,
)  # fmt: skip
_NO_KEY = "none"  # the library insists on a key; servers without keys ignore it


def open_client(
    endpoint: EndpointConfig,
    *,
    resolver: AbstractResolver | None = None,
    transport: BoundedTransport | None = None,
) -> openai.AsyncOpenAI:
    """A client to share among all calls of one event loop; use it as `async with`. Raises InvalidURL.

    Redirects are not followed: a server that was allowed must not be able to send us on to one that was not.
    `resolver`: as for BoundedTransport. `transport`: another one, to the same server.
    """
    transport = transport or BoundedTransport(endpoint.base_url, resolver=resolver)
    client = openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or _NO_KEY,
        max_retries=0,
        timeout=endpoint.timeout_seconds,
        http_client=httpx2.AsyncClient(transport=transport, follow_redirects=False),
    )
    # Taken from the environment by the library, and sent to whichever server is asked.
    client.organization = client.project = None
    return client


async def ask(
    client: openai.AsyncOpenAI,
    endpoint: EndpointConfig,
    messages: Sequence[Mapping[str, str]],
    parameters: Parameters,
    *,
    schema: Mapping[str, Any] | None = None,
) -> Reply:
    """Make exactly one attempt. Faults of the server or the network come back as a Reply and are never raised.

    `schema`: the answer's JSON schema, sent in the form the endpoint takes (`json_mode`). Latency is in seconds from
    sending to the last byte, and also given for faults.
    """
    body = request_body(endpoint, messages, parameters, schema=schema)
    started = time.perf_counter()
    try:
        async with asyncio.timeout(endpoint.timeout_seconds):
            # As text: bodies that are not what was promised are read in llm.servers.replies, and the library's own
            # models of a completion would cost more time than everything else on this path.
            text = await client.post("/chat/completions", cast_to=str, body=body)
        reply = read_body(text, wants_json="response_format" in body)
    except TRANSPORT_ERRORS as error:
        reply = fault_of(error, endpoint)
    return redacted(replace(reply, latency_seconds=time.perf_counter() - started), endpoint.api_key)


def fault_of(error: Exception, endpoint: EndpointConfig) -> Reply:
    """The Reply for one of TRANSPORT_ERRORS, before its key is taken out (`redacted`)."""
    if isinstance(error, openai.APIStatusError):
        response = error.response
        return status_fault(error.status_code, _text_of(response), response.headers, now=time.time())
    if isinstance(error, TimeoutError):
        return transport_fault(f"No answer within {endpoint.timeout_seconds:g} s.")
    return _transport_fault(error, endpoint)


def request_body(
    endpoint: EndpointConfig,
    messages: Sequence[Mapping[str, str]],
    parameters: Parameters,
    *,
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON body of the request, in the dialect of the endpoint; what it is known to refuse is left out."""
    top_logprobs = parameters.top_logprobs if endpoint.supports_logprobs else None
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [dict(message) for message in messages] if endpoint.system_role else _merged(messages),
        "temperature": parameters.temperature if endpoint.supports_temperature else None,
        endpoint.token_limit_field: parameters.max_tokens,
        "top_p": parameters.top_p if endpoint.supports_top_p else None,
        "seed": parameters.seed if endpoint.supports_seed else None,
        "response_format": _response_format(endpoint.json_mode, schema) if schema else None,
        "logprobs": None if top_logprobs is None else True,
        "top_logprobs": None if top_logprobs is None else min(top_logprobs, endpoint.max_top_logprobs),
    }
    return {name: value for name, value in body.items() if value is not None}


def _response_format(mode: JsonMode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    if mode == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
    return {"type": "json_object"} if mode == "json_object" else None


def _merged(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """System texts put in front of the first user message, for models whose chat template knows no system role."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    rest = [dict(message) for message in messages if message["role"] != "system"]
    for message in rest:
        if message["role"] == "user":
            message["content"] = "\n\n".join([*system, message["content"]])
            return rest
    return [{"role": "user", "content": text} for text in system] + rest


def _text_of(response: Any) -> str:
    try:
        return str(response.text)
    except (UnicodeError, LookupError, RuntimeError):
        return ""


def _transport_fault(error: BaseException, endpoint: EndpointConfig) -> Reply:
    """The Reply by the innermost cause: the outer layers say only "Connection error" or a wrong "timed out"."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    words = (" ".join(str(cause).split())[:300] or type(cause).__name__).rstrip(".")
    if isinstance(cause, BodyTooLargeError):
        return transport_fault(f"{words}.", retryable=False)
    if isinstance(cause, MetadataAddressError):
        return transport_fault(f"{endpoint.base_url} is not asked: {words}.", retryable=False)
    if isinstance(cause, TimeoutError):
        return transport_fault(f"No answer within {endpoint.timeout_seconds:g} s.")
    if isinstance(cause, ConnectionRefusedError | socket.gaierror | aiohttp.ClientConnectorError):
        return transport_fault(f"No connection to {endpoint.base_url}: {words}.")
    return transport_fault(f"The connection broke off: {words}.")
