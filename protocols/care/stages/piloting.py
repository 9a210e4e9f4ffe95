"""The pilot: set-ups label one reaction of each community, people audit what they said, and the best is chosen."""

from collections import defaultdict
from math import isnan
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Coalesce
from pydantic import Field

from llm.models import Call, Job
from materials.models import Dataset
from protocols.asking import Answered, answers, plan_asking, start_asking
from protocols.care.pilot import ARCHITECTURES, Architecture, Score, SetUp, best, representative, score
from protocols.care.stages.deciding import ask_people, collected, decisions, outcome
from protocols.care.stages.in_step import refuse_stale
from protocols.care.stages.lineage import of
from protocols.care.stages.tones import NO_TONE, asked_for_tones, tone_prompt
from protocols.context import Made, StageContext
from protocols.stages import EndpointNames, Plan, Stage, StageError, StageResult, StageSettings

PROMPTS = {tone_prompt(architecture).project_name: architecture for architecture in ARCHITECTURES}
NOT_AUDITED = "not audited"


class PilotSettings(StageSettings):
    endpoints: EndpointNames = Field(
        default=(), description="Models to try, each with all prompts; with none given the project’s first two."
    )
    prompts: tuple[Architecture, ...] = Field(
        default=ARCHITECTURES,
        min_length=1,
        description="Prompts to try: minimal lists the tones, definitions also says what they mean, maximal has "
        "examples and rules as well.",
    )
    seed: int = Field(default=1, description="Which reaction stands for its community is drawn by it.")
    repetitions: int = Field(
        default=2, ge=1, le=10, description="Times that each set-up is asked; consistency compares them."
    )


class AuditSettings(StageSettings):
    auditors: int = Field(default=1, ge=1, le=20, description="People who look at each answer.")


class ChoiceSettings(StageSettings):
    set_up: str = Field(
        default="",
        title="Set-up",
        description="By its name in the table; empty takes the most accurate, of equal ones the most consistent, then "
        "the cheapest.",
    )


def _endpoints(ctx: StageContext) -> list[str]:
    return list(ctx.settings.endpoints) or list(
        ctx.project.endpoints.order_by("name").values_list("name", flat=True)[:2]
    )


def plan_pilot(ctx: StageContext) -> Plan:
    reactions = ctx.dataset("sample", "dataset_reactions")
    communities = len({item.content["community"] for item in ctx.items("sample", "dataset_reactions")})
    return plan_asking(
        ctx,
        asked_for_tones(
            ctx,
            reactions,
            architectures=ctx.settings.prompts,
            endpoints=_endpoints(ctx),
            samples=ctx.settings.repetitions,
            most=communities,
        ),
    )


def start_pilot(ctx: StageContext) -> StageResult:
    reactions = {item.external_id: item for item in ctx.items("sample", "dataset_reactions")}
    pairs = ((item.content["community"], external_id) for external_id, item in reactions.items())
    drawn = [reactions[external_id] for external_id in representative(pairs, seed=ctx.settings.seed)]
    dataset = ctx.make_dataset((Made(item.external_id, item.content, of(item)) for item in drawn), part="reactions")
    asked = asked_for_tones(
        ctx,
        dataset,
        architectures=ctx.settings.prompts,
        endpoints=_endpoints(ctx),
        samples=ctx.settings.repetitions,
    )
    return StageResult({"dataset_reactions": dataset.slug, "job": start_asking(ctx, asked)}, done=False)


def collect_pilot(ctx: StageContext) -> StageResult:
    """What is audited: each different answer about a reaction once, whichever set-ups gave it."""
    definitions = {item.content["tone"]: item.content["definition"] for item in ctx.items("tones")}
    found: dict[tuple[str, str], Answered] = {}
    n = 0
    for answered in answers(ctx, ctx.output("pilot")["job"]):
        n += 1
        found.setdefault((answered.item.external_id, answered.values["tone"]), answered)
    planned = sum(job.planned_calls for job in _jobs(ctx).values())
    made = [
        Made(
            f"{reaction}/{tone}",
            {
                "title": answered.item.content["title"],
                "text": answered.item.content["text"],
                "tone": tone,
                "definition": definitions[tone],
            },
            answered.lineage,
        )
        for (reaction, tone), answered in found.items()
    ]
    if not made:
        raise StageError("No set-up gave a valid tone; look at the calls of the jobs.")
    dataset = ctx.make_dataset(made)
    return StageResult({"dataset": dataset.slug}, planned, n, {NO_TONE: planned - n} if n < planned else {})


def ask_for_audit(ctx: StageContext) -> StageResult:
    items = (Made(item.external_id, item.content, of(item)) for item in ctx.items("pilot"))
    names = [item.content["tone"] for item in ctx.items("tones")]
    wrong = {"question": "right", "any_of": ["no"]}
    questions = [
        {
            "kind": "choice",
            "code": "right",
            "text": "Is this the tone of the reaction?",
            "options": [
                {"code": "yes", "text": "Right", "hotkey": "r"},
                {"code": "no", "text": "Wrong", "hotkey": "w"},
            ],
        },
        {
            "kind": "choice",
            "code": "right_tone",
            "text": "Which tone does it have?",
            "options": [{"code": name, "text": name} for name in names],
            "show_if": wrong,
        },
        {
            "kind": "text",
            "code": "note",
            "text": "What should be known about this?",
            "required": False,
            "max_length": 500,
            "show_if": wrong,
        },
    ]
    return ask_people(
        ctx,
        items,
        audited,
        instrument="care-audit",
        title="Audit of tones",
        questions=questions,
        overlap=ctx.settings.auditors,
        item_fields=[
            {"field": "title", "label": "Headline"},
            {"field": "text", "label": "Reaction"},
            {"field": "tone", "label": "Tone by a model"},
            {"field": "definition", "label": "Which means"},
        ],
    )


