"""A job's grid: which calls it consists of, how many, how long and at what price, before anything is asked."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any

from llm.models import Endpoint, Job
from llm.parsing import answer_format, answer_schema, lettered_options
from llm.rendering import render_messages
from materials.models import Item
from materials.questions import draw_orders, order_factor
from responses.models import Respondent, RespondentKind
from responses.services import get_condition, get_respondent

CHARACTERS_PER_TOKEN = 3.6  # English prose with JSON: what tokenisers in common use average, rounded down
EXAMPLES = 3


@dataclass(frozen=True)
class Plan:
    """What a job will ask. Token counts are estimates; price is None where the endpoint has no prices."""

    calls: int
    items: int
    prompt_tokens: int
    completion_tokens: int
    price: Decimal | None
    examples: list[dict[str, Any]]


def planned_items(job: Job) -> Any:
    """The job's items in dataset order, at most `max_items`."""
    items = job.dataset.items.all()
    return items[: job.max_items] if job.max_items else items


def questions_of(job: Job) -> tuple[Any, ...]:
    return job.instrument.questionnaire.only(job.question_codes).questions


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
    return draw_orders(questions_of(job), key=f"{job.seed}/{item.external_id}/{persona_digest(persona)}/{sample}")


def cells(job: Job) -> Iterator[dict[str, Any]]:
    """The fields of each call, lazily: personas within samples within items."""
    respondents = [(persona, model_respondent(job.endpoint, persona)) for persona in job.personas]

    @cache
    def condition(order: str) -> Any:
        factors = {"prompt": str(job.prompt), "temperature": job.temperature, "top_p": job.top_p}
        return get_condition(project=job.project, factors=factors | ({"option_order": order} if order else {}))

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
    """The chat messages of one call. A template sees `item`, `persona` (or none), `questions` and `answer_format`."""
    questions = questions_of(job)
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
    return render_messages(job.prompt.system, job.prompt.user, variables)


def make_plan(job: Job) -> Plan:
    """Count and price the job, with example prompts; raises PromptError when the prompt does not fit the items."""
    items = planned_items(job).count()
    calls = items * len(job.personas) * job.samples
    examples, characters = [], 0
    probe = list(islice(planned_items(job), EXAMPLES))
    for item in probe:
        for persona in job.personas:
            orders = call_orders(job, item, persona, 0)
            messages = call_messages(job, item.content, persona, orders)
            characters += sum(len(message["content"]) for message in messages)
            examples.append({"item": item.external_id, "persona": persona, "messages": messages})
    per_call = characters / max(1, len(examples)) / CHARACTERS_PER_TOKEN
    answer = len(json.dumps(answer_schema(questions_of(job), {})["required"])) / CHARACTERS_PER_TOKEN * 2
    prompt_tokens, completion_tokens = round(per_call * calls), round(min(answer, job.max_tokens) * calls)
    endpoint = job.endpoint
    price = None
    if endpoint.price_per_million_in is not None and endpoint.price_per_million_out is not None:
        millions = Decimal(1_000_000)
        price = (
            prompt_tokens * endpoint.price_per_million_in + completion_tokens * endpoint.price_per_million_out
        ) / millions
    return Plan(calls, items, prompt_tokens, completion_tokens, price, examples[: len(job.personas)])
