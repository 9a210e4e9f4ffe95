"""What a scripted model says, and the completion around it."""

import hashlib
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.model_server.script import MODEL, Script

THINKING = "First A, then B."
_LETTER = re.compile(r"(?<![^\W_])[A-E](?![^\W_])")


def answer_text(script: Script, body: Mapping[str, Any]) -> str:
    """The text of the answer, which follows from the seeds and the messages; it can count, when it is asked to."""
    if script.answer:
        return script.answer(dict(body))
    rng = seeded(script.seed, json.dumps([body.get("messages"), body.get("seed")]))
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema" and script.honours_schema:
        return json.dumps(value_for(wanted["json_schema"]["schema"], rng))
    if wanted.get("type") == "json_object":
        return json.dumps({"answer": rng.choice("AB")})
    counting = re.search(r"\bcount from 1 to (\d{1,3})\b", str(body.get("messages")), re.IGNORECASE)
    if counting:
        return " ".join(map(str, range(1, int(counting.group(1)) + 1)))
    return f"Answer: {rng.choice('AB')}"


def value_for(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """A value that the JSON schema allows, drawn by `rng`."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        return {name: value_for(part, rng) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        choices = list(schema["items"].get("enum", ())) or ["A"]
        lowest = min(schema.get("minItems", 0), len(choices))
        return rng.sample(choices, rng.randint(lowest, min(schema.get("maxItems", len(choices)), len(choices))))
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        return rng.randint(int(low), int(schema.get("maximum", low + 100)))
    return f"text {rng.randrange(1000)}" if kind == "string" else None


def completion(script: Script, behaviour: str, body: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The body of a 200 answer, as `behaviour` wants it, cut at the token limit."""
    if behaviour == "no_choices":
        return {"id": "scripted", "object": "chat.completion"}
    if behaviour == "error_in_200":
        return {"error": {"message": "Provider returned error", "code": 502}}
    dialect = script.spoken
    kept, thought, finish = _within_the_limit(script, body, text)
    message = {"role": "assistant", "content": "".join(kept)}
    if dialect.reasoning and thought:
        message[dialect.reasoning] = THINKING
    message |= _changed_message(behaviour, message["content"])
    if behaviour in ("length", "content_filter"):
        finish = behaviour
    prompt_tokens = sum(len(str(entry.get("content"))) for entry in body.get("messages", ())) // 4
    usage: dict[str, Any] = {"prompt_tokens": prompt_tokens, "completion_tokens": max(1, len(kept) + thought)}
    usage["total_tokens"] = sum(usage.values())
    if dialect.counts_thinking:
        usage["completion_tokens_details"] = {"reasoning_tokens": thought}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": _logprobs(script, body, kept)}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", MODEL),
        "choices": [choice],
        **({} if behaviour == "no_usage" else {"usage": usage}),
        **dialect.fields,
    }


def seeded(*parts: object) -> random.Random:
    return random.Random(hashlib.sha256(repr(parts).encode()).digest())


def _within_the_limit(script: Script, body: Mapping[str, Any], text: str) -> tuple[list[str], int, str]:
    """The tokens that fit the limit, how many were spent on thinking before them, and why the answer ends."""
    tokens = script.split(text)
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if body.get(name) is not None]
    if not limits:
        return tokens, script.spoken.thinking_tokens, "stop"
    thought = min(script.spoken.thinking_tokens, limits[0])
    room = limits[0] - thought
    return tokens[:room], thought, "stop" if len(tokens) <= room else "length"


def _changed_message(behaviour: str, text: str) -> dict[str, Any]:
    changes: dict[str, dict[str, Any]] = {
        "length": {"content": text[: len(text) // 2]},
        "content_filter": {"content": ""},
        "refusal": {"content": None, "refusal": "I cannot help with that."},
        "think": {"content": f"<think>{THINKING}</think>\n\n{text}"},
        "think_unclosed": {"content": "<think>First A, then B, and then"},
        "reasoning_content": {"content": text, "reasoning_content": THINKING},
        "reasoning": {"content": text, "reasoning": THINKING},
        "json_in_reasoning": {"content": "", "reasoning_content": text},
        "parts": {"content": [{"type": "text", "text": text[:3]}, {"type": "text", "text": text[3:]}]},
        "unparseable": {"content": "Both have their merits, it depends."},
        "empty_content": {"content": ""},
        "null_content": {"content": None},
        "nul_bytes": {"content": f"{text}\x00\ud800"},
    }
    return changes.get(behaviour, {})


def _logprobs(script: Script, body: Mapping[str, Any], tokens: Sequence[str]) -> dict[str, Any] | None:
    if not body.get("logprobs"):
        return None
    wanted = body.get("top_logprobs") or 0
    asked = json.dumps(body.get("messages"))
    content = []
    for place, token in enumerate(tokens):
        chances = script.alternatives or (lambda token, place: _chances(token, seeded(script.seed, asked, place)))
        probabilities = chances(token, place)
        likeliest = sorted(probabilities.items(), key=lambda pair: -pair[1])[:wanted]
        own = _entry(token, probabilities.get(token, 0.0))
        content.append(own | {"top_logprobs": [_entry(*pair) for pair in likeliest]})
    return {"content": content, "refusal": None}


def _chances(token: str, rng: random.Random) -> dict[str, float]:
    """The token itself most likely; in place of an option's letter the other letters, otherwise other words."""
    others = [_LETTER.sub(letter, token) for letter in "ABCDE"] if _LETTER.search(token) else []
    others += [f" word{number}" for number in range(24)]
    own, rest = rng.uniform(0.5, 0.75), 0.1
    chances = {token: own}
    for other in others:
        if other not in chances:
            chances[other] = rest
            rest /= 2
    return chances


def _entry(token: str, probability: float) -> dict[str, Any]:
    logprob = math.log(probability) if probability > 0 else -9999.0
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
