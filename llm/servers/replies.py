"""What a chat server's answer means, whatever shape it came in: bodies and faults become a Reply.

Pure code. Servers that call themselves OpenAI-compatible differ most in how they fail; every shape seen is read
here and nowhere else.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Literal

from llm.reading.logprobs import Token, read_logprobs
from llm.reading.parsing import split_reasoning

__all__ = [
    "Reply", "ReplyStatus", "Token", "load_json", "read_body", "redacted", "retry_after_seconds", "server_words",
    "status_fault", "transport_fault",
]  # fmt: skip

ReplyStatus = Literal["ok", "truncated", "refused", "error"]

MAX_WORDS = 300  # characters of the server's own words in a sentence
MAX_READ = 10_000  # characters of a body that are searched for them
MAX_RAW = 2000  # characters of a body that is kept although it is not JSON

_RETRYABLE = frozenset({408, 409, 425, 429})
_TRUNCATED = frozenset({"length", "max_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "safety"})
_BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})  # the server's own trouble, said in a 200
# How OpenAI's reasoning models say in a 400 that the thinking used up the limit.
_NO_ROOM_LEFT = "max_tokens or model output limit was reached"
_NOT_JSONB = re.compile(r"\\u0000|\\u[dD][89a-fA-F]", re.ASCII)


@dataclass(frozen=True)
class Reply:
    """What one attempt brought. Only `ok` is an answer; `error` is one sentence for every other status.

    `retryable`: asking again can help. `retry_after`: seconds the server asked to wait. `status_code`: of the HTTP
    answer, None without one. `raw`: the server's JSON body, safe for PostgreSQL's jsonb; for faults, what is known.
    `logprobs`: the answer's tokens. Their block is dropped from `raw` once it is read: with 20 alternatives a token it
    would be a hundred times the answer, and what is made of it is stored elsewhere.
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
    logprobs: tuple[Token, ...] = ()


def transport_fault(what: str, *, retryable: bool = True) -> Reply:
    """No answer, or one that broke off: connection refused or cut, time-out. Mostly worth another try."""
    return Reply("error", error=what, retryable=retryable)


def read_body(body: str, *, wants_json: bool = False) -> Reply:
    """The Reply for the body of a 200 answer. `wants_json`: a schema or JSON mode was asked for."""
    payload = load_json(body)
    if not body.strip():
        return _broken("The server answered with an empty body.", {"body": ""})
    if not isinstance(payload, dict):
        return _broken(f"The server's answer is not a JSON object: {_quoted(body)}.", {"body": _clean(body[:MAX_RAW])})
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
        return _read_choice(choice, payload, wants_json=wants_json)
    if payload.get("error"):
        return _error_in_a_200(payload)
    return _broken("The server's answer holds no message.", payload)


def status_fault(status_code: int, body: str, headers: Mapping[str, str], *, now: float) -> Reply:
    """The Reply for an HTTP answer other than 2xx. `now`: seconds since 1970, for a Retry-After that is a date."""
    payload = load_json(body)
    words = server_words(body if payload is None else payload)
    raw = {"status_code": status_code, "body": _clean(body[:MAX_RAW]) if payload is None else payload}
    code = _error_code(payload)
    if code == "content_filter":
        return Reply(
            "refused", error=f"Refused by the server's content filter: {words}.", raw=raw, status_code=status_code
        )
    if _NO_ROOM_LEFT in words:
        return Reply("truncated", error=_outcome("length", "", None)[1], raw=raw, status_code=status_code)
    # 429 also says "you have no money left", which waiting does not cure.
    retryable = (status_code in _RETRYABLE or status_code >= 500) and code != "insufficient_quota"
    return Reply(
        "error",
        error=f"The server answered {status_code}: {words}." if words else f"The server answered {status_code}.",
        raw=raw,
        retryable=retryable,
        retry_after=retry_after_seconds(headers, now=now) if retryable else None,
        status_code=status_code,
    )


