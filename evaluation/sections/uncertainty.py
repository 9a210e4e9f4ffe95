"""Do models waver on the items on which people disagree?"""

from collections import Counter
from typing import Any

from evaluation.figures import agreement_scatter
from evaluation.metrics.items import item_rates
from evaluation.metrics.uncertainty import uncertainty_correlation, why_uncorrelated
from evaluation.sections.comparison import Comparison, Setting
from evaluation.sections.shape import Figure, Section


def uncertainty(comparison: Comparison) -> Section | None:
    """A scatter for each question of the models that gave several answers an item; None without models."""
    plotted = [setting for setting in comparison.settings if setting.persona != "country"]
    drawn, undrawn = [], []
    for question in comparison.questions:
        reasons = {setting: _why_not(comparison, question, setting) for setting in plotted}
        if settings := [setting for setting, reason in reasons.items() if not reason]:
            drawn.append(_figure(comparison, question, settings))
        undrawn += [
            f"{comparison.label(setting)}, {setting.name.lower()}, {question}: {reason}."
            for setting, reason in reasons.items()
            if reason
        ]
    if not comparison.settings:
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


def _why_not(comparison: Comparison, question: str, setting: Setting) -> str:
    return why_uncorrelated(item_rates(comparison.items(question, setting)))


def _figure(comparison: Comparison, question: str, settings: list[Setting]) -> Figure:
    correlations = []
    for setting in settings:
        estimate = uncertainty_correlation(comparison.items(question, setting), method="pearson")
        name = f"{comparison.label(setting)}, {setting.name.lower()}"
        correlations.append(f"{name}: r = {estimate.value:.2f} (n = {estimate.n} items)")
    return Figure(
        code=f"uncertainty_{question}",
        title=f"Agreement of people and of models on each item: {question}",
        caption=f"{'; '.join(correlations)}. Larger points stand for several items. {comparison.legend}",
        spec=agreement_scatter([point for setting in settings for point in _points(comparison, question, setting)]),
    )


def _points(comparison: Comparison, question: str, setting: Setting) -> list[dict[str, Any]]:
    rates = item_rates(comparison.items(question, setting))
    pairs = zip(rates.human_agreement.round(6).tolist(), rates.model_agreement.round(6).tolist(), strict=True)
    return [
        {"who": comparison.line(setting), "mark": setting.mark, "u": u, "v": v, "items": items}
        for (u, v), items in sorted(Counter(pairs).items())
    ]
