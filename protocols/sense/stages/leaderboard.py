"""Models ranked by the judge under preferences of all annotators, against a ranking that people made."""

from collections import defaultdict
from collections.abc import Iterator

from pydantic import Field

from protocols.asking import Asked
from protocols.context import Made, StageContext
from protocols.reporting import ask_for_report, collect_reports
from protocols.sense.ranking import PREFERENCES_EACH, REFERENCE, drawn_preferences
from protocols.sense.split import SEED
from protocols.sense.stages.asking import Judge, asking_stage, marks
from protocols.sense.stages.judging import count, judging
from protocols.sense.stages.results import Reporting, about_pairs
from protocols.stages import EndpointNames, Stage, StageError, StageResult, StageSettings


class Drawing(StageSettings):
    models: EndpointNames = Field(
        default=(), description="Models to rank; none for all. Calls grow with the square of their number."
    )
    preferences_each: int = Field(
        default=PREFERENCES_EACH,
        ge=1,
        description="Preferences drawn of each annotator and topic; the paper says five of each annotator, and "
        "elsewhere five of each comparison.",
    )
    seed: int = Field(default=SEED, ge=0, description="What draws them.")


class Ranking(Reporting):
    reference: tuple[str, ...] = Field(
        default=REFERENCE, description="The ranking that people made, the best model first; the paper’s by default."
    )
    anchor: str = Field(
        default="", description="The model that alone is the opponent in the short ranking; none: the last."
    )


def draw(ctx: StageContext) -> StageResult:
    """Pairs of the ranking set under the preferences drawn for their topic."""
    ids: dict[tuple[str, str], list[str]] = defaultdict(list)
    preferences = {item.external_id: item for item in ctx.items("preferences")}
    for id, item in preferences.items():
        ids[item.content["annotator"], item.content["topic"]].append(id)
    drawn = drawn_preferences(ids, each=ctx.settings.preferences_each, seed=ctx.settings.seed)
    came = ctx.dataset("pairs", "dataset_ranking").items.count()
    used = 0

    def made() -> Iterator[Made]:
        nonlocal used
        for number, item in enumerate(ctx.items("pairs", "dataset_ranking"), start=1):
            content = item.content
            if ctx.settings.models and not {content["model_1"], content["model_2"]} <= {*ctx.settings.models}:
                continue
            used += 1
            content = content | {"pair": item.external_id}
            for id in drawn.get(content["topic"], ()):
                more = {"preference_id": id, "preference": preferences[id].content["preference"]}
                yield Made(f"{number}/{id}", content | more, {"item": item.pk, **marks(item, preferences[id])})

    dataset = ctx.make_dataset(made())
    if not dataset.items.exists():
        raise StageError("No pair of these models has a topic with preferences; choose other models.")
    why = {"of models that are not ranked": came - used} if came > used else {}
    return StageResult({"dataset": dataset.slug}, came, used, why)


def _judge(ctx: StageContext) -> Asked:
    return judging(ctx, ctx.dataset("ranking_pairs"), "judge")


def rank(ctx: StageContext) -> StageResult:
    names = ctx.dataset("ranking_pairs").items.values_list("content__model_1", "content__model_2").distinct()
    ranked = sorted({model for pair in names for model in pair})
    anchor = ctx.settings.anchor or ranked[-1]
    if anchor not in ranked:
        raise StageError(f"{anchor} is in no pair; the models are {', '.join(ranked)}.")
    ranking = {"ranked": ctx.output("ranking_pairs")["dataset"], "anchor": anchor, "reference": ctx.settings.reference}
    return StageResult({"report": ask_for_report(ctx, "judging", about_pairs(ctx) | ranking)}, done=False)


STAGES = (
    Stage(
        code="ranking_pairs",
        title="Ranking: pairs",
        says="Preferences of every annotator and topic are drawn, under which pairs of the models to rank are judged.",
        kind="transformation",
        needs=("pairs", "preferences"),
        settings=Drawing,
        run=draw,
    ),
    asking_stage(
        _judge,
        code="judge_ranking",
        title="Ranking: judge",
        says="The judge decides each pair under each drawn preference, in both orders.",
        needs=("ranking_pairs",),
        settings=Judge,
        prompts=["judge"],
        collect=count,
    ),
    Stage(
        code="ranking",
        title="Ranking",
        says="A report: the majority of preferences decides each pair. Models are ranked by their mean win rate, by "
        "Bradley-Terry, and by what they win against one opponent, beside what the labels say, and compared with a "
        "ranking that people made.",
        kind="report",
        needs=("pairs", "labels", "ranking_pairs", "judge_ranking"),
        settings=Ranking,
        run=rank,
        collect=collect_reports,
    ),
)
