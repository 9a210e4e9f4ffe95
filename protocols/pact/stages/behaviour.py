"""What models decide: dyads, cases, the jobs that ask them, and the report on what moves their decisions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from llm.models import Job
from protocols.asking import Asked, PromptFiles, plan_asking, start_asking
from protocols.context import Made, StageContext
from protocols.outputs import finished_jobs
from protocols.pact.asked_cases import DEMOGRAPHICS, factors, pairs_of
from protocols.pact.cases import PROMPT_CONDITIONS, Grid
from protocols.pact.countries import CLOSE_KM, Country, find
from protocols.pact.model_questions import DECISION, PROMPTS
from protocols.pact.prompts import prompt_text
from protocols.reporting import ask_for_report, collect_reports
from protocols.stages import EndpointNames, Plan, Stage, StageError, StageResult, StageSettings

INSTRUMENT = "pact-decision"
PROMPT = PromptFiles(PROMPTS, "behaviour")


class Pairing(StageSettings):
    seed: int = Field(1, ge=0, description="Draws the far country of each scenario.")


def pair(ctx: StageContext) -> StageResult:
    settings: Pairing = ctx.settings
    pools: dict[str, set[Country]] = defaultdict(set)
    for source, country in ctx.dataset("remove").items.values_list("content__source", "content__receiver_country"):
        pools[source].add(find(country))
    lonely = [source for source, pool in pools.items() if len(pool) < 2]
    if lonely:
        raise StageError(
            f"All scenarios of {', '.join(lonely)} are set in one country, so nobody can come from another: add rows."
        )
    sorted_pools = {source: sorted(pool, key=lambda country: country.name) for source, pool in pools.items()}

    def pairs() -> Iterator[Made]:
        for item in ctx.items("remove"):
            pool = sorted_pools[item.content["source"]]
            for external_id, content in pairs_of(item.content, item.external_id, pool=pool, seed=settings.seed):
                yield Made(external_id, content, {"item": item.pk})

    made = ctx.make_dataset(pairs())
    came = ctx.dataset("remove").items.count()
    instances = made.items.count() * DEMOGRAPHICS
    note = f"{came:,} scenarios x 3 relations x {DEMOGRAPHICS} combinations of ages and genders: {instances:,} dyads."
    return StageResult({"dataset": made.slug, "note": [note]}, came, instances)


class Behaviour(StageSettings):
    endpoints: EndpointNames = Field((), description="The models that are asked; none for the first of the project.")
    configs: tuple[Literal["C1", "C2", "C3"], ...] = Field(
        ("C1", "C2", "C3"),
        title="Configurations",
        min_length=1,
        description="Who holds the preference: C1 the actor, C2 the receiver, C3 both.",
    )
    demographic_conditions: tuple[Literal["full_demo", "age_only", "gender_only", "no_demo"], ...] = Field(
        ("full_demo", "age_only", "gender_only", "no_demo"),
        min_length=1,
        description="What the prompt says of the two people besides their countries.",
    )
    prompt_conditions: tuple[Literal["no_balance", "balance"], ...] = Field(
        ("no_balance", "balance"),
        min_length=1,
        description="System prompts: a plain one, and the published sentence on balance.",
    )
    cases_each: int | None = Field(
        None,
        ge=1,
        description="Ask each pair of countries under so many of its conditions, a balanced draw; empty for all.",
    )
    temperature: float = Field(0.3, ge=0, le=2, description="As published.")
    top_p: float = Field(0.9, gt=0, le=1, description="As published.")
    max_tokens: int = Field(128, ge=1, le=8000, description="The longest answer in tokens, as published.")
    seed: int = Field(1, ge=0, description="Draws the order of the options of each case, and which cases are asked.")


def _grid(settings: Behaviour) -> Grid:
    try:
        return Grid(settings.configs, settings.demographic_conditions, settings.prompt_conditions)
    except ValueError as error:
        raise StageError(str(error)) from error


def asked_cases(ctx: StageContext) -> Asked:
    settings: Behaviour = ctx.settings
    prompts = {name: prompt_text(name, 1, "system").strip() for name in PROMPT_CONDITIONS}
    return Asked(
        dataset=ctx.dataset("dyads"),
        instrument=INSTRUMENT,
        title="What the actor should do",
        questions=DECISION,
        prompts=(PROMPT,),
        endpoints=settings.endpoints,
        kind=Job.Kind.SIMULATE,
        factors=factors(_grid(settings), prompts),
        fields={
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": settings.max_tokens,
            "seed": settings.seed,
            "conditions_per_item": settings.cases_each,
        },
    )


def plan_cases(ctx: StageContext) -> Plan:
    settings: Behaviour = ctx.settings
    plan = plan_asking(ctx, asked_cases(ctx))
    dyads = ctx.dataset("dyads").items.count() * DEMOGRAPHICS
    grid = _grid(settings)
    counts = {
        "Dyads": dyads,
        "With the configurations": dyads * len(grid.configs),
        "With the prompts": dyads * len(grid.configs) * len(grid.prompt_conditions),
        "With the demographic conditions": dyads * len(grid.cells),
    }
    return Plan(plan.calls, plan.price, plan.seconds, counts, plan.notes)


def collect_cases(ctx: StageContext) -> StageResult:
    planned, answered, why = finished_jobs(ctx.project, ctx.output("behaviour")["job"])
    return StageResult({}, planned, answered, why)


class Reporting(StageSettings):
    resamples: int = Field(500, ge=100, le=20_000, description="Draws behind each interval.")
    seed: int = Field(1, ge=0, description="The same seed and data give the same numbers again.")


def behaviour_parameters(ctx: StageContext) -> dict[str, Any]:
    """Contrasts and baselines only of levels that were asked."""
    settings: Reporting = ctx.settings
    asked = Behaviour.model_validate(ctx.inputs["behaviour"].settings)
    contrasts = {
        "cond_actor_age": ("older", "younger"),
        "cond_receiver_age": ("older", "younger"),
        "cond_actor_gender": ("male", "female"),
        "cond_receiver_gender": ("male", "female"),
        "item_relation": ("far", "same"),
    }
    if set(asked.prompt_conditions) == set(PROMPT_CONDITIONS):
        contrasts["cond_prompt_condition"] = ("balance", "no_balance")
    return {
        "dataset": ctx.dataset("dyads").slug,
        "instrument": INSTRUMENT,
        "questions": ["decision"],
        "factors": [
            {"name": "cond_config", "baseline": asked.configs[0]},
            {"name": "cond_demographic_condition", "baseline": _baseline(asked.demographic_conditions, "no_demo")},
            {"name": "cond_prompt_condition", "baseline": _baseline(asked.prompt_conditions, "no_balance")},
        ],
        "maps": [
            ["item_receiver_country"], ["item_receiver_region"], ["item_relation"], ["item_source"],
            ["item_actor_region", "item_receiver_region"],
        ],
        "contrasts": [{"name": name, "plus": plus, "minus": minus} for name, (plus, minus) in contrasts.items()],
        "preferences": "item_preference_type",
        "unit": "item_scenario",
        "resamples": settings.resamples,
        "seed": settings.seed,
    }  # fmt: skip


def _baseline(asked: Sequence[str], published: str) -> str:
    return published if published in asked else asked[0]


STAGES = (
    Stage(
        code="dyads",
        title="Dyads",
        says="The receiver’s country is the scenario’s; the actor comes from the same country, from the nearest other "
        f"one, or from one more than {CLOSE_KM:,.0f} km away. Ages and genders of both make 16 combinations of each.",
        kind="transformation",
        needs=("remove",),
        settings=Pairing,
        run=pair,
    ),
    Stage(
        code="behaviour",
        title="Decisions of models",
        says="Every model decides every case: three configurations, four demographic conditions, with and without the "
        "sentence on balance, the order of the options drawn by the seed. Ask a part of them to see how it goes.",
        kind="job",
        needs=("dyads",),
        settings=Behaviour,
        prompts=(*PROMPT.paths, *(PROMPTS / f"{name}.v1.system.jinja" for name in PROMPT_CONDITIONS)),
        plan=plan_cases,
        run=lambda ctx: StageResult({"job": start_asking(ctx, asked_cases(ctx))}, done=False),
        collect=collect_cases,
    ),
    Stage(
        code="behaviour_report",
        title="Report on decisions",
        says="How often models allow the preference, by model, configuration, country, relation, age, gender and "
        "prompt, and which of these moves them.",
        kind="report",
        needs=("dyads", "behaviour"),
        settings=Reporting,
        run=lambda ctx: StageResult(
            {"report": ask_for_report(ctx, "behaviour", behaviour_parameters(ctx))}, done=False
        ),
        collect=collect_reports,
    ),
)
