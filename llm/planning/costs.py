"""What a job will ask: its messages, how many, how long and at what price, before anything is asked."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from llm.models import Endpoint, Job, Prompt
from llm.planning.axes import ORDER, axes_of, varying
from llm.planning.expansion import orders_of
from llm.planning.grid import Cell
from llm.planning.selection import planned_items, unmatched_values
from llm.prompting.rendering import render_messages
from llm.querysets import usual_latency
from llm.reading.parsing import AnswerMode, answer_format, lettered_options
from materials.content import ordered
from materials.models import Item

BYTES_PER_TOKEN = 3.6  # English prose with JSON: what tokenisers in common use average, rounded down
TEMPLATE_TOKENS = 6
SAMPLED_ITEMS = 10
SAMPLED_CELLS = 24  # of each sampled item
EXAMPLES = 24
COMPARED_ITEMS = 3  # to see whether a prompt tells levels apart
COMPARED_LEVELS = 24
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Example:
    """The messages of one call that the job will make."""

    item: str
    cell: Cell
    prompt: Prompt
    orders: Mapping[str, Sequence[str]]
    messages: list[dict[str, str]]


@dataclass(frozen=True)
class Plan:
    """What a job will ask, when nothing has to be asked twice.

    Token counts are estimates from sampled prompts, or, once calls were made (`measured`), from what they used. Prices
    are None where the endpoint has none, `seconds` where its limits and latency are not known and for batches.
    `warnings`: what was hardly meant, a sentence each.
    """

    calls: int
    items: int
    conditions: int
    conditions_per_item: int
    prompt_tokens: int
    completion_tokens: int
    most_completion_tokens: int
    measured: int
    price: Decimal | None
    highest_price: Decimal | None
    seconds: float | None
    examples: list[Example]
    warnings: list[str]


def call_messages(job: Job, content: Mapping[str, Any], cell: Cell, orders: Any) -> list[dict[str, str]]:
    """The chat messages of one call. Raises PromptError."""
    shown = dict(ordered(content, job.dataset.field_order))
    return prompt_messages(
        job.prompt_list[cell.prompt],
        job.questions,
        shown,
        persona=cell.persona,
        condition=cell.values,
        orders=orders,
        mode=job.mode,
        sentence=job.answer_sentence,
    )


def prompt_messages(
    prompt: Prompt,
    questions: Sequence[Any],
    content: Mapping[str, Any],
    *,
    persona: Mapping[str, Any] = NOTHING,
    condition: Mapping[str, Any] = NOTHING,
    orders: Mapping[str, Sequence[str]] = NOTHING,
    mode: AnswerMode = "auto",
    sentence: str = "",
) -> list[dict[str, str]]:
    """The rendered templates, which see `item`, `persona` (or none), `condition`, `questions` and `answer_format`.

    Without `orders` the options stand in the instrument's own order. Raises PromptError.
    """
    shown = [
        {
            "code": question.code,
            "text": question.text,
            "help": question.help,
            "kind": question.kind,
            "options": [
                {"letter": option.letter, "code": option.code, "text": option.label}
                for option in lettered_options(question, orders.get(question.code, ()), content)
            ],
        }
        for question in questions
    ]
    variables = {
        "item": dict(content),
        "persona": dict(persona) or None,
        "condition": dict(condition),
        "questions": shown,
        "answer_format": answer_format(questions, orders, mode=mode, sentence=sentence),
    }
    return render_messages(prompt.system, prompt.user, variables)


def make_plan(job: Job) -> Plan:
    """Count and price the job, with example prompts. The cost does not grow with the number of calls.

    Raises PromptError when the prompt does not fit the items.
    """
    items = planned_items(job).count()
    calls = items * job.grid.cells_per_item * job.samples
    sample = list(_sample(job))
    prompt_each, completion_each = _tokens_each(job, sample)
    prompt_tokens, completion_tokens = round(prompt_each * calls), round(completion_each * calls)
    price = job.price_of(prompt_tokens, completion_tokens)
    most, live = max(job.max_tokens * calls, completion_tokens), job.way == Job.Way.LIVE
    return Plan(
        calls=calls,
        items=items,
        conditions=len(job.grid),
        conditions_per_item=job.grid.cells_per_item,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        most_completion_tokens=most,
        measured=job.settled - job.n_reused,
        price=price,
        highest_price=job.price_of(prompt_tokens, most),
        seconds=seconds_at(job.endpoint, calls, prompt_tokens + completion_tokens) if live else None,
        examples=_distinct(sample),
        warnings=[
            *_constant_factors(job),
            *_filters_without_items(job),
            *_equal_prompts(job),
            *_short_budgets(job, calls, prompt_tokens + completion_tokens, price),
        ],
    )


def prompt_tokens_each(job: Job) -> int:
    """The most tokens that the prompt of a sampled call has, by estimate; 0 without items. Raises PromptError."""
    return max((messages_tokens(example.messages) for example in _sample(job)), default=0)


def messages_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(estimated_tokens(message["content"]) for message in messages)


def estimated_tokens(text: str) -> int:
    """Tokens of one message, with what a chat template puts around it. Bytes, because scripts other than Latin take
    more tokens a character."""
    return round(len(text.encode()) / BYTES_PER_TOKEN) + TEMPLATE_TOKENS


def _constant_factors(job: Job) -> Iterator[str]:
    for factor in job.grid.factors:
        if len(factor.levels) == 1:
            name = factor.levels[0].name
            yield f'The factor {factor.name} has one level, "{name}": a factor with one level makes no contrast.'


def _filters_without_items(job: Job) -> Iterator[str]:
    for field, values in unmatched_values(job).items():
        yield f"No item has {field} " + " or ".join(f'"{value}"' for value in values) + "."


def _equal_prompts(job: Job) -> Iterator[str]:
    """Of each prompt and axis the first two levels between which its messages do not differ, on any compared item."""
    items = list(planned_items(job)[:COMPARED_ITEMS])
    prompt_axis, *others = axes_of(job)
    for number, prompt in enumerate(job.prompt_list if items else ()):
        for axis in varying(others):
            seen: dict[str, int] = {}
            for level in range(min(axis.size, COMPARED_LEVELS)):
                cell = job.grid[number * prompt_axis.stride + level * axis.stride]
                earlier = seen.setdefault(_messages_on(job, items, cell, orders_too=axis.name == ORDER), level)
                if earlier != level:
                    yield (
                        f'{prompt} asks the same with "{axis.named(earlier)}" as with "{axis.named(level)}": '
                        "a difference between their answers would mean nothing."
                    )
                    break


def _messages_on(job: Job, items: Sequence[Item], cell: Cell, *, orders_too: bool) -> str:
    """All messages of the cell as one text; options in the order of the grid's first cell, unless `orders_too`."""
    ordering = cell if orders_too else job.grid[0]
    return repr([call_messages(job, item.content, cell, orders_of(job, item, ordering, 0)) for item in items])


