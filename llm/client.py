"""One HTTP attempt at an OpenAI-compatible server, and an account of what came back, whatever came back.

No Django here. Retrying, limits and records are the caller's: `ask` says whether trying again can help.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import openai

ReplyStatus = Literal["ok", "truncated", "refused", "error"]
TokenLimitField = Literal["max_tokens", "max_completion_tokens"]
JsonMode = Literal["json_schema", "json_object", "none"]


@dataclass(frozen=True)
class EndpointConfig:
    """A server, a model on it, and what they can do (from `probe`)."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    timeout_seconds: float = 60.0  # for the whole attempt, not between two bytes
    token_limit_field: TokenLimitField = "max_tokens"
    json_mode: JsonMode = "json_schema"
    supports_seed: bool = True
    system_role: bool = True


@dataclass(frozen=True)
class Parameters:
    """Decoding parameters; None is not sent and leaves the choice to the server."""

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Reply:
    """What one attempt brought. Only `ok` is an answer; `error` is one sentence for every other status.

    `retryable`: asking again can help. `retry_after`: seconds the server asked to wait. `status_code`: of the HTTP
    answer, None when there was none. `raw`: the server's JSON body, safe for PostgreSQL's jsonb; for faults what is known.
    """

    status: ReplyStatus
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_seconds: float = 0.0
    raw: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    retry_after: float | None = None
    retryable: bool = False
    status_code: int | None = None


def open_client(endpoint: EndpointConfig) -> openai.AsyncOpenAI:
    """A client to share among all calls of one event loop; close it with `await client.close()` or `async with`."""
    raise NotImplementedError


async def ask(
    client: openai.AsyncOpenAI,
    endpoint: EndpointConfig,
    messages: Sequence[Mapping[str, str]],
    parameters: Parameters,
    *,
    schema: Mapping[str, Any] | None = None,
) -> Reply:
    """Make exactly one attempt. Faults of the server or the network come back as a Reply and are never raised."""
    raise NotImplementedError


async def probe(endpoint: EndpointConfig) -> dict[str, Any]:
    """Find out what a server can do with a few tiny calls; a plain dict for JSON, with sentences to show.

    Keys: `ok`, `models`, `model_listed`, `chat`, `token_limit_field`, `json_mode`, `supports_seed`, `system_role`,
    `usage`, `reasoning`, `latency_seconds`, `sentences`.
    """
    raise NotImplementedError
