"""A job's grid: which calls it consists of, how many, how long and at what price, before anything is asked."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from llm.models import Endpoint, Job, Prompt
from llm.parsing import answer_format, lettered_options
from llm.querysets import usual_latency
from llm.rendering import render_messages
from materials.content import ordered
from materials.models import Item
from materials.questions import draw_orders, order_factor
from responses.models import Respondent, RespondentKind
from responses.services import get_condition, get_respondent

BYTES_PER_TOKEN = 3.6  # English prose with JSON: what tokenisers in common use average, rounded down
TEMPLATE_TOKENS = 6
SAMPLED_ITEMS = 10


@dataclass(frozen=True)
class Plan:
    """What a job will ask, when nothing has to be asked twice. Token counts are estimates.

    Prices are None where the endpoint has none, `seconds` where its limits and latency are not known.
    """

    calls: int
    items: int
    prompt_tokens: int
    completion_tokens: int
    most_completion_tokens: int
    price: Decimal | None
    highest_price: Decimal | None
    seconds: float | None
    examples: list[dict[str, Any]]


def planned_items(job: Job) -> Any:
    """The job's items in dataset order, at most `max_items`."""
    items = job.dataset.items.all()
    return items[: job.max_items] if job.max_items else items


def persona_digest(persona: Mapping[str, Any]) -> str:
    canonical = json.dumps(persona, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16] if persona else "none"


def model_respondent(endpoint: Endpoint, persona: Mapping[str, Any]) -> Respondent:
    """The respondent that the endpoint's model is when it answers as this persona ({}: as itself)."""
    return get_respondent(
        project=endpoint.project,
        kind=RespondentKind.MODEL,
        key=f"model:{endpoint.pk}:{persona_digest(persona)}",
        attributes={"model": endpoint.model, "endpoint": endpoint.name, "persona": bool(persona), **persona},
        demo_model=endpoint.demo_model,
    )


def call_orders(job: Job, item: Item, persona: Mapping[str, Any], sample: int) -> dict[str, list[str]]:
    """The order in which this call shows the options, drawn from the job's seed."""
    return draw_orders(job.questions, key=f"{job.seed}/{item.external_id}/{persona_digest(persona)}/{sample}")


def cells(job: Job) -> Iterator[dict[str, Any]]:
    """The fields of each call, lazily: personas within samples within items."""
    respondents = [(persona, model_respondent(job.endpoint, persona)) for persona in job.personas]

    @cache
    def condition(order: str) -> Any:
        factors: dict[str, Any] = {"prompt": str(job.prompt), "temperature": job.temperature, "top_p": job.top_p}
        if job.temperature > 0:  # else a second job's samples would pass for the first one's
            factors["seed"] = job.seed
        if order:
            factors["option_order"] = order
        return get_condition(project=job.project, factors=factors)

    for item in planned_items(job).iterator(chunk_size=2000):
        for sample in range(job.samples):
            for persona, respondent in respondents:
                orders = call_orders(job, item, persona, sample)
                yield {
                    "item": item,
                    "respondent": respondent,
                    "condition": condition(order_factor(orders).get("option_order", "")),
                    "sample": sample,
                    "orders": orders,
                }


def call_messages(
    job: Job, content: Mapping[str, Any], persona: Mapping[str, Any], orders: Mapping[str, Sequence[str]]
) -> list[dict[str, str]]:
    """The chat messages of one call."""
    return prompt_messages(job.prompt, job.questions, dict(ordered(content, job.dataset.field_order)), persona, orders)


def preview_messages(prompt: Prompt, questions: Sequence[Any], content: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages for an item's content without persona, options in the instrument's own order."""
    return prompt_messages(prompt, questions, content, {}, {})


def prompt_messages(
    prompt: Prompt,
    questions: Sequence[Any],
    content: Mapping[str, Any],
    persona: Mapping[str, Any],
    orders: Mapping[str, Sequence[str]],
) -> list[dict[str, str]]:
    """The rendered templates, which see `item`, `persona` (or none), `questions` and `answer_format`."""
    shown = [
        {
            "code": question.code,
            "text": question.text,
            "help": question.help,
            "kind": question.kind,
            "options": [
                {"letter": option.letter, "text": option.label}
                for option in lettered_options(question, orders.get(question.code, ()), content)
            ],
        }
        for question in questions
    ]
    variables = {
        "item": dict(content),
        "persona": dict(persona) or None,
        "questions": shown,
        "answer_format": answer_format(questions, orders),
    }
    return render_messages(prompt.system, prompt.user, variables)


def make_plan(job: Job) -> Plan:
    """Count and price the job, with an example prompt of each persona.

    Raises PromptError when the prompt does not fit the items.
    """
    items = planned_items(job).count()
    calls = items * len(job.personas) * job.samples
    examples, tokens = [], 0
    for item in planned_items(job)[:SAMPLED_ITEMS]:
        for persona in job.personas:
            messages = call_messages(job, item.content, persona, call_orders(job, item, persona, 0))
            tokens += sum(estimated_tokens(message["content"]) for message in messages)
            examples.append({"item": item.external_id, "persona": persona, "messages": messages})
    prompt_tokens = round(tokens / max(1, len(examples)) * calls)
    completion_tokens, most = _answer_tokens(job) * calls, job.max_tokens * calls
    return Plan(
        calls=calls,
        items=items,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        most_completion_tokens=most,
        price=job.endpoint.price(prompt_tokens, completion_tokens),
        highest_price=job.endpoint.price(prompt_tokens, most),
        seconds=_seconds(job.endpoint, calls),
        examples=examples[: len(job.personas)],
    )


def estimated_tokens(text: str) -> int:
    """Tokens of one message, with what a chat template puts around it. Bytes, because scripts other than Latin take
    more tokens a character."""
    return round(len(text.encode()) / BYTES_PER_TOKEN) + TEMPLATE_TOKENS


def _answer_tokens(job: Job) -> int:
    """The answer object: its keys and a letter each, and texts as long as half the limit."""
    keys = sum(estimated_tokens(f'"{question.code}": "A", ') - TEMPLATE_TOKENS for question in job.questions) + 2
    texts = any(question.kind == "text" for question in job.questions)
    return min(job.max_tokens, keys + (job.max_tokens // 2 if texts else 0))


def _seconds(endpoint: Endpoint, calls: int) -> float | None:
    """How long the calls take at the endpoint's limits and the latency of its last calls, or of its test without any;
    None when unknown."""
    latency = usual_latency(endpoint) or endpoint.capabilities.get("latency_seconds")
    limits = [calls * latency / endpoint.concurrency] if latency else []
    if endpoint.requests_per_minute:
        limits.append(calls / endpoint.requests_per_minute * 60)
    return max(limits, default=None)
