"""The numbers: how close each model comes to the people, beside how close people come to each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.figures import dot_panels
from evaluation.marks import Mark
from evaluation.metrics.alignment import alignment_summary
from evaluation.metrics.result import Estimate
from evaluation.sections.comparison import Comparison, Setting
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, n_items, two_decimals

COLUMNS = (
    Column("question", "Question", shown=False),
    Column("setting", "Answers as", "name"),
    Column("model", "Model", "name"),
    Column("against", "Compared with", shown=False),
    Column("items", "Items", "count", "n"),
    Column("majority_alignment", "Majority alignment", "estimate", "0 to 1"),
    Column("ceiling_majority_alignment", "Human ceiling", "estimate", "0 to 1"),
    Column("rate_mae", "Rate MAE", "estimate", "0 to 1"),
    Column("ceiling_rate_mae", "Human MAE", "estimate", "0 to 1"),
    Column("signed_culture_gap", "Signed culture gap", "estimate", "−1 to 1"),
    Column("signed_preference_gap", "Signed preference gap", "estimate", "−1 to 1"),
    Column("uncertainty_correlation", "Uncertainty correlation", "estimate", "Pearson r"),
    Column("ceiling_uncertainty_correlation", "Human correlation", "estimate", "Pearson r"),
)
PARAGRAPHS = (
    "Majority alignment is the share of items on which most answers of the model and most of the people are the same "
    "(a tie counts as culture). Rate MAE is the mean distance between the culture rates of model and people, item by "
    "item.",
    "The signed culture gap is the mean of the model's culture rate minus the people's, and so the difference of their "
    "mean rates: positive when the model follows the expectation more often than people do. Errors in opposite "
    "directions cancel in it, so it can be small where the rate MAE is large. The signed preference gap is the same "
    "number with the other sign: positive when the model allows the preference more often. The uncertainty correlation "
    "says whether the model wavers on the items on which people disagree.",
    "A model without persona is compared with all people, all personas together with the people of their countries, "
    "and a persona with the people of its country. Human ceiling, human MAE and human correlation are what people "
    "reach with people: one random half of the same people against the other half, on the items the model answered, "
    "the mean of {splits} splits. Halves are smaller than the whole, so a model can pass them. Signed gaps have no "
    "such number: between halves of the same people they are 0.",
    "Brackets are 95 % bootstrap intervals over items ({resamples} resamples, seed {seed}): they say how much a number "
    "depends on which items were asked, not on which people answered them. Those of what people reach are drawn over "
    "items, too, and each resample is averaged over the splits.",
)
NO_MODEL = "No model answered these questions yet: run a model job over this dataset, then make a new report."
CEILING = "Human ceiling"
PANELS: Mapping[str, tuple[str, tuple[float, float]]] = {
    "majority_alignment": ("Majority alignment", (0, 1)),
    "rate_mae": ("Rate MAE", (0, 1)),
    "signed_preference_gap": ("Signed preference gap", (-1, 1)),
    "uncertainty_correlation": ("Uncertainty correlation", (-1, 1)),
}


@dataclass(frozen=True, slots=True)
class Result:
    """One model's numbers on one question, with the ceiling on the same items."""

    question: str
    setting: Setting
    summary: Mapping[str, Estimate]
    ceiling: Mapping[str, Estimate]


def alignment(comparison: Comparison) -> Section:
    """A table for each question, and a figure of four panels."""
    results = [
        _result(comparison, question, setting) for question in comparison.questions for setting in comparison.settings
    ]
    numbers = comparison.parameters.model_dump(include={"splits", "resamples", "seed"})
    return Section(
        code="alignment",
        title="How close models come to people",
        paragraphs=tuple(text.format(**numbers) for text in PARAGRAPHS) if results else (NO_MODEL,),
        tables=tuple(_table(comparison, question, results) for question in comparison.questions) if results else (),
        figures=_figures(comparison, results),
    )


