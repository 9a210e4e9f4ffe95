"""The jobs that were planned together, and what a plan costs at each of their endpoints."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from llm.models import Job
from llm.planning.axes import Axis, axes_of, cell_words, size_words
from llm.planning.costs import Example, Plan, make_plan, seconds_at
from llm.planning.selection import matching_items
from llm.querysets import project_jobs


@dataclass(frozen=True)
class PlanRow:
    """A plan at one endpoint. `price` and `seconds` are None where nobody knows them."""

    job: Job
    price: Decimal | None
    highest_price: Decimal | None
    seconds: float | None


@dataclass(frozen=True)
class Overview:
    """A plan with what it takes at all endpoints of its series.

    `price` and `highest_price` of all rows are None when one endpoint has no prices; `seconds`: of the slowest
    endpoint, as if all were asked at once.
    """

    plan: Plan
    rows: list[PlanRow]
    axes: list[Axis]
    in_dataset: int
    passing: int

    @property
    def calls(self) -> int:
        return self.plan.calls * len(self.rows)

    @property
    def examples(self) -> list[tuple[Example, str]]:
        """Each with what is particular about its condition."""
        return [(example, cell_words(self.axes, example.cell.number)) for example in self.plan.examples]

    @property
    def size_words(self) -> str:
        return size_words(self.axes)

    @property
    def price(self) -> Decimal | None:
        return _sum([row.price for row in self.rows])

    @property
    def highest_price(self) -> Decimal | None:
        return _sum([row.highest_price for row in self.rows])

    @property
    def seconds(self) -> float | None:
        known = [row.seconds for row in self.rows if row.seconds is not None]
        return max(known) if len(known) == len(self.rows) else None


@dataclass(frozen=True)
class Rest:
    """What is left to ask after a pilot, at what the pilot's calls used each."""

    calls: int
    asked: int
    prompt_tokens_each: float
    completion_tokens_each: float
    price: Decimal | None
    seconds: float | None


def series_of(job: Job) -> list[Job]:
    """The job and those planned with it, in the order in which they were planned. Costs two queries."""
    return list(project_jobs(job.project).filter(series=job.series).order_by("pk"))


def halted_pilots(job: Job) -> QuerySet[Job]:
    """The jobs of the series that wait after their pilot, or in the middle of it."""
    return Job.objects.filter(series=job.series, project=job.project, pilot=True, status=Job.Status.PAUSED).order_by(
        "pk"
    )


def plan_overview(job: Job) -> Overview:
    """Raises PromptError when the prompt does not fit the items."""
    plan = make_plan(job)
    siblings = [one for one in series_of(job) if one.status == Job.Status.PLANNED]
    return Overview(
        plan=plan,
        rows=[_row(one, plan) for one in siblings],
        axes=axes_of(job),
        in_dataset=job.dataset.items.count(),
        passing=matching_items(job).count() if job.item_filter else job.dataset.items.count(),
    )


def rest_after_pilot(job: Job) -> Rest:
    asked = job.settled - job.n_reused
    each = [tokens / asked if asked else 0.0 for tokens in (job.prompt_tokens, job.completion_tokens)]
    calls = max(0, job.planned_calls - job.settled)
    tokens = [round(one * calls) for one in each]
    live = job.way == Job.Way.LIVE
    return Rest(
        calls=calls,
        asked=asked,
        prompt_tokens_each=each[0],
        completion_tokens_each=each[1],
        price=job.price_of(*tokens) if asked else None,
        seconds=seconds_at(job.endpoint, calls, sum(tokens)) if live else None,
    )


def _row(job: Job, plan: Plan) -> PlanRow:
    tokens = plan.prompt_tokens + plan.completion_tokens
    live = job.way == Job.Way.LIVE
    return PlanRow(
        job=job,
        price=job.price_of(plan.prompt_tokens, plan.completion_tokens),
        highest_price=job.price_of(plan.prompt_tokens, plan.most_completion_tokens),
        seconds=seconds_at(job.endpoint, plan.calls, tokens) if live else None,
    )


def _sum(prices: list[Decimal | None]) -> Decimal | None:
    known = [price for price in prices if price is not None]
    return sum(known, Decimal()) if len(known) == len(prices) else None
