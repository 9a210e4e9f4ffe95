"""How models are asked for tones, the same way for pilot, real reactions and simulated ones."""

from collections.abc import Iterator, Sequence

from materials.models import Dataset
from protocols.asking import Asked, PromptFiles, answers
from protocols.care.prompts import FOLDER
from protocols.care.stages.lineage import of
from protocols.care.tones import tone_question
from protocols.context import Made, StageContext
from protocols.stages import StageResult

INSTRUMENT = "care-tone"
NO_TONE = "no valid tone"


def tone_prompt(architecture: str) -> PromptFiles:
    return PromptFiles(FOLDER, f"tone_{architecture}", version=2)


def asked_for_tones(
    ctx: StageContext,
    dataset: Dataset,
    *,
    architectures: Sequence[str],
    endpoints: Sequence[str],
    samples: int = 1,
    most: int | None = None,
) -> Asked:
    """Each item's primary tone. The condition of an answer names the version of the list."""
    tones = [item.content for item in ctx.items("tones")]
    shown = {tone["tone"]: {"definition": tone["definition"], "example": tone["example"]} for tone in tones}
    version = {"name": f"version {tones[0]['version']}", "value": shown}
    return Asked(
        dataset=dataset,
        instrument=INSTRUMENT,
        title="Tone of a reaction",
        questions=[tone_question(list(shown))],
        prompts=[tone_prompt(architecture) for architecture in architectures],
        endpoints=endpoints,
        kind="annotate",
        factors=[{"name": "tones", "levels": [version]}],
        fields={"option_orders": "written", "samples": samples, "max_items": most},
    )


def asked_as_chosen(ctx: StageContext, dataset: Dataset) -> Asked:
    """With the set-up that was chosen after the pilot."""
    chosen = ctx.output("set_up")["set_up"]
    return asked_for_tones(ctx, dataset, architectures=[chosen["architecture"]], endpoints=[chosen["endpoint"]])


def with_tones(ctx: StageContext, dataset: Dataset) -> StageResult:
    """The dataset's items with the tone that the stage's jobs gave; those without a valid one are counted."""

    def made() -> Iterator[Made]:
        for answered in answers(ctx, ctx.output(ctx.stage.code)["job"]):
            content = answered.item.content | {"tone": answered.values["tone"]}
            yield Made(answered.item.external_id, content, {**of(answered.item), **answered.lineage})

    n = dataset.items.count()
    labelled = ctx.make_dataset(made())
    out = labelled.items.count()
    return StageResult({"dataset": labelled.slug}, n, out, {NO_TONE: n - out} if out < n else {})
