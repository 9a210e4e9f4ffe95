"""Do models waver on the items on which people disagree?"""

from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

from evaluation.figures import agreement_scatter
from evaluation.metrics.alignment import alignment_summary
from evaluation.metrics.items import item_rates
from evaluation.metrics.result import Estimate
from evaluation.sections.comparison import Comparison, Setting
from evaluation.sections.shape import Figure, Section, n_items, two_decimals


def uncertainty(comparison: Comparison) -> Section | None:
    """A scatter for each question of the models that gave several answers an item; None without models."""
    plotted = [setting for setting in comparison.settings if setting.persona != "country"]
    if not plotted:
        return None
    drawn, undrawn = [], []
    for question in comparison.questions:
        items = {setting: comparison.items(question, setting) for setting in plotted}
        found = {setting: _correlation(comparison, frame) for setting, frame in items.items()}
        if varied := {setting: items[setting] for setting, estimate in found.items() if estimate.defined}:
            drawn.append(_figure(comparison, question, varied, found))
        undrawn += [f"{_name(comparison, who)}, {question}: {r.reason}." for who, r in found.items() if not r.defined]
    return Section(
        code="uncertainty",
        title="Where people disagree",
        paragraphs=(
            "The agreement of an item is the share of its more frequent answer: 1 when all answer alike, 0.5 when they "
            "split in half. Points on the dashed line agree as much among model answers as among people. A model that "
            "answers an item once agrees with itself for certain: several samples, or rates by the probabilities of "
            "its options, show whether it wavers.",
            *([f"Not drawn: {' '.join(undrawn)}"] if undrawn else []),
        ),
        figures=tuple(drawn),
    )


def _correlation(comparison: Comparison, items: pd.DataFrame) -> Estimate:
    """Pearson's r with its interval over items."""
    parameters = comparison.parameters
    return alignment_summary(items, n_resamples=parameters.resamples, seed=parameters.seed)["uncertainty_correlation"]


def _name(comparison: Comparison, setting: Setting) -> str:
    return f"{comparison.label(setting)}, {setting.name.lower()}"


def _figure(
    comparison: Comparison,
    question: str,
    varied: Mapping[Setting, pd.DataFrame],
    correlations: Mapping[Setting, Estimate],
) -> Figure:
    numbers = [
        f"{_name(comparison, setting)}: r = {_with_interval(found)} ({n_items(found.n)})"
        for setting, found in ((setting, correlations[setting]) for setting in varied)
    ]
    points = [point for setting, items in varied.items() for point in _points(comparison, setting, items)]
    return Figure(
        code=f"uncertainty_{question}",
        title=f"Agreement of people and of models on each item: {question}",
        caption=f"Share of the more frequent answer to each item, among people and among the model's answers, with "
        f"Pearson's r and its 95 % bootstrap interval over items. {'; '.join(numbers)}. Larger points stand for "
        f"several items. {comparison.who.legend}",
        source=comparison.source,
        spec=agreement_scatter(points, caution=comparison.who.caution),
    )


def _with_interval(found: Estimate) -> str:
    interval = "" if isnan(found.low) else f" [{two_decimals(found.low)}, {two_decimals(found.high)}]"
    return two_decimals(found.value) + interval


def _points(comparison: Comparison, setting: Setting, items: pd.DataFrame) -> list[dict[str, Any]]:
    """Each pair of agreements once, with how many items have it and `n`, the fewest people who answered one of them."""
    rates, usable = item_rates(items), items[(items["n_human"] > 0) & (items["n_model"] > 0)]
    agreement = {"u": rates.human_agreement.round(6), "v": rates.model_agreement.round(6), "n": usable["n_human"]}
    points = pd.DataFrame(agreement).groupby(["u", "v"])["n"].agg(items="size", n="min").reset_index()
    marked = comparison.who.marked(*comparison.who.people_marks, setting.mark)
    who = {"who": comparison.line(setting), "mark": setting.mark, **marked}
    return [{**who, "u": u, "v": v, "items": items, "n": n} for u, v, items, n in points.itertuples(index=False)]