def _short_budgets(job: Job, calls: int, tokens: int, price: Decimal | None) -> Iterator[str]:
    for budget, needed, words in (
        (job.budget_calls, calls, "{:,} calls"),
        (job.budget_tokens, tokens, "{:,} tokens"),
        (job.budget_price, price, "a price of {:.4g}"),
    ):
        if budget is not None and needed is not None and budget < needed:
            yield (
                f"The budget of {words.format(budget)} is less than the plan takes, about {words.format(needed)}: "
                "the job pauses when it is used up, and can be given more."
            )


def _sample(job: Job) -> Iterator[Example]:
    """Calls of the first items, whose cells cover the grid as far as SAMPLED_CELLS goes."""
    for rank, item in enumerate(planned_items(job)[:SAMPLED_ITEMS]):
        cells = job.grid.of_item(rank)
        chosen: Sequence[int] = range(len(cells))
        if len(cells) > SAMPLED_CELLS:
            chosen = sorted(random.Random(f"{job.seed}/{rank}").sample(chosen, SAMPLED_CELLS))
        for position in chosen:
            yield _example(job, item, job.grid[cells[position]])


def _example(job: Job, item: Item, cell: Cell) -> Example:
    orders = orders_of(job, item, cell, 0)
    messages = call_messages(job, item.content, cell, orders)
    return Example(item.external_id, cell, job.prompt_list[cell.prompt], orders, messages)


def _distinct(sample: Sequence[Example]) -> list[Example]:
    """One example of each cell, in the order of the grid; at most EXAMPLES, spread evenly over it."""
    by_cell: dict[int, Example] = {}
    for example in sample:
        by_cell.setdefault(example.cell.number, example)
    found = [by_cell[number] for number in sorted(by_cell)]
    shown = min(len(found), EXAMPLES)
    return [found[n * len(found) // shown] for n in range(shown)]


def _tokens_each(job: Job, sample: Sequence[Example]) -> tuple[float, float]:
    """Prompt and answer tokens of a call: as used by the calls that were made, otherwise by estimate."""
    asked = job.settled - job.n_reused
    if asked and job.prompt_tokens:
        return job.prompt_tokens / asked, job.completion_tokens / asked
    tokens = sum(messages_tokens(example.messages) for example in sample)
    return tokens / max(1, len(sample)), _answer_tokens(job)


def _answer_tokens(job: Job) -> int:
    """The answer object: its keys and a letter each, and texts as long as half the limit."""
    keys = sum(estimated_tokens(f'"{question.code}": "A", ') - TEMPLATE_TOKENS for question in job.questions) + 2
    texts = any(question.kind == "text" for question in job.questions)
    return min(job.max_tokens, keys + (job.max_tokens // 2 if texts else 0))


def seconds_at(endpoint: Endpoint, calls: int, tokens: int) -> float | None:
    """How long the calls take at the endpoint's limits and the latency of its last calls, or of its test without any;
    None when unknown."""
    latency = usual_latency(endpoint) or endpoint.capabilities.get("latency_seconds")
    limits = [calls * latency / endpoint.concurrency] if latency else []
    if endpoint.requests_per_minute:
        limits.append(calls / endpoint.requests_per_minute * 60)
    if endpoint.tokens_per_minute:
        limits.append(tokens / endpoint.tokens_per_minute * 60)
    return max(limits, default=None)
