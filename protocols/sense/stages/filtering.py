"""Dialogues are read, denoised by a model and sorted into topics, those that fit none by a person."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from llm.models import Job
from materials.models import Item
from materials.reading import read_rows
from materials.reading_faults import Fault, SourceError
from materials.reading_source import find_source
from protocols.asking import Answered, Asked, answers
from protocols.context import Made, StageContext
from protocols.files import Given, open_given
from protocols.labelling import decided, key_of, undecided
from protocols.sense.categories import subcategories
from protocols.sense.dialogues import Dialogue, DialogueError, first_of_each, read_dialogue, without_last_answer
from protocols.sense.instruments import CATEGORY_QUESTIONS, DENOISE_QUESTIONS, KEEP, NO_CATEGORY
from protocols.sense.stages.asking import AskOne, asking_stage, fields, prompt
from protocols.sense.stages.people import ask_people
from protocols.stages import Stage, StageError, StageResult, StageSettings

DIALOGUES = "dialogues"


class Reading(StageSettings):
    answered: Literal["cut", "leave_out"] = Field(
        default="cut",
        description="Dialogues that end with an assistant's answer: cut it off, so that it is asked for, or leave them "
        "out. The paper does not say; a fifth of the released dialogues end so.",
    )
    most: int | None = Field(default=None, ge=1, description="The first so many dialogues; empty for all.")


class Categorising(AskOne):
    temperature: float = Field(default=0, ge=0, le=2, description="The paper does not give it; 0 can be repeated.")


def read(ctx: StageContext) -> StageResult:
    given, why = ctx.files.get(DIALOGUES), Counter[str]()
    if given is None:
        raise StageError("Give a file of dialogues; the shipped ones are used only as long as no file was given.")
    came = list(_read(given))
    asked = []
    for dialogue in came:
        cut = without_last_answer(dialogue)
        if cut is None or (dialogue.ends_with_assistant and ctx.settings.answered == "leave_out"):
            why["ask nothing" if cut is None else "end with an answer"] += 1
        else:
            asked.append(cut)
    kept, copies = first_of_each(asked)
    if not kept:
        raise StageError(f"{given.name} has no dialogue that asks something; look at its messages.")
    taken = kept[: ctx.settings.most]
    made = ctx.make_dataset(
        Made(
            dialogue.id,
            {"query": dialogue.text, "messages": len(dialogue.messages), "last_message": dialogue.messages[-1].text},
            {"file": given.name, "sha256": given.sha256, "file_row": dialogue.source},
        )
        for dialogue in taken
    )
    why.update({"say the same as an earlier one": copies, "more than wanted": len(kept) - len(taken)})
    return StageResult({"dataset": made.slug}, len(came), len(taken), dict(+why))


def _read(given: Given) -> Iterator[Dialogue]:
    with open_given(given) as file:
        try:
            for entry in read_rows(file, find_source(file, given.name)):
                if isinstance(entry, Fault):
                    raise StageError(f"{given.name}, {entry}")
                number, content = entry
                try:
                    yield read_dialogue(content, number)
                except DialogueError as error:
                    raise StageError(f"{given.name}, row {number}: {error}") from error
        except SourceError as error:
            raise StageError(f"{given.name}: {error}") from error


def _denoise(ctx: StageContext) -> Asked:
    return Asked(
        dataset=ctx.dataset("read"),
        instrument="sense-denoise",
        title="Denoise",
        questions=DENOISE_QUESTIONS,
        prompts=[prompt("denoise")],
        endpoints=[ctx.settings.endpoint],
        kind=Job.Kind.ANNOTATE,
        fields=fields(ctx.settings),
    )


def _kept(ctx: StageContext) -> StageResult:
    came, why = ctx.dataset("read").items.count(), Counter[str]()
    found = list(answers(ctx, ctx.output("denoise")["job"]))
    kept = [answer for answer in found if answer.values["quality"] == KEEP]
    why.update(answer.values["quality"].replace("_", " ") for answer in found if answer not in kept)
    if came > len(found):
        why["without an answer"] = came - len(found)
    made = ctx.make_dataset(_made(answer) for answer in kept)
    return StageResult({"dataset": made.slug}, came, len(kept), dict(why))


def _made(answer: Answered, **more: Any) -> Made:
    return Made(answer.item.external_id, {**answer.item.content, **more}, answer.lineage)


def _categorise(ctx: StageContext) -> Asked:
    return Asked(
        dataset=ctx.dataset("denoise"),
        instrument="sense-category",
        title="Topic",
        questions=CATEGORY_QUESTIONS,
        prompts=[prompt("categorise")],
        endpoints=[ctx.settings.endpoint],
        kind=Job.Kind.ANNOTATE,
        fields=fields(ctx.settings),
    )


def _categorised(ctx: StageContext) -> StageResult:
    by_item = {answer.item.pk: answer for answer in answers(ctx, ctx.output("categorise")["job"])}
    sorted_, left = [], []
    for item in ctx.items("denoise"):
        answer = by_item.get(item.pk)
        if answer is None or answer.values["category"] == NO_CATEGORY:
            left.append(Made(item.external_id, item.content, {"item": item.pk}))
        else:
            sorted_.append(_made(answer, **_topic(answer.values["category"])))
    outputs = {"dataset": ctx.make_dataset(sorted_).slug}
    if left:
        outputs["dataset_uncategorised"] = ctx.make_dataset(left, part="uncategorised").slug
    why = {"for a person to sort": len(left)} if left else {}
    return StageResult(outputs, len(sorted_) + len(left), len(sorted_), why)


def _topic(category: str) -> dict[str, str]:
    return {"topic": subcategories()[category].topic, "subcategory": category}


def sort_by_hand(ctx: StageContext) -> StageResult:
    open_ones = undecided(_left(ctx), decided(ctx, ctx.stage.code))
    if not open_ones:
        return _sorted(ctx)
    return ask_people(
        ctx,
        ctx.dataset("categorise", "dataset_uncategorised"),
        open_ones,
        instrument="sense-category",
        title="Topic",
        questions=CATEGORY_QUESTIONS,
        item_fields=[{"field": "query", "label": "The dialogue"}],
        order="fixed",
    )


def _sorted(ctx: StageContext) -> StageResult:
    """All dialogues with a topic; what nobody sorted, or no topic fits, is left out."""
    known, why = decided(ctx, ctx.stage.code), Counter[str]()

    def made() -> Iterator[Made]:
        for item in ctx.items("categorise"):
            yield Made(item.external_id, item.content, {"item": item.pk})
        for item in _left(ctx):
            category = known.get(key_of(item), {}).get("category")
            if category in (None, NO_CATEGORY):
                why["not sorted" if category is None else "of no topic"] += 1
            else:
                yield Made(item.external_id, {**item.content, **_topic(category)}, {"item": item.pk, "by": "a person"})

    dataset = ctx.make_dataset(made())
    out = dataset.items.count()
    return StageResult({"dataset": dataset.slug}, out + why.total(), out, dict(why))


def _left(ctx: StageContext) -> list[Item]:
    there = "dataset_uncategorised" in ctx.output("categorise")
    return list(ctx.items("categorise", "dataset_uncategorised")) if there else []


STAGES = (
    Stage(
        code="read",
        title="Dialogues",
        says="Reads dialogues and leaves out those that ask nothing or say the same as an earlier one.",
        kind="import",
        settings=Reading,
        sources=(DIALOGUES,),
        run=read,
    ),
    asking_stage(
        _denoise,
        code="denoise",
        title="Denoise",
        says="A model drops what is redundant, ambiguous, of low quality or too simple, and says which of them it is.",
        needs=("read",),
        settings=AskOne,
        prompts=["denoise"],
        collect=_kept,
    ),
    asking_stage(
        _categorise,
        code="categorise",
        title="Topics",
        says="A model sorts each dialogue into one of 32 subcategories of eight topics.",
        needs=("denoise",),
        settings=Categorising,
        prompts=["categorise"],
        collect=_categorised,
    ),
    Stage(
        code="sort",
        title="Topics by hand",
        says="A person sorts what the model could not; where there is nothing of that kind this ends at once.",
        kind="labelling",
        needs=("categorise",),
        decides="A researcher or annotator: the topic of each dialogue that the model could not sort.",
        run=sort_by_hand,
        collect=_sorted,
    ),
)
