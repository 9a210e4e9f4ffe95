"""May a model stand in for an annotator? The alternative annotator test for each model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import pandas as pd

from evaluation.figures import interval_dots
from evaluation.metrics.ratings import ratings_matrix
from evaluation.metrics.replacement import AlternativeAnnotator, alternative_annotator_test
from evaluation.metrics.result import Estimate
from evaluation.replacement_report.parameters import ReplacementParameters
from evaluation.sections.answerers import Answerers, AskedModel, asked_models, label_among
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

VERDICTS = (
    Column("model", "Model", "name"),
    Column("annotators", "Annotators compared", "count", "n"),
    Column("items", "Items with a label", "count", "n"),
    Column("winning_rate", "Winning rate", "estimate", "0 to 1"),
    Column("advantage", "Advantage probability", "estimate", "0 to 1"),
    Column("passes", "May replace an annotator"),
)
ANNOTATORS = (
    Column("model", "Model", "name"),
    Column("annotator", "Annotator", "name"),
    Column("items", "Items compared", "count", "n"),
    Column("advantage", "Model at least as close", "estimate", "0 to 1"),
    Column("own_advantage", "Annotator at least as close", "estimate", "0 to 1"),
    Column("p_value", "One-sided test", "estimate", "p"),
    Column("q_value", "Adjusted", "estimate", "q"),
    Column("won", "Model wins"),
)
MODEL = "model"


@dataclass(frozen=True)
class Labels:
    """`labels` have a row for each `item`, `person` and `label`, `models` for each item, model and label with `n`."""

    asked: pd.DataFrame
    labels: pd.DataFrame
    models: pd.DataFrame
    persons: pd.DataFrame
    parameters: ReplacementParameters

    @cached_property
    def who(self) -> Answerers:
        return Answerers(self.persons, self.models)

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Items x people; missing where somebody gave two different labels under two conditions."""
        once = self.labels.drop_duplicates(["item", "person"], keep=False)
        return ratings_matrix(once, item="item", rater="person", value="label")

    @cached_property
    def tested(self) -> dict[AskedModel, AlternativeAnnotator]:
        """Each model, as it was asked, with what the test says of it."""
        found = {}
        for asked in asked_models(self.models):
            label = {item: _most_frequent(rows) for item, rows in asked.of(self.models).groupby("item")}
            table = self.ratings.assign(**{MODEL: self.ratings.index.map(label)}).astype(object)
            found[asked] = alternative_annotator_test(
                table, model=MODEL, epsilon=self.parameters.epsilon, min_items=self.parameters.min_items
            )
        return found

    def name(self, asked: AskedModel) -> str:
        return label_among(asked, self.tested)


def replacement_sections(
    data: Mapping[str, pd.DataFrame], parameters: ReplacementParameters
) -> Sequence[Callable[[], Section | None]]:
    """What computes each section from the frames of `evaluation.replacement_report.frames`."""
    labels = Labels(**data, parameters=parameters)
    return [partial(what_was_labelled, labels), partial(replacement, labels)]


def what_was_labelled(labels: Labels) -> Section:
    """Warnings, the question, and who labelled."""
    asked, parameters = labels.asked.iloc[0], labels.parameters
    kinds = " and ".join(f"{kind}s" for kind in parameters.kinds)
    columns = (
        Column("who", "Who", "name"),
        Column("people", "People", "count", "n"),
        Column("labels", "Labels", "count", "n"),
    )
    rows = tuple(
        Row(
            {"who": row["kind"].capitalize(), "people": row["persons"], "labels": row["n"]},
            marks=("simulated" if row["simulated"] else "human",),
        )
        for row in labels.persons.to_dict("records")
    )
    return Section(
        code="what_was_labelled",
        title="What was labelled",
        warnings=labels.who.warnings,
        paragraphs=(
            f"Dataset {asked['dataset']}, instrument {asked['instrument']}. {parameters.question}: “{asked['text']}” "
            f"People: {kinds}. Models answer without persona; a model's label is its most frequent answer to the item, "
            "and none where two are equally frequent. Superseded answers do not count.",
        ),
        tables=(Table("people", "People", "People with at least one label.", columns, rows),),
    )


