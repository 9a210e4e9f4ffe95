"""How known kinds of server differ from the one that OpenAI documents. From code, documents and issues of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """`rejects`: request fields (or roles, or response formats) answered with a status; `ignores`: silently dropped.

    `reasoning`: the field of the message that holds the thinking, empty for none; `thinking_tokens` of it count towards
    the token limit, seen or hidden, and `counts_thinking` names their number in the usage. `headers` come with every
    answer, `fields` in the body of every completion.
    """

    rejects: Mapping[str, int] = field(default_factory=dict)
    ignores: tuple[str, ...] = ()
    reasoning: str = ""
    thinking_tokens: int = 0
    counts_thinking: bool = False
    max_top_logprobs: int = 20
    owned_by: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    error_shape: str = "openai"
    model_prefix: str = ""
    batch: bool = True
    unknown_path: tuple[int, Any] = (404, "404 page not found")


PLAIN = Dialect()
DIALECTS: Mapping[str, Dialect] = {
    # A reasoning model: its thinking is not shown but counts.
    "openai": Dialect(
        rejects={"max_tokens": 400, "temperature": 400, "top_p": 400, "logprobs": 403},
        thinking_tokens=8,
        counts_thinking=True,
        owned_by="system",
        headers={"openai-version": "2020-10-01", "openai-processing-ms": "12", "Server": "cloudflare"},
        fields={"system_fingerprint": "fp_44709d6fcb", "service_tier": "default"},
    ),
    "vllm": Dialect(
        reasoning="reasoning",
        thinking_tokens=8,
        owned_by="vllm",
        headers={"Server": "uvicorn"},
        fields={"prompt_logprobs": None, "kv_transfer_params": None},
        error_shape="flat",
        batch=False,
        unknown_path=(404, {"detail": "Not Found"}),
    ),
    "llama.cpp": Dialect(
        reasoning="reasoning_content",
        thinking_tokens=8,
        owned_by="llamacpp",
        headers={"Server": "llama.cpp"},
        fields={"system_fingerprint": "b6910-ac9424bf", "timings": {"predicted_per_second": 31.4}},
        model_prefix="/models/",
        batch=False,
        unknown_path=(404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
    ),
    "ollama": Dialect(
        ignores=("max_completion_tokens", "logprobs"),
        owned_by="library",
        fields={"system_fingerprint": "fp_ollama"},
        batch=False,
    ),
    "deepseek": Dialect(
        rejects={"max_completion_tokens": 422, "json_schema": 400, "logprobs": 400},
        ignores=("temperature", "top_p"),
        reasoning="reasoning_content",
        thinking_tokens=8,
        counts_thinking=True,
        owned_by="deepseek",
        fields={"system_fingerprint": "fp_8802369eaa_prod0820"},
        batch=False,
        unknown_path=(404, {"error_msg": "Not Found. Please check the configuration."}),
    ),
    "gemini": Dialect(
        rejects={"seed": 400},
        thinking_tokens=8,
        max_top_logprobs=5,
        owned_by="google",
        headers={"Server": "scaffolding on HTTPServer2"},
        error_shape="list",
        model_prefix="models/",
        batch=False,
        unknown_path=(404, ""),
    ),
    "lm studio": Dialect(
        rejects={"json_object": 400},
        ignores=("logprobs",),
        owned_by="organization_owner",
        headers={"X-Powered-By": "Express"},
        fields={"stats": {}},
        error_shape="string",
        batch=False,
        unknown_path=(200, {"error": "Unexpected endpoint or method. (GET /v1/batches)"}),
    ),
}
