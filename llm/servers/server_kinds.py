"""Which kind of server an endpoint is, as far as it gives itself away, and what to know about each kind.

Pure code. Only told to people: nothing relies on it, what a server can do is found out by asking it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class ServerKind:
    """A known kind: where it is found by default, and one sentence about what to mind.

    It is recognised by who owns its models, by its host, or by a header or a
    field of its answers (name and start of the value).
    """

    name: str
    base_url: str
    hint: str
    owners: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    header: tuple[str, str] | None = None
    field: tuple[str, str] | None = None


# Ordered: what is peculiar to one kind comes before what others imitate.
KINDS = (
    ServerKind(
        "Ollama",
        "http://127.0.0.1:11434/v1",
        "No key. The context length is the model's own and often short: long prompts need a model made with more.",
        ("library",),
        field=("system_fingerprint", "fp_ollama"),
    ),
    ServerKind(
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        "A key only if it was started with --api-key. Calls at once: as many as it has slots (--parallel).",
        ("llamacpp",),
        header=("server", "llama.cpp"),
        field=("timings", ""),
    ),
    ServerKind(
        "vLLM",
        "http://127.0.0.1:8000/v1",
        "A key only if it was started with --api-key. It takes many calls at once: try 64.",
        ("vllm",),
        field=("kv_transfer_params", ""),
    ),
    ServerKind(
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        "No key. It answers a few calls at once, as many as the model was loaded for.",
        ("organization_owner",),
        field=("stats", ""),
    ),
    ServerKind(
        "OpenAI",
        "https://api.openai.com/v1",
        "With a key. Reasoning models take no temperature, and their thinking uses up the token limit.",
        ("system", "openai", "openai-internal"),
        hosts=("api.openai.com",),
        header=("openai-version", ""),
    ),
    ServerKind(
        "DeepSeek",
        "https://api.deepseek.com/v1",
        "With a key. Keeps to JSON but to no schema; its thinking uses up the token limit.",
        ("deepseek",),
        hosts=("api.deepseek.com",),
    ),
    ServerKind(
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "With a key. Its thinking uses up the token limit, so set a high one.",
        ("google",),
        hosts=("generativelanguage.googleapis.com",),
    ),
)


def recognise_server(
    base_url: str, *, owners: set[str], headers: Mapping[str, str], completion: Mapping[str, Any]
) -> str:
    """The name of the kind, or "" for one that is none of them or hides it.

    `owners`: `owned_by` of the listed models. `headers`: of any answer, with names in lower case. `completion`: the
    body of a chat answer.

    >>> recognise_server("http://gpu7:8000/v1", owners={"vllm"}, headers={}, completion={})
    'vLLM'
    """
    host = (urlsplit(base_url).hostname or "").lower()
    by_host = [kind.name for kind in KINDS if host in kind.hosts]
    by_answer = [kind.name for kind in KINDS if _gave_away(kind, headers, completion)]
    # Last, because gateways list models of many owners.
    by_owner = [kind.name for kind in KINDS if owners and owners <= set(kind.owners)]
    return next(iter(by_host + by_answer + by_owner), "")


def _gave_away(kind: ServerKind, headers: Mapping[str, str], completion: Mapping[str, Any]) -> bool:
    by_header = kind.header is not None and _starts(headers, *kind.header)
    return by_header or (kind.field is not None and _starts(completion, *kind.field))


def _starts(fields: Mapping[str, Any], name: str, start: str) -> bool:
    return name in fields and str(fields[name]).startswith(start)