def server_words(payload: Any) -> str:
    """What a server says went wrong, from a body of any shape, without markup, in at most MAX_WORDS characters."""
    words = _find_words(payload, depth=0)[:MAX_READ]
    if re.search(r"<(html|!doctype|body|head)\b", words, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title>", words, re.IGNORECASE | re.DOTALL)
        without_code = re.sub(r"<(script|style)\b.*?</\1>", " ", words, flags=re.IGNORECASE | re.DOTALL)
        words = unescape(title.group(1) if title else re.sub(r"<[^>]*>", " ", without_code))
    words = " ".join(_clean(words).split()).rstrip(".")
    return words if len(words) <= MAX_WORDS else words[: MAX_WORDS - 1] + "…"


def retry_after_seconds(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds to wait by `Retry-After` (seconds or HTTP date) or `Retry-After-Ms`; None when absent or malformed.

    A date is measured from the answer's own `Date` where there is one: the two clocks need not agree.
    """
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,12}(\.\d*)?", milliseconds):
        return float(milliseconds) / 1000
    if re.fullmatch(r"\d{1,9}(\.\d*)?", value):
        return float(value)
    until = _timestamp(value)
    if until is None:
        return None
    sent = _timestamp(headers.get("date", ""))
    return max(0.0, until - (now if sent is None else sent))


def load_json(body: str) -> Any:
    """The body in a form that PostgreSQL's jsonb takes (no NUL, lone surrogates or NaN); None if it is not JSON."""
    try:
        payload = json.loads(body, parse_constant=lambda name: None, parse_float=_finite)
        return _cleaned(payload) if _NOT_JSONB.search(body) or "\x00" in body else payload
    except (ValueError, RecursionError):
        return None


def redacted(reply: Reply, secret: str) -> Reply:
    """The reply without the key: some servers repeat it in the error for a wrong key."""
    if len(secret) < 8 or secret not in json.dumps([reply.error, reply.raw], ensure_ascii=False):
        return reply
    raw = json.loads(json.dumps(reply.raw, ensure_ascii=False).replace(secret, "[key]"))
    return Reply(**{**reply.__dict__, "raw": raw, "error": reply.error.replace(secret, "[key]")})


def _read_choice(choice: dict[str, Any], payload: dict[str, Any], *, wants_json: bool) -> Reply:
    message = choice["message"]
    finish = str(choice.get("finish_reason") or "")
    text, reasoning = split_reasoning(message)
    if not text and wants_json and isinstance(load_json(reasoning), dict):
        text, reasoning = reasoning, ""  # schema and thinking together: some servers file the object under reasoning
    status, error, retryable = _outcome(finish, text, message.get("refusal"))
    logprobs = read_logprobs(choice)
    if logprobs:
        del choice["logprobs"]
    usage = payload.get("usage") if isinstance(payload.get("usage"), dict) else {}
    return Reply(
        status,
        text=text,
        reasoning=reasoning,
        finish_reason=finish,
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        raw=payload,
        error=error,
        retryable=retryable,
        status_code=200,
        logprobs=logprobs,
    )


def _outcome(finish: str, text: str, refusal: Any) -> tuple[ReplyStatus, str, bool]:
    if finish.lower() in _FILTERED:
        return "refused", "Refused by the server's content filter.", False
    if isinstance(refusal, str) and refusal.strip():
        return "refused", f"The model refused: {_quoted(refusal)}.", False
    if finish.lower() in _TRUNCATED:
        where = "before the answer began" if not text else "before the answer was complete"
        return "truncated", f"The token limit was reached {where}; raise the limit.", False
    if finish.lower() in _BROKEN_OFF:
        return "error", f'The server broke off the answer ("{finish}").', True
    if not text:
        # Overloaded servers answer empty now and then, and sampling can; the caller bounds the number of tries.
        return "error", "The model's answer is empty.", True
    return "ok", "", False


def _error_in_a_200(payload: dict[str, Any]) -> Reply:
    """Routers report a fault of the server behind them in a 200 whose error carries the code."""
    code = _error_code(payload)
    if code.isdecimal() and 400 <= int(code) <= 599:
        fault = status_fault(int(code), json.dumps(payload), {}, now=0.0)
        return Reply(**{**fault.__dict__, "raw": payload})
    return _broken(f"The server answered with an error: {server_words(payload)}.", payload)


def _broken(error: str, raw: dict[str, Any]) -> Reply:
    return Reply("error", error=error, raw=raw, retryable=True, status_code=200)


def _find_words(payload: Any, *, depth: int) -> str:
    if isinstance(payload, str):
        return payload
    if depth > 4:
        return ""
    if isinstance(payload, list):
        found = (_find_words(entry, depth=depth + 1) for entry in payload[:5])
        return "; ".join(words for words in found if words)
    if isinstance(payload, dict):
        if isinstance(payload.get("msg"), str):  # FastAPI's list of faults: [{"loc": [...], "msg": "..."}]
            place = ".".join(str(part) for part in payload.get("loc") or ())
            return f"{place}: {payload['msg']}" if place else str(payload["msg"])
        for key in ("error", "message", "detail", "error_description", "reason", "code"):
            words = _find_words(payload.get(key), depth=depth + 1)
            if words:
                return words
    return ""


def _error_code(payload: Any) -> str:
    if isinstance(payload, list) and payload:
        payload = payload[0]
    inner = payload.get("error") if isinstance(payload, dict) else None
    code = (inner if isinstance(inner, dict) else payload if isinstance(payload, dict) else {}).get("code")
    return str(code) if isinstance(code, str | int) else ""


def _count(usage: Any, key: str) -> int | None:
    value = usage.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _timestamp(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _quoted(text: str) -> str:
    return f'"{server_words(text)}"'


def _finite(literal: str) -> float | None:
    number = float(literal)
    return number if math.isfinite(number) else None


def _clean(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(entry) for entry in value]
    if isinstance(value, dict):
        return {_clean(key): _cleaned(entry) for key, entry in value.items()}
    return value
