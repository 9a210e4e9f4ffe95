"""Whether a person's age or gender, or the kind of preference, moves the models."""

from collections.abc import Iterator
from math import isnan
from typing import Any

from evaluation.behaviour_report.behaviour import Behaviour, percent_points, words
from evaluation.behaviour_report.parameters import MODEL, Contrast
from evaluation.behaviour_report.rates import ASKED, RATES, rate_cells
from evaluation.figures import interval_dots
from evaluation.metrics.behaviour import LevelContrast, level_contrast
from evaluation.metrics.result import Estimate
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell

CONTRASTS = (
    *ASKED,
    Column("factor", "Of", "name"),
    Column("levels", "Levels", "name"),
    Column("n_plus", "Decisions, first", "count", "n"),
    Column("n_minus", "Decisions, second", "count", "n"),
    Column("rate_plus", "Allow rate, first", "estimate", "0 to 1"),
    Column("rate_minus", "Allow rate, second", "estimate", "0 to 1"),
    Column("delta", "First − second", "estimate", "pp"),
    Column("chi2", "Chi-square", "estimate", "1 df"),
    Column("p", "Chi-square test", "estimate", "p"),
    Column("v", "Cramér's V", "estimate", "0 to 1"),
)
Found = tuple[str, str, Contrast, LevelContrast]
LEAST_HALF_WIDTH = 2.0  # percentage points, so that a difference of nothing does not fill the figure


def contrasts(behaviour: Behaviour) -> Section | None:
    """None without contrasts."""
    found = list(_contrasts(behaviour))
    if not found:
        return None
    caption = "Allow rates at the two levels; the difference is the first minus the second."
    rows = tuple(_row(behaviour, *each) for each in found)
    return Section(
        code="contrasts",
        title="Demographic contrasts",
        paragraphs=(
            "How much more often a model allows the preference at one level than at another, in percentage points, "
            "with Pearson's chi-square (without Yates' correction) and Cramér's V.",
            "The test takes decisions to be independent, which those about variants of one item are not: it cannot "
            "show how sure a difference is, and with many items it finds the smallest. Compare the sizes.",
        ),
        tables=(Table("contrasts", "Contrasts", caption, CONTRASTS, rows),),
        figures=tuple(figure for question in behaviour.questions if (figure := _figure(behaviour, question, found))),
    )


def preferences(behaviour: Behaviour) -> Section | None:
    """None when no field with the kind of preference is named."""
    field = behaviour.parameters.preferences
    if field is None:
        return None
    rows = []
    for rate in behaviour.rates("preferences", ["question", MODEL, field]):
        question, model = rate.levels["question"], rate.levels[MODEL]
        cells = {"question": question, "model": model, "kind": rate.levels[field] or "none", **rate_cells(rate)}
        rows.append(Row(cells, behaviour.marks([model])))
    made = "by the keywords in its text" if behaviour.parameters.rules else f"as the field {words(field)} says"
    return Section(
        code="preferences",
        title="Kinds of preference",
        paragraphs=(
            f"This section shows the rates by the kind of preference of the item, {made}.",
            "Keywords are an aid to reading and no label by people; kinds differ in their items, not in the kind "
            "alone, so this cannot show that the kind is the cause.",
        ),
        tables=(
            Table(
                "preferences",
                "Rates by kind of preference",
                f"Rates of each model, with intervals over {behaviour.unit}.",
                (*ASKED, Column("kind", "Kind", "name"), *RATES),
                tuple(rows),
            ),
        ),
    )


def _contrasts(behaviour: Behaviour) -> Iterator[Found]:
    for number, contrast in enumerate(behaviour.parameters.contrasts):
        by_model = behaviour.data[f"contrast_{number}"].groupby(["question", MODEL], sort=True)
        for (question, model), counts in by_model:
            found = level_contrast(counts, factor=contrast.name, plus=contrast.plus, minus=contrast.minus)
            yield str(question), str(model), contrast, found


def _row(behaviour: Behaviour, question: str, model: str, contrast: Contrast, found: LevelContrast) -> Row:
    n = found.n_plus + found.n_minus
    numbers = {"delta": found.delta_pp, "chi2": found.chi2, "p": found.p, "v": found.cramers_v}
    cells: dict[str, Any] = {
        "question": question,
        "model": model,
        "factor": words(contrast.name),
        "levels": f"{contrast.plus} − {contrast.minus}",
        "n_plus": found.n_plus,
        "n_minus": found.n_minus,
        "rate_plus": estimate_cell(Estimate(found.rate_plus, found.n_plus, reason=found.reason)),
        "rate_minus": estimate_cell(Estimate(found.rate_minus, found.n_minus, reason=found.reason)),
        **{name: estimate_cell(Estimate(value, n, reason=found.reason)) for name, value in numbers.items()},
    }
    return Row(cells, behaviour.marks([model]))


def _figure(behaviour: Behaviour, question: str, found: list[Found]) -> Figure | None:
    dots = []
    for asked, model, contrast, delta in found:
        if asked == question and not isnan(delta.delta_pp):
            name, mark = f"{words(contrast.name)}, {contrast.plus} − {contrast.minus}", behaviour.mark(model)
            number = estimate_cell(Estimate(delta.delta_pp, delta.n_plus + delta.n_minus))
            label = f"{words(contrast.name)} {percent_points(delta.delta_pp)}"
            dot = {"who": model, "question": name, "mark": mark, "label": label, **number}
            dots.append(dot | behaviour.who.marked(mark))
    if not dots:
        return None
    widest = max([LEAST_HALF_WIDTH, *(1.25 * abs(dot["value"]) for dot in dots)])
    return Figure(
        code=f"contrasts_{question}",
        title=f"Demographic contrasts: {question}",
        caption="Allow rate at the first level minus that at the second, in percentage points: right of zero the "
        f"preference is allowed more often at the first. {behaviour.who.legend}".strip(),
        source=behaviour.source,
        spec=interval_dots(
            dots,
            who=behaviour.models,
            x_title="Difference of the allow rates (percentage points)",
            domain=(-widest, widest),
            caution=behaviour.who.caution,
        ),
    )
