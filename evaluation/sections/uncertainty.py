"""Do models waver on the items on which people disagree?"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluation.figures import agreement_scatter
from evaluation.metrics.items import ItemRates, item_rates
from evaluation.metrics.uncertainty import why_uncorrelated
from evaluation.sections.comparison import Comparison, Setting
from evaluation.sections.shape import Figure, Section


def uncertainty(comparison: Comparison) -> Section | None:
    """A scatter for each question of the models that gave several answers an item; None without models."""
    plotted = [setting for setting in comparison.settings if setting.persona != "country"]
    drawn, undrawn = [], []
    for question in comparison.questions:
        rates = {setting: item_rates(comparison.items(question, setting)) for setting in plotted}
        reasons = {setting: why_uncorrelated(found) for setting, found in rates.items()}
        if varied := {setting: found for setting, found in rates.items() if not reasons[setting]}:
            drawn.append(_figure(comparison, question, varied))
        undrawn += [f"{_name(comparison, who)}, {question}: {reason}." for who, reason in reasons.items() if reason]
    if not plotted:
        return None
    return Section(
        code="uncertainty",
        title="Where people disagree",
        paragraphs=(
            "The agreement of an item is the share of its more frequent answer: 1 when all answer alike, 0.5 when they "
            "split in half. Points on the dashed line agree as much among model answers as among people.",
            *([f"Not drawn: {' '.join(undrawn)}"] if undrawn else []),
        ),
        figures=tuple(drawn),
    )


def _name(comparison: Comparison, setting: Setting) -> str:
    return f"{comparison.label(setting)}, {setting.name.lower()}"


def _figure(comparison: Comparison, question: str, varied: Mapping[Setting, ItemRates]) -> Figure:
    correlations = [
        f"{_name(comparison, setting)}: r = {_pearson(rates):z.2f} (n = {rates.n} items)"
        for setting, rates in varied.items()
    ]
    points = [point for setting, rates in varied.items() for point in _points(comparison, setting, rates)]
    return Figure(
        code=f"uncertainty_{question}",
        title=f"Agreement of people and of models on each item: {question}",
        caption=f"{'; '.join(correlations)}. Larger points stand for several items. {comparison.legend}",
        spec=agreement_scatter(points),
    )


def _pearson(rates: ItemRates) -> float:
    return float(np.corrcoef(rates.human_agreement, rates.model_agreement)[0, 1])


def _points(comparison: Comparison, setting: Setting, rates: ItemRates) -> list[dict[str, Any]]:
    pairs = zip(rates.human_agreement.round(6).tolist(), rates.model_agreement.round(6).tolist(), strict=True)
    return [
        {"who": comparison.line(setting), "mark": setting.mark, "u": u, "v": v, "items": items}
        for (u, v), items in sorted(Counter(pairs).items())
    ]
