"""What the stages have in common that ask models: settings, prompts, and how answers are read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from materials.models import Item
from protocols.asking import Asked, PromptFiles, plan_asking, start_asking
from protocols.context import StageContext
from protocols.stages import EndpointName, EndpointNames, Plan, Stage, StageResult, StageSettings

PROMPTS = Path(__file__).parent.parent / "prompts"
SECOND = ("denoise", "categorise", "compare", "judge_plain")  # prompts that are at version 2


class AskOne(StageSettings):
    endpoint: EndpointName = Field(default="", description="The model that is asked.")
    max_tokens: int = Field(default=256, ge=1, le=100_000, description="The longest answer, in tokens.")


class Judge(AskOne):
    max_tokens: int = Field(default=1024, ge=1, le=100_000, description="The longest judgement, in tokens.")


class Responding(StageSettings):
    temperature: float = Field(
        default=0, ge=0, le=2, description="The paper does not give the temperature of responses; 0 can be repeated."
    )
    max_tokens: int = Field(default=1024, ge=1, le=100_000, description="The longest response, in tokens.")


class Respond(Responding):
    models: EndpointNames = Field(default=(), description="The models that are compared; at least two.")


def marks(*items: Item) -> dict[str, bool]:
    """What made any of these items that is no person and no model to speak of, as lineage says it."""
    return {name: True for name in ("simulated", "demo_model") if any(item.lineage.get(name) for item in items)}


def prompt(name: str) -> PromptFiles:
    return PromptFiles(PROMPTS, name, version=2 if name in SECOND else 1)


def fields(settings: Any) -> dict[str, Any]:
    """The job's fields that these settings decide."""
    return {"temperature": getattr(settings, "temperature", 0), "max_tokens": settings.max_tokens}


def asking_stage(asked: Callable[[StageContext], Asked], *, prompts: list[str], **given: Any) -> Stage:
    """A stage that starts what `asked` says as model jobs; the rest as for Stage."""

    def run(ctx: StageContext) -> StageResult:
        return StageResult({"job": start_asking(ctx, asked(ctx))}, done=False)

    def plan(ctx: StageContext) -> Plan:
        return plan_asking(ctx, asked(ctx))

    paths = tuple(path for name in prompts for path in prompt(name).paths)
    return Stage(kind="job", run=run, plan=plan, prompts=paths, **given)