def audited(ctx: StageContext, dataset: Dataset) -> StageResult:
    known = decisions(ctx, ctx.stage.code)
    items = list(dataset.items.order_by("position", "pk"))
    made = [
        Made(item.external_id, item.content | known[item.external_id], of(item))
        for item in items
        if "right" in known.get(item.external_id, {})
    ]
    left = len(items) - len(made)
    return outcome(ctx, made, left, {NOT_AUDITED: left})


def choose(ctx: StageContext) -> StageResult:
    refuse_stale(ctx)
    set_ups = _set_ups(ctx)
    sample = [item.external_id for item in ctx.items("pilot", "dataset_reactions")]
    right = {}
    for item in ctx.items("audit"):
        reaction, _, tone = item.external_id.rpartition("/")
        right[reaction, tone] = item.content["right"] == "yes"
    scores = {name: score(set_up, right=right, sample=sample) for name, (set_up, _, _) in set_ups.items()}
    wanted = ctx.settings.set_up
    if wanted and wanted not in scores:
        raise StageError(f"There is no set-up {wanted}; there are {', '.join(scores)}.")
    taken = scores[wanted] if wanted else best(scores.values())
    table = ctx.make_dataset(
        Made(name, _row(one, taken=one.name == taken.name), _lineage(set_ups[name][1])) for name, one in scores.items()
    )
    _, job, architecture = set_ups[taken.name]
    chosen = {"endpoint": job.endpoint.name, "architecture": architecture}
    return StageResult({"table": table.slug, "set_up": chosen}, len(scores), 1, {"not chosen": len(scores) - 1})


def _set_ups(ctx: StageContext) -> dict[str, tuple[SetUp, Job, str]]:
    """By name what each set-up said, with its job and its prompt's architecture."""
    jobs = _jobs(ctx)

    def key(job: int, cell: int) -> tuple[int, str]:
        return job, PROMPTS[jobs[job].prompt_list[jobs[job].grid[cell].prompt].name]

    said: dict[tuple[int, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for answered in answers(ctx, list(jobs)):
        said[key(answered.call.job_id, answered.call.cell)][answered.item.external_id].append(answered.values["tone"])
    # An answer that was taken over from an equal request counts with the tokens of that one.
    used = {
        f"used_{side}": Sum(Coalesce(f"reused_from__{side}_tokens", f"{side}_tokens"))
        for side in ("prompt", "completion")
    }
    tokens = Call.objects.filter(job__in=jobs).order_by().values_list("job_id", "cell").annotate(**used)
    found = {}
    for job, cell, *counts in tokens:
        pk, architecture = key(job, cell)
        name = f"{jobs[pk].endpoint.name}_{architecture}"
        price = jobs[pk].price_of(*(count or 0 for count in counts))
        found[name] = (SetUp(name, said[pk, architecture], price), jobs[pk], architecture)
    return dict(sorted(found.items()))


def _jobs(ctx: StageContext) -> dict[int, Job]:
    pks = ctx.output("pilot")["job"]
    return {job.pk: job for job in Job.objects.filter(project=ctx.project, pk__in=pks).select_related("endpoint")}


def _lineage(job: Job) -> dict[str, Any]:
    return {"job": job.pk} | ({"demo_model": True} if job.endpoint.demo_model else {})


def _row(one: Score, *, taken: bool) -> dict[str, Any]:
    def plain(share: float) -> float | None:
        return None if isnan(share) else share

    return {
        "set_up": one.name,
        "accuracy": plain(one.accuracy),
        "audited": one.n,
        "consistency": plain(one.consistency),
        "repeated": one.n_repeated,
        "price": None if one.price is None else str(one.price),
        "chosen": "yes" if taken else "",
    }


PILOT = Stage(
    code="pilot",
    title="Pilot of set-ups",
    says="Asks each of the models with each of three prompts, from a bare list of tones to one with definitions, "
    "examples and rules, for the tone of one reaction of every community.",
    kind="job",
    needs=("sample", "tones"),
    settings=PilotSettings,
    prompts=tuple(path for architecture in ARCHITECTURES for path in tone_prompt(architecture).paths),
    plan=plan_pilot,
    run=start_pilot,
    collect=collect_pilot,
)
AUDIT = Stage(
    code="audit",
    title="Audit of the pilot",
    says="Shows every tone that a set-up gave a reaction, without saying which set-up it was. An answer that several "
    "gave is looked at once and counts for all of them.",
    kind="labelling",
    needs=("pilot", "tones"),
    decides="An auditor, for each answer: right, or wrong and which tone is right.",
    settings=AuditSettings,
    run=ask_for_audit,
    collect=collected(audited),
)
SET_UP = Stage(
    code="set_up",
    title="Choice of the set-up",
    says="Compares the set-ups by accuracy (the share of reactions whose first answer was found right; no valid "
    "answer is wrong) and consistency (the share with one tone in all repetitions), and chooses the one that labels "
    "everything.",
    kind="decision",
    needs=("pilot", "audit"),
    decides="A researcher may set another one than the best.",
    settings=ChoiceSettings,
    run=choose,
)