def replacement(labels: Labels) -> Section | None:
    """A table of verdicts, one of the annotators behind them, and a figure; None without models."""
    if not labels.tested:
        return None
    parameters = labels.parameters
    return Section(
        code="replacement",
        title="May a model stand in for an annotator?",
        paragraphs=(
            "The alternative annotator test (Calderon, Reichart and Dror 2025) leaves out one annotator at a time and "
            "asks whom the others agree with more, item by item: the model or the one left out. The model wins against "
            f"an annotator who is not better by epsilon = {parameters.epsilon:g} or more (one-sided t-test, q at most "
            "0.05 after Benjamini and Yekutieli); with a winning rate of at least 0.5 it may replace one.",
            "The advantage probability is how often the model is at least as close to the others as an annotator is; "
            "it compares models and does not depend on epsilon. Intervals are over annotators, as if these were not "
            "judged by each other. Neither shows that the labels are right: where people share a mistake, a model that "
            "shares it wins.",
        ),
        tables=(_verdicts(labels), _annotators(labels)),
        figures=_figures(labels),
    )


def _verdicts(labels: Labels) -> Table:
    rows = tuple(
        Row(
            {
                "model": labels.name(asked),
                "annotators": len(found.annotators),
                "items": _items(labels, asked),
                "winning_rate": estimate_cell(found.winning_rate),
                "advantage": estimate_cell(found.advantage),
                "passes": _passes(found),
            },
            marks=(*labels.who.people_marks, asked.mark),
        )
        for asked, found in labels.tested.items()
    )
    caption = f"Annotators with at least {labels.parameters.min_items} items that the model and another one labelled."
    return Table("replacement", "Verdict", caption, VERDICTS, rows)


def _annotators(labels: Labels) -> Table:
    rows = tuple(
        Row(
            {
                "model": labels.name(asked),
                "annotator": f"Person {one.annotator}",
                "items": one.n,
                **{
                    name: estimate_cell(Estimate(getattr(one, name), one.n))
                    for name in ("advantage", "own_advantage", "p_value", "q_value")
                },
                "won": "yes" if one.won else "no",
            },
            marks=(*labels.who.people_marks, asked.mark),
            n_people=1,
        )
        for asked, found in labels.tested.items()
        for one in found.annotators
    )
    return Table("annotators", "Annotators", "Each annotator against the model, by the others.", ANNOTATORS, rows)


def _figures(labels: Labels) -> tuple[Figure, ...]:
    defined = {asked: found for asked, found in labels.tested.items() if len(found.annotators) > 1}
    if not defined:
        return ()
    rows = [
        {
            "who": labels.name(asked),
            "question": way,
            "mark": asked.mark,
            "label": f"{way} {two_decimals(estimate.value)}",
            **estimate_cell(estimate),
            **labels.who.marked(*labels.who.people_marks, asked.mark),
        }
        for asked, found in defined.items()
        for way, estimate in (("winning rate", found.winning_rate), ("advantage", found.advantage))
    ]
    figure = Figure(
        code="replacement",
        title="Models in the place of annotators",
        caption="Share of annotators against whom the model wins, and mean share of items on which it is at least as "
        f"close to the other annotators, with 95 % intervals over annotators (n). {labels.who.legend}",
        source=" ".join([f"Dataset {labels.asked['dataset'].iloc[0]}.", *labels.who.warnings]),
        spec=interval_dots(
            rows,
            who=[labels.name(asked) for asked in defined],
            x_title="Share",
            domain=(0, 1),
            caution=labels.who.caution,
        ),
    )
    return (figure,)


def _items(labels: Labels, asked: AskedModel) -> int:
    return len(set(asked.of(labels.models)["item"]) & set(labels.ratings.index))


def _passes(found: AlternativeAnnotator) -> str:
    if not found.winning_rate.defined:
        return "not tested"
    return "yes" if found.winning_rate.value >= 0.5 else "no"


def _most_frequent(answers: pd.DataFrame) -> str | None:
    counts = answers.groupby("label")["n"].sum()
    top = counts.index[counts == counts.max()]
    return str(top[0]) if len(top) == 1 else None
