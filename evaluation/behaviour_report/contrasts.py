"""Whether a person's age or gender, or the kind of preference, moves the models."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evaluation.behaviour_report.behaviour import Behaviour, percent_points, words
from evaluation.behaviour_report.parameters import MODEL, Contrast
from evaluation.behaviour_report.rates import ASKED, RATES, rate_cells
from evaluation.figures import interval_dots
from evaluation.metrics.association import chi_square, cramers_v
from evaluation.metrics.result import Estimate
from evaluation.metrics.sides import side_totals, sided_rates
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
Found = tuple[Contrast, Row]
LEAST_HALF_WIDTH = 2.0  # percentage points, so that a difference of nothing does not fill the figure


def contrasts(behaviour: Behaviour) -> Section | None:
    """None without contrasts."""
    found = list(_contrasts(behaviour))
    if not found:
        return None
    caption = f"Allow rates at the two levels, with intervals over {behaviour.unit}; the difference is the first minus "
    caption += "the second."
    rows = tuple(row for _, row in found)
    return Section(
        code="contrasts",
        title="Demographic contrasts",
        paragraphs=(
            "How much more often a model allows the preference at one level than at another, in percentage points, "
            "with Pearson's chi-square (without Yates' correction) and Cramér's V.",
            f"Intervals draw {behaviour.unit}, with the decisions at both levels where a unit has both. The test takes "
            "decisions to be independent, which those about variants of one item are not, and with many it finds the "
            "smallest differences; V has no interval for the same reason. Compare the differences.",
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
        for key, sides in behaviour.data[f"contrast_{number}"].groupby(["question", MODEL], sort=True):
            question, model = map(str, key)
            totals = side_totals(sides)
            culture = np.array([totals["n_right_culture"], totals["n_left_culture"]])
            table = np.column_stack([culture, [totals["n_right"], totals["n_left"]] - culture])
            rates, test = sided_rates(sides, **behaviour.drawn), chi_square(table)
            cells: dict[str, Any] = {
                "question": question,
                "model": model,
                "factor": words(contrast.name),
                "levels": f"{contrast.plus} − {contrast.minus}",
                "n_plus": totals["n_right"],
                "n_minus": totals["n_left"],
                "rate_plus": estimate_cell(rates["right"]),
                "rate_minus": estimate_cell(rates["left"]),
                "delta": estimate_cell(rates["delta_pp"]),
                "chi2": estimate_cell(Estimate(test.chi2, test.n, reason=test.reason)),
                "p": estimate_cell(Estimate(test.p, test.n, reason=test.reason)),
                "v": estimate_cell(cramers_v(table)),
            }
            yield contrast, Row(cells, behaviour.marks([model]))


def _figure(behaviour: Behaviour, question: str, found: list[Found]) -> Figure | None:
    dots = []
    for contrast, row in found:
        delta, model = row.cells["delta"], str(row.cells["model"])
        if row.cells["question"] == question and isinstance(delta, dict) and delta["value"] is not None:
            name, mark = f"{words(contrast.name)}, {row.cells['levels']}", behaviour.mark(model)
            label = f"{words(contrast.name)} {percent_points(delta['value'])}"
            dot = {"who": model, "question": name, "mark": mark, "label": label, **delta}
            dots.append(dot | behaviour.who.marked(mark))
    if not dots:
        return None
    widest = max(LEAST_HALF_WIDTH, *(1.1 * abs(dot[end] or 0) for dot in dots for end in ("value", "low", "high")))
    return Figure(
        code=f"contrasts_{question}",
        title=f"Demographic contrasts: {question}",
        caption="Allow rate at the first level minus that at the second, in percentage points, with 95 % bootstrap "
        f"intervals over {behaviour.unit}: right of zero the preference is allowed more often at the first. "
        f"{behaviour.who.legend}".strip(),
        source=behaviour.source,
        spec=interval_dots(
            dots,
            who=behaviour.models,
            x_title="Difference of the allow rates (pp)",
            domain=(-widest, widest),
            caution=behaviour.who.caution,
        ),
    )
