"""What PACT's stages that ask models have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from protocols.asking import Asked, PromptFiles, answers
from protocols.context import Made, StageContext
from protocols.pact.model_questions import PROMPTS
from protocols.stages import EndpointName, StageResult, StageSettings

NO_ANSWER = "without an answer that could be read"


class Asking(StageSettings):
    endpoint: EndpointName = Field("", description="The model that is asked.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 gives the same answer to the same question.")
    max_tokens: int = Field(400, ge=16, le=8000, description="The longest answer, in tokens.")

    @property
    def fields(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}


class Writing(Asking):
    temperature: float = Field(0.7, ge=0, le=2, description="Higher values make texts more varied.")


def prompt(name: str) -> PromptFiles:
    return PromptFiles(PROMPTS, name, version=2)


def asked_about(ctx: StageContext, code: str, name: str, questions: Sequence[Mapping[str, Any]]) -> Asked:
    """The questions about all items of an earlier stage, with the prompt of this name."""
    settings: Asking = ctx.settings
    return Asked(
        dataset=ctx.dataset(code),
        instrument=f"pact-{ctx.stage.code.replace('_', '-')}",
        title=ctx.stage.title,
        questions=questions,
        prompts=(prompt(name),),
        endpoints=(settings.endpoint,),
        fields=settings.fields,
    )


def answered_dataset(ctx: StageContext, code: str) -> StageResult:
    """The items of an earlier stage with what the model added to them; those without an answer are left out."""
    found = answers(ctx, ctx.output(ctx.stage.code)["job"])
    made = ctx.make_dataset(
        Made(one.item.external_id, {**one.item.content, **one.values}, one.lineage) for one in found
    )
    came, out = ctx.dataset(code).items.count(), made.items.count()
    return StageResult({"dataset": made.slug}, came, out, counted({NO_ANSWER: came - out}))


def counted(why: Mapping[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in why.items() if n}
