"""How well the people of a labelling project agree: for each criterion, and pooled over those with the same options."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from annotation.models import LabelProject
from evaluation.label_figure import agreement_figure
from evaluation.label_ratings import Criterion, criteria, read_ratings
from evaluation.metrics.annotators import annotator_pairs, confusion_table, disputed_items
from evaluation.metrics.criteria import category_agreement, criterion_agreement
from evaluation.metrics.ratings import ratings_matrix
from evaluation.metrics.result import Estimate
from evaluation.sections.shape import estimate_cell
from materials.models import Item

COEFFICIENTS = {
    "observed_agreement": "Observed",
    "cohen_kappa": "Cohen’s κ",
    "brennan_prediger": "Brennan-Prediger",
    "gwet_ac1": "Gwet’s AC1",
    "fleiss_kappa": "Fleiss’ κ",
    "krippendorff_alpha": "Krippendorff’s α",
    "weighted_kappa": "Weighted κ",
    "gwet_ac2": "Gwet’s AC2",
}
MOST_CELLS = 20_000_000  # alpha needs a number for each item and pair of categories
MOST_RATERS = 30  # in the matrix: those with the most answers
MOST_DISPUTED = 20


def compute_agreement(label_project: LabelProject) -> dict[str, Any]:
    """Everything that the pages show, as plain values: `rows`, one a criterion, pooled ones last.

    `coefficients` are those with a value, as names and titles; `undefined` the titles of the others with why; `figure`
    shows them. A row's
    `estimates` are by coefficient. Criteria have `details`: specific agreement, pairs of people with the confusion of
    their answers, and the most disputed items. Where nothing can be computed, `reason` says why.
    """
    asked = criteria(label_project)
    ratings = read_ratings(label_project, asked)
    names = dict(Item.objects.filter(pk__in=label_project.assignments.values("item")).values_list("pk", "external_id"))
    rows, pooled = [], []
    for group in _alike(asked):
        given = ratings[ratings["criterion"].isin([criterion.code for criterion in group])]
        if reason := _why_not(group[0], given):
            rows += [_row(criterion, {}, reason=reason) for criterion in group]
            continue
        found = criterion_agreement(
            given,
            item="item",
            criterion="criterion",
            rater="rater",
            value="value",
            categories=group[0].categories,
            scale=group[0].scale,
        )
        for criterion in group:
            of_it = given[given["criterion"] == criterion.code]
            if of_it.empty:
                rows.append(_row(criterion, {}, reason="nobody has answered it"))
                continue
            details = _details(criterion, ratings_matrix(of_it, item="item", rater="rater", value="value"), names)
            rows.append(_row(criterion, found.per_criterion[criterion.code], details=details))
        if len(found.per_criterion) > 1:
            pooled.append(_pooled(group, found.pooled))
    places = {criterion.code: place for place, criterion in enumerate(asked)}
    rows.sort(key=lambda row: places[row["code"]])
    defined, undefined = [], []
    for name, title in COEFFICIENTS.items():
        cells = [row["estimates"][name] for row in rows if name in row["estimates"]]
        if any(cell["value"] is not None for cell in cells):
            defined.append((name, title))
        elif cells:
            undefined.append((title, cells[0]["reason"]))
    figure = agreement_figure(label_project, rows + pooled)
    return {
        "rows": rows + pooled,
        "coefficients": defined,
        "undefined": undefined,
        "figure": asdict(figure) if figure else None,
    }


def _alike(asked: list[Criterion]) -> list[list[Criterion]]:
    """The criteria in groups of the same options."""
    groups: dict[Any, list[Criterion]] = {}
    for criterion in asked:
        groups.setdefault((criterion.categories, criterion.scale), []).append(criterion)
    return list(groups.values())


def _why_not(criterion: Criterion, given: pd.DataFrame) -> str:
    if given.empty:
        return "nobody has answered it"
    if len(given[["item", "criterion"]].drop_duplicates()) * len(criterion.categories) ** 2 > MOST_CELLS:
        return f"a scale of {len(criterion.categories)} points is too fine for so many items"
    return ""


def _row(
    criterion: Criterion, estimates: Mapping[str, Estimate], *, reason: str = "", details: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "code": criterion.code,
        "question": criterion.question,
        "text": criterion.text,
        "estimates": {name: estimate_cell(estimate) for name, estimate in estimates.items()},
        "reason": reason,
        "details": details,
    }


def _pooled(group: list[Criterion], estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        "code": "",
        "question": "",
        "text": f"Pooled over {len(group)} criteria: {', '.join(group[0].labels)}",
        "estimates": {name: estimate_cell(estimate) for name, estimate in estimates.items()},
        "reason": "",
        "details": None,
    }


def _details(criterion: Criterion, table: pd.DataFrame, names: Mapping[int, str]) -> dict[str, Any]:
    categories = criterion.categories
    specific = category_agreement(table, categories)
    raters = sorted(table.count().nlargest(MOST_RATERS).index)
    disputed = disputed_items(table, categories).query("disagreement > 0").head(MOST_DISPUTED)
    return {
        "labels": list(criterion.labels),
        "values": list(categories),
        "option": criterion.option,
        "specific": [
            (label, estimate_cell(specific[category]))
            for category, label in zip(categories, criterion.labels, strict=True)
        ],
        "raters": raters,
        "left_out": len(table.columns) - len(raters),
        "pairs": _pairs(table[raters], categories),
        "disputed": [
            (row["item"], names[row["item"]], row["n"], row["disagreement"])
            for row in disputed.reset_index(names="item").to_dict("records")
        ],
    }


def _pairs(table: pd.DataFrame, categories: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Those who share items, with their agreement and how their answers met (rows: the first one's)."""
    if len(table.columns) < 2:
        return []
    found = annotator_pairs(table, categories)
    return [
        {
            "first": pair["first"],
            "second": pair["second"],
            "n": pair["n"],
            "observed": estimate_cell(Estimate(pair["observed_agreement"], pair["n"])),
            "kappa": estimate_cell(Estimate(pair["cohen_kappa"], pair["n"], reason=pair["reason"])),
            "confusion": confusion_table(table[pair["first"]], table[pair["second"]], categories).to_numpy().tolist(),
        }
        for pair in found[found["n"] > 0].to_dict("records")
    ]
