"""What a server is asked with, apart from the client, whose library takes most of a second to import."""

from dataclasses import dataclass, field
from typing import Literal

TokenLimitField = Literal["max_tokens", "max_completion_tokens"]
JsonMode = Literal["json_schema", "json_object", "none"]


@dataclass(frozen=True)
class EndpointConfig:
    """A server, a model on it, and what they can do (from `llm.servers.probing.probe`)."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    timeout_seconds: float = 60.0  # for the whole attempt, not between two bytes
    token_limit_field: TokenLimitField = "max_tokens"
    json_mode: JsonMode = "json_schema"
    supports_seed: bool = True
    system_role: bool = True
    supports_temperature: bool = True
    supports_top_p: bool = True
    supports_logprobs: bool = False
    max_top_logprobs: int = 20


@dataclass(frozen=True)
class Parameters:
    """Decoding parameters; None is not sent and leaves the choice to the server."""

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    seed: int | None = None
    top_logprobs: int | None = None  # log probabilities of so many likeliest tokens at every place of the answer
