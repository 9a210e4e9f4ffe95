"""Stages that ask models: planned and priced without writing anything, then started as jobs, then read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from llm.files.jobfile_parts import published_instrument, published_prompt
from llm.models import Call, Endpoint, Job, Prompt
from llm.planning.costs import make_plan
from llm.planning.grid import Factor
from llm.prompting.rendering import PromptError
from llm.services import JobError, plan_series, start_job
from materials.models import Dataset, Instrument, Item
from materials.questions import QuestionError
from protocols.context import StageContext, check_items
from protocols.stages import Plan, StageError

NOT_TESTED = "was not tested yet: test it on its page first, so that answers are asked for in the form it can give."


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """A versioned prompt: the files `<name>.v<version>.user.jinja` and `....system.jinja`, which may be missing.

    `system`: the name of another prompt of this version whose system file it has.
    """

    folder: Path
    name: str
    version: int = 1
    system: str = ""

    def path(self, role: str) -> Path:
        name = self.system if role == "system" and self.system else self.name
        return self.folder / f"{name}.v{self.version}.{role}.jinja"

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.path("system"), self.path("user")) if path.exists())

    def text(self, role: str) -> str:
        path = self.path(role)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def project_name(self) -> str:
        """Its name in a project, whose own count of versions has nothing to do with the file's."""
        return f"{self.name.replace('_', '-')}-v{self.version}"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a stage asks of models. `instrument` and `title` name the questions; `part` tells this asking from others of
    the same run. `fields`: other fields of llm.models.Job."""

    dataset: Dataset
    instrument: str
    title: str
    part: str = ""
    questions: Sequence[Mapping[str, Any]]
    prompts: Sequence[PromptFiles]
    endpoints: Sequence[str] = ()
    kind: str = Job.Kind.GENERATE
    personas: Sequence[Mapping[str, Any]] = ({},)
    factors: Sequence[Mapping[str, Any]] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


class Answered(NamedTuple):
    """What a model answered about an item, by code of the question; `lineage` leads back to the call."""

    item: Item
    values: Mapping[str, Any]
    call: Call
    lineage: Mapping[str, Any]


def plan_asking(ctx: StageContext, asked: Asked) -> Plan:
    """Calls, price and time at all the endpoints. Raises StageError when it cannot be asked."""
    check_items(asked.dataset)
    plans = []
    endpoints = chosen_endpoints(ctx, asked.endpoints)
    for endpoint in endpoints:
        job = Job(project=ctx.project, name=ctx.title, endpoint=endpoint, **_common(asked))
        job.instrument = Instrument(project=ctx.project, name=asked.instrument, questions=list(asked.questions))
        job.prompt_list = [
            Prompt(
                project=ctx.project,
                name=files.name,
                version=files.version,
                system=files.text("system"),
                user=files.text("user"),
            )
            for files in asked.prompts
        ]
        try:
            plans.append(make_plan(job))
        except (PromptError, QuestionError, ValueError) as error:
            raise StageError(str(error)) from error
    notes = [f"{endpoint.name} {NOT_TESTED}" for endpoint in endpoints if endpoint.probed_at is None]
    notes += dict.fromkeys(warning for plan in plans for warning in plan.warnings)
    prices = [plan.price for plan in plans if plan.price is not None]
    seconds = [plan.seconds for plan in plans if plan.seconds is not None]
    return Plan(
        calls=sum(plan.calls for plan in plans),
        price=sum(prices, Decimal()) if len(prices) == len(plans) else None,
        seconds=max(seconds) if len(seconds) == len(plans) else None,
        counts={"Items": plans[0].items, "Conditions of an item": plans[0].conditions_per_item},
        notes=tuple(notes),
    )


def start_asking(ctx: StageContext, asked: Asked) -> list[int]:
    """Plan and start the jobs, one for each endpoint; returns their primary keys. Raises StageError."""
    check_items(asked.dataset)
    try:
        jobs = plan_series(
            project=ctx.project,
            name=f"{ctx.title}, {asked.part}" if asked.part else ctx.title,
            endpoints=chosen_endpoints(ctx, asked.endpoints),
            prompts=[
                published_prompt(ctx.project, files.project_name, files.text("system"), files.text("user"))
                for files in asked.prompts
            ],
            instrument=published_instrument(
                ctx.project, asked.instrument, asked.title, [dict(question) for question in asked.questions]
            ),
            created_by=ctx.by,
            **_common(asked),
        )
        for job in jobs:
            start_job(job=job, by=ctx.by)
    except (JobError, PromptError, QuestionError) as error:
        raise StageError(str(error)) from error
    return [job.pk for job in jobs]


def answers(ctx: StageContext, pks: Sequence[int]) -> Iterator[Answered]:
    """The answered calls of these jobs, in the order of the items, in constant memory."""
    calls = Call.objects.filter(job__project=ctx.project, job__in=pks, status=Call.Status.OK)
    calls = calls.select_related("item", "job__endpoint").defer("messages", "reply", "text", "reasoning")
    for call in calls.order_by("item__position", "item_id", "pk").iterator(chunk_size=2000):
        lineage = {"item": call.item_id, "job": call.job_id, "call": call.pk}
        lineage |= {"demo_model": True} if call.job.endpoint.demo_model else {}
        yield Answered(call.item, call.values or {}, call, lineage)


def chosen_endpoints(ctx: StageContext, names: Sequence[str]) -> list[Endpoint]:
    """The project's endpoints of these names; its first one for none or "". Raises StageError."""
    there = {endpoint.name: endpoint for endpoint in ctx.project.endpoints.order_by("name")}
    if not there:
        raise StageError("The project has no model endpoint yet; add one under Models, Endpoints.")
    wanted = [name for name in names if name] or [next(iter(there))]
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise StageError(f"The project has no endpoint {', '.join(unknown)}; it has {', '.join(there)}.")
    return [there[name] for name in wanted]


def _common(asked: Asked) -> dict[str, Any]:
    factors = [Factor.from_json(factor).to_json() for factor in asked.factors]
    common = {"kind": asked.kind, "dataset": asked.dataset, "personas": [dict(one) for one in asked.personas]}
    return {**common, "factors": factors, **asked.fields}
