"""The attitudes of all reactions, as answers about their posts, and the report on them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

from pydantic import Field

from llm.files.jobfile_parts import published_instrument
from llm.models import Call
from materials.models import Item
from protocols.care.stages.in_step import refuse_stale
from protocols.care.stages.lineage import of
from protocols.care.stages.simulating import BLIND, INFORMED
from protocols.care.tones import attitude_of, attitude_question, tone_question
from protocols.context import Made, StageContext
from protocols.reporting import ask_for_report, collect_reports
from protocols.stages import Stage, StageError, StageResult, StageSettings
from responses.models import RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many

INSTRUMENT = "care-reactions"
NO_ATTITUDE = "a tone without an attitude"
SOURCES = {"real": "annotate", "simulated": "annotate_simulated"}


class ReportSettings(StageSettings):
    seed: int = Field(default=1, description="Of resampling and of permutation tests.")
    resamples: int = Field(default=2000, ge=100, le=20_000, description="Bootstrap resamples of each interval.")


def derive(ctx: StageContext) -> StageResult:
    """Every reaction's attitude, by the locked mapping from its tone alone."""
    refuse_stale(ctx)
    mapping = {item.content["tone"]: item.content["attitude"] for item in ctx.items("attitudes")}
    why: Counter[str] = Counter()

    def derived(code: str) -> Iterator[Made]:
        for item in ctx.items(code):
            if item.content["tone"] not in mapping:
                why[NO_ATTITUDE] += 1
                continue
            content = item.content | {"attitude": attitude_of(item.content["tone"], mapping)}
            yield Made(item.external_id, content, of(item))

    made = {name: ctx.make_dataset(derived(code), part=name) for name, code in SOURCES.items()}
    out = sum(dataset.items.count() for dataset in made.values())
    if not out:
        raise StageError("No reaction has a tone with an attitude; lock the mapping of the list that labelled them.")
    _record(ctx, mapping)
    outputs = {f"dataset_{name}": dataset.slug for name, dataset in made.items()}
    return StageResult(outputs, out + why.total(), out, dict(why))


def _record(ctx: StageContext, mapping: Mapping[str, str]) -> None:
    """Store tone and attitude of each reaction as answers about the post, given by who wrote it.

    A real one was written by a person, who is a respondent; a person of the shipped files is a simulated one. A
    simulated one was written by the model, under the condition that says what it was told. Run again, the new answers
    stand in the place of the earlier ones.
    """
    instrument = published_instrument(
        ctx.project, INSTRUMENT, "Reactions", [tone_question(list(mapping)), attitude_question()]
    )
    posts = dict(ctx.dataset("sample").items.values_list("external_id", "pk"))
    answers = (
        answer
        for item, respondent, condition in chain(_observed(ctx), _simulated(ctx))
        if item.content["tone"] in mapping
        for answer in _answers(item, mapping, respondent, condition, posts[item.content["post"]])
    )
    record_many(
        project=ctx.project,
        instrument=instrument,
        answers=answers,
        source_kind=SourceKind.CALL,
        on_conflict="supersede",
    )


def _answers(item: Item, mapping: Mapping[str, str], respondent: int, condition: int, post: int) -> Iterator[Answer]:
    tone = item.content["tone"]
    for question, value in (("tone", tone), ("attitude", mapping[tone])):
        yield Answer(
            respondent_id=respondent,
            item_id=post,
            question=question,
            value=value,
            condition_id=condition,
            source_id=item.lineage["call"],
        )


def _observed(ctx: StageContext) -> Iterator[tuple[Item, int, int]]:
    """Each real reaction with the respondent who wrote it and the condition, which has no factors."""
    condition = get_condition(project=ctx.project, factors={}).pk
    for item in ctx.items("annotate"):
        writer = get_respondent(
            project=ctx.project,
            kind=RespondentKind.PARTICIPANT,
            key=f"reaction:{ctx.run.pk}:{item.external_id}",
            attributes={"community": item.content["community"]},
            simulated="simulated" in item.lineage,
        )
        yield item, writer.pk, condition


def _simulated(ctx: StageContext) -> Iterator[tuple[Item, int, int]]:
    """Each simulated reaction with the model that wrote it and the condition under which it did."""
    calls = {item.pk: item.lineage["call"] for item in ctx.items("simulate")}
    written = Call.objects.filter(pk__in=calls.values()).values_list("pk", "respondent_id", "condition_id")
    by_call = {pk: (respondent, condition) for pk, respondent, condition in written}
    for item in ctx.items("annotate_simulated"):
        yield item, *by_call[calls[item.lineage["item"]]]


def report(ctx: StageContext) -> StageResult:
    invented = ctx.dataset("derive", "dataset_real").items.filter(lineage__simulated=True).exists()
    parameters = {
        "dataset": ctx.output("sample")["dataset"],
        "instrument": INSTRUMENT,
        "tone": "tone",
        "attitude": "attitude",
        "kinds": [RespondentKind.PARTICIPANT],
        "people": "simulated" if invented else "real",
        "sessions": "all",
        "community": "item_community",
        "topic": "item_topic",
        "place": "item_scope",
        "keyphrases": ctx.output("salience")["table_all"],
        "condition": "cond_setting",
        "blind": BLIND,
        "informed": INFORMED,
        "seed": ctx.settings.seed,
        "resamples": ctx.settings.resamples,
    }
    return StageResult({"report": ask_for_report(ctx, "reactions", parameters)}, done=False)


DERIVE = Stage(
    code="derive",
    title="Attitudes",
    says="Gives every reaction, real or simulated, the attitude of its tone by the locked mapping, and stores both as "
    "answers about the post: of the person or the model that wrote it.",
    kind="transformation",
    needs=("sample", "attitudes", "annotate", "simulate", "annotate_simulated"),
    run=derive,
)
REPORT = Stage(
    code="report",
    title="Report",
    says="Compares simulated reactions with real ones: shares of attitudes, their errors and rank correlation, tones, "
    "each beside what one more person would reach, and which communities gain when they are named. It also draws which "
    "communities and keyphrases the sample comes from.",
    kind="report",
    needs=("salience", "sample", "derive"),
    settings=ReportSettings,
    run=report,
    collect=collect_reports,
)
