"""The identity of a call: two calls with the same fingerprint ask the same model the same thing in the same way.

Pure code. The endpoint belongs to it, because the same model name on another server is another model; so do all
parameters, the prompt version and the number of the sample.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def fingerprint(
    *,
    base_url: str,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    prompt_version: str | int,
    sample: int,
) -> str:
    """The SHA-256 (64 hexadecimal digits) of everything that can change the answer.

    `parameters` holds every decoding parameter and, where one is sent, the answer's JSON schema; one that is None
    is not sent and equals one that is absent. Raises ValueError for NaN and TypeError for what is not JSON.

    >>> call = dict(base_url="http://a/v1", model="m", messages=[], prompt_version=1, sample=0)
    >>> same = {**call, "base_url": "HTTP://A:80/v1/"}
    >>> fingerprint(**call, parameters={"temperature": 0}) == fingerprint(**same, parameters={"temperature": 0.0})
    True
    """
    return _digest(
        {
            "endpoint": endpoint_identity(base_url),
            "model": model,
            "messages": [dict(message) for message in messages],
            "parameters": {name: value for name, value in parameters.items() if value is not None},
            "prompt_version": str(prompt_version),
            "sample": sample,
        }
    )


def endpoint_identity(base_url: str) -> str:
    """The base URL without what does not change the server: case of scheme and host, default port, user, final slash.

    >>> endpoint_identity("HTTPS://key@API.Example.org:443/v1/")
    'https://api.example.org/v1'
    """
    parts = urlsplit(base_url.strip())
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = f":{parts.port}" if parts.port and parts.port != _DEFAULT_PORTS.get(parts.scheme) else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}{query}"


def _digest(document: Mapping[str, Any]) -> str:
    text = json.dumps(_canonical(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(value: Any) -> Any:
    """Whole floats become integers: temperature 0 and 0.0 are one parameter."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _canonical(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    return value