def _result(comparison: Comparison, question: str, setting: Setting) -> Result:
    parameters = comparison.parameters
    items = comparison.items(question, setting)
    answered = items[items["n_model"] > 0]  # the ceiling is read beside the model's number
    return Result(
        question,
        setting,
        alignment_summary(items, n_resamples=parameters.resamples, seed=parameters.seed),
        comparison.ceiling(answered),
    )


def _table(comparison: Comparison, question: str, results: Sequence[Result]) -> Table:
    named = f" Model: {comparison.models_in_words}." if comparison.one_model else ""
    return Table(
        code=f"alignment_{question}",
        title=f"Question “{question}”",
        caption=f"Models against people on the question {question}; n counts items that both answered.{named}",
        columns=tuple(
            replace(column, shown=not comparison.one_model) if column.key == "model" else column for column in COLUMNS
        ),
        rows=tuple(_row(comparison, result) for result in results if result.question == question),
    )


def _row(comparison: Comparison, result: Result) -> Row:
    setting = result.setting
    estimates = {**result.summary, **{f"ceiling_{name}": estimate for name, estimate in result.ceiling.items()}}
    return Row(
        cells={
            "question": result.question,
            "model": comparison.label(setting),
            "setting": setting.name,
            "against": setting.against,
            "items": result.summary["rate_mae"].n,
            **{column.key: estimate_cell(estimates[column.key]) for column in COLUMNS if column.kind == "estimate"},
        },
        marks=(*comparison.who.people_marks, setting.mark),
        answers=comparison.answers_of_model(result.question, setting),
        n_answers=int(comparison.model(result.question, setting)["n"].sum()),
        n_people=comparison.n_people(setting.countries),
    )


def _figures(comparison: Comparison, results: Sequence[Result]) -> tuple[Figure, ...]:
    """One figure with a panel for each of PANELS, without the single countries, of which there may be many."""
    drawn = [result for result in results if result.setting.persona != "country" and result.summary["rate_mae"].defined]
    if not drawn:
        return ()
    dots = [dot for question in comparison.questions for dot in _ceilings(comparison, question)]
    dots += [
        _dot(comparison, result, metric) for metric in PANELS for result in drawn if result.summary[metric].defined
    ]
    counts = [result.summary["rate_mae"].n for result in drawn]
    n = n_items(min(counts)) if len(set(counts)) == 1 else f"n = {min(counts)} to {max(counts)} items"
    who = dict.fromkeys(comparison.line(result.setting) for result in drawn)
    return (
        Figure(
            code="alignment",
            title=f"Alignment of models with people: {' and '.join(comparison.questions)}",
            caption=f"With 95 % bootstrap intervals over items; {n}. On top what split halves of all the people reach "
            "with each other, over all items they answered. Right of zero in the signed gap, the model allows the "
            "preference more often than people. "
            f"What is undefined is not drawn. {comparison.who.legend}",
            source=comparison.source,
            spec=dot_panels(dots, who=[CEILING, *who], panels=dict(PANELS.values()), caution=comparison.who.caution),
        ),
    )


def _dot(comparison: Comparison, result: Result, metric: str) -> dict[str, Any]:
    mark = result.setting.mark
    dot = _labelled(comparison.line(result.setting), result.question, mark, metric, result.summary[metric])
    dot["people"] = comparison.n_people(result.setting.countries)
    return dot | comparison.who.marked(*comparison.who.people_marks, mark)


def _ceilings(comparison: Comparison, question: str) -> Iterator[dict[str, Any]]:
    """The dots of the ceiling; that of the signed gap is 0 by its nature and left out."""
    found = comparison.ceiling(comparison.people_items(question))
    for metric in ("majority_alignment", "rate_mae", "uncertainty_correlation"):
        if found[metric].defined:
            dot = _labelled(CEILING, question, comparison.who.people_mark, metric, found[metric])
            yield dot | {"people": comparison.n_people()} | comparison.who.marked(*comparison.who.people_marks)


def _labelled(who: str, question: str, mark: Mark, metric: str, estimate: Estimate) -> dict[str, Any]:
    label = f"{question} {two_decimals(estimate.value)}"
    title, _ = PANELS[metric]
    return {"panel": title, "who": who, "question": question, "mark": mark, "label": label, **estimate_cell(estimate)}
