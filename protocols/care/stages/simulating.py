"""The tones of real reactions, reactions that models write, blind and informed, and the tones of those."""

from collections.abc import Iterator

from pydantic import Field

from llm.models import Job
from protocols.asking import Asked, PromptFiles, answers, plan_asking, start_asking
from protocols.care.pilot import ARCHITECTURES
from protocols.care.prompts import FOLDER
from protocols.care.stages.tones import asked_as_chosen, tone_prompt, with_tones
from protocols.context import Made, StageContext
from protocols.stages import EndpointNames, Plan, Stage, StageResult, StageSettings

SIMULATION = PromptFiles(FOLDER, "simulation", version=2)
TONE_PROMPTS = tuple(path for architecture in ARCHITECTURES for path in tone_prompt(architecture).paths)
QUESTION = {"kind": "text", "code": "reaction", "text": "What do you write?", "max_length": 5000}
BLIND, INFORMED = "blind", "informed"
NO_REACTION = "no reaction written"


class SimulationSettings(StageSettings):
    endpoints: EndpointNames = Field(default=(), description="Models that simulate; with none given the first one.")
    also_topic: bool = Field(
        default=False, description="A further setting, informed_topic, that also names the community’s topic."
    )
    also_place: bool = Field(
        default=False, description="A further setting, informed_place, that also names the community’s geopath."
    )
    temperature: float = Field(default=1, ge=0, le=2, description="Of the models’ sampling.")
    max_tokens: int = Field(default=300, ge=16, le=100_000, description="Longest reaction, in tokens.")
    seed: int = Field(default=1, description="Of the models’ sampling, where the server takes one.")

    @property
    def levels(self) -> list[dict[str, object]]:
        """The settings: what each says of the community."""
        told = {BLIND: [], INFORMED: ["identifier"]}
        if self.also_topic:
            told["informed_topic"] = ["identifier", "topic"]
        if self.also_place:
            told["informed_place"] = ["identifier", "geopath"]
        return [{"name": name, "value": value} for name, value in told.items()]


def _real(ctx: StageContext) -> Asked:
    return asked_as_chosen(ctx, ctx.dataset("sample", "dataset_reactions"))


def _simulation(ctx: StageContext) -> Asked:
    rules = ctx.settings
    return Asked(
        dataset=ctx.dataset("sample"),
        instrument="care-reaction",
        title="A reaction",
        questions=[QUESTION],
        prompts=[SIMULATION],
        endpoints=rules.endpoints,
        kind="generate",
        factors=[{"name": "setting", "levels": rules.levels}],
        fields={"temperature": rules.temperature, "max_tokens": rules.max_tokens, "seed": rules.seed},
    )


def _simulated(ctx: StageContext) -> Asked:
    return asked_as_chosen(ctx, ctx.dataset("simulate"))


def plan_annotation(ctx: StageContext) -> Plan:
    return plan_asking(ctx, _real(ctx))


def annotate(ctx: StageContext) -> StageResult:
    return StageResult({"job": start_asking(ctx, _real(ctx))}, done=False)


def annotated(ctx: StageContext) -> StageResult:
    return with_tones(ctx, ctx.dataset("sample", "dataset_reactions"))


def plan_simulation(ctx: StageContext) -> Plan:
    return plan_asking(ctx, _simulation(ctx))


def simulate(ctx: StageContext) -> StageResult:
    return StageResult({"job": start_asking(ctx, _simulation(ctx))}, done=False)


def simulated(ctx: StageContext) -> StageResult:
    jobs = {job.pk: job for job in Job.objects.filter(pk__in=ctx.output("simulate")["job"]).select_related("endpoint")}

    def made() -> Iterator[Made]:
        for answered in answers(ctx, list(jobs)):
            job, post = jobs[answered.call.job_id], answered.item
            setting = job.grid[answered.call.cell].names["setting"]
            content = {
                "text": answered.values["reaction"],
                "title": post.content["title"],
                "community": post.content["community"],
                "post": post.external_id,
                "model": job.endpoint.name,
                "setting": setting,
            }
            yield Made(f"{post.external_id}/{job.endpoint.name}/{setting}", content, answered.lineage)

    dataset = ctx.make_dataset(made())
    n, out = sum(job.planned_calls for job in jobs.values()), dataset.items.count()
    return StageResult({"dataset": dataset.slug}, n, out, {NO_REACTION: n - out} if out < n else {})


def plan_second_annotation(ctx: StageContext) -> Plan:
    return plan_asking(ctx, _simulated(ctx))


def annotate_simulated(ctx: StageContext) -> StageResult:
    return StageResult({"job": start_asking(ctx, _simulated(ctx))}, done=False)


def annotated_simulated(ctx: StageContext) -> StageResult:
    return with_tones(ctx, ctx.dataset("simulate"))


ANNOTATE = Stage(
    code="annotate",
    title="Tones of real reactions",
    says="Labels every sampled reaction with the chosen set-up. An answer outside the list is asked again once with "
    "what was wrong; after that the reaction is left out and counted.",
    kind="job",
    needs=("sample", "tones", "set_up"),
    prompts=TONE_PROMPTS,
    plan=plan_annotation,
    run=annotate,
    collect=annotated,
)
SIMULATE = Stage(
    code="simulate",
    title="Simulated reactions",
    says="Has models write one reaction to each sampled post in each setting: blind, with the article alone, and "
    "informed, with the community’s name as well. The prompts differ in the lines on the community alone.",
    kind="job",
    needs=("sample",),
    settings=SimulationSettings,
    prompts=SIMULATION.paths,
    plan=plan_simulation,
    run=simulate,
    collect=simulated,
)
ANNOTATE_SIMULATED = Stage(
    code="annotate_simulated",
    title="Tones of simulated reactions",
    says="Labels every simulated reaction exactly as the real ones.",
    kind="job",
    needs=("simulate", "tones", "set_up"),
    prompts=TONE_PROMPTS,
    plan=plan_second_annotation,
    run=annotate_simulated,
    collect=annotated_simulated,
)
