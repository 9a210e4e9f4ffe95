"""Stages that people decide: labelling projects over items, and what was decided about an item in any run of a stage.

A decision belongs to an item's id and content: when a stage is run again, items that are as they were need no second
decision, and those that changed do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.models import Assignment, Decision, LabelProject
from annotation.refusals import LabelProjectError
from annotation.services import create_label_project
from llm.files.jobfile_parts import published_instrument
from materials.models import Dataset, Item
from protocols.context import StageContext
from protocols.stages import StageError
from responses.models import Response, SourceKind

Key = tuple[str, str]  # an item's external id and the hash of its content


class Given(NamedTuple):
    """What one person answered. `by_bot`: not a person at all."""

    item: Key
    question: str
    respondent: int
    value: Any
    by_bot: bool


def key_of(item: Item) -> Key:
    return item.external_id, item.content_hash


def start_labelling(
    ctx: StageContext,
    *,
    dataset: Dataset,
    instrument: str,
    title: str,
    questions: Sequence[Mapping[str, Any]],
    **settings: Any,
) -> LabelProject:
    """A labelling project of this run over the dataset; settings as for create_label_project. Raises StageError."""
    try:
        return create_label_project(
            project=ctx.project,
            name=ctx.title,
            dataset=dataset,
            instrument=published_instrument(ctx.project, instrument, title, [dict(question) for question in questions]),
            by=ctx.by,
            **settings,
        )
    except LabelProjectError as error:
        raise StageError(str(error)) from error


def label_projects(ctx: StageContext, code: str) -> list[LabelProject]:
    """Those of all runs of the stage, the earliest first."""
    slugs = [
        value
        for outputs in ctx.run.stage_runs.filter(code=code).order_by("id").values_list("outputs", flat=True)
        for name, value in outputs.items()
        if name.startswith("label_project")
    ]
    there = {one.slug: one for one in LabelProject.objects.filter(project=ctx.project, slug__in=slugs)}
    return [there[slug] for slug in slugs if slug in there]


def given_labels(ctx: StageContext, code: str) -> list[Given]:
    """What people answered in any run of the stage, as it stands."""
    places = Assignment.objects.filter(label_project__in=label_projects(ctx, code), status=Assignment.Status.SUBMITTED)
    found = Response.objects.filter(
        project=ctx.project, source_kind=SourceKind.ASSIGNMENT, source_id__in=places.values("pk"), superseded_by=None
    )
    rows = found.order_by("pk").values_list(
        "item__external_id", "item__content_hash", "question", "respondent_id", "value", "respondent__simulated"
    )
    return [Given((external_id, digest), *rest) for external_id, digest, *rest in rows]


def bots_note(given: Iterable[Given]) -> list[str]:
    """The sentence that belongs beside these answers where bots gave some of them."""
    bots = sum(one.by_bot for one in given)
    return [f"{bots:,} of these answers are of bots and say nothing about people."] if bots else []


def decided(ctx: StageContext, code: str) -> dict[Key, dict[str, Any]]:
    """By item and question what holds: the latest decision of an adjudicator, else the one answer most people gave.

    A question on which people are split has none.
    """
    votes: dict[Key, dict[str, Counter[Any]]] = defaultdict(lambda: defaultdict(Counter))
    for given in given_labels(ctx, code):
        if isinstance(given.value, str | int | float):
            votes[given.item][given.question][given.value] += 1
    result: dict[Key, dict[str, Any]] = {
        item: {question: best for question, counts in questions.items() if (best := _most_given(counts)) is not None}
        for item, questions in votes.items()
    }
    decisions = Decision.objects.filter(label_project__in=label_projects(ctx, code)).order_by("pk")
    for external_id, digest, question, value in decisions.values_list(
        "item__external_id", "item__content_hash", "question", "value"
    ):
        result.setdefault((external_id, digest), {})[question] = value
    return result


def undecided(items: Iterable[Item], known: Mapping[Key, Mapping[str, Any]]) -> list[Item]:
    """The items about which nothing is decided yet."""
    return [item for item in items if key_of(item) not in known]


def _most_given(counts: Counter[Any]) -> Any | None:
    (first, n), *others = counts.most_common(2)
    return None if others and others[0][1] == n else first
