"""How often models follow culture or allow the preference, under which condition, and by how much that moves.

A *counts frame* has any columns that describe a cell (model, prompt, item...) and how many answers it holds: `n_rows`
in all, `n` valid ones, `n_culture` that follow culture. Its rows are summed, so single answers and counts grouped by a
database give the same numbers. Rates are over valid answers; points are percentage points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .association import chi_square, cramers_v
from .checks import column_names, columns_present, unique_rows, whole_counts
from .items import follows_culture
from .result import NAN

_COUNTS = ["n_rows", "n", "n_culture"]
_FRAME = "The counts frame"

NO_VALID = "there is no valid answer"
NO_BASELINE = "the baseline has no valid answer"


@dataclass(frozen=True, slots=True)
class LevelContrast:
    """Allow rates at two levels of a factor, and the table of levels x decisions behind them.

    `delta_pp` is the rate at `plus` minus that at `minus`, in percentage points; `chi2` has no Yates correction. NaN
    where a level has no valid answer or all decisions are the same, and `reason` says which.
    """

    n_plus: int
    n_minus: int
    rate_plus: float
    rate_minus: float
    delta_pp: float
    chi2: float
    p: float
    cramers_v: float
    reason: str


def decision_counts(decisions: pd.DataFrame, *, answer: str, culture: str, preference: str) -> pd.DataFrame:
    """The counts frame of single answers: the other columns as they are, with counts of 0 and 1.

    Labels are compared stripped and upper-case; what is neither `culture` nor `preference` is not valid.

    >>> frame = pd.DataFrame({"model": ["m", "m"], "decision": ["A", "?"]})
    >>> decision_counts(frame, answer="decision", culture="A", preference="B").values.tolist()
    [['m', 1, 1, 1], ['m', 1, 0, 0]]
    """
    columns_present(decisions, [answer], what="The decisions frame")
    chosen = follows_culture(decisions[answer], culture=culture, preference=preference)
    return decisions.drop(columns=answer).assign(
        n_rows=1, n=chosen.notna().astype(np.int64), n_culture=(chosen == 1).astype(np.int64)
    )


def decision_rates(counts: pd.DataFrame, *, by: Sequence[str]) -> pd.DataFrame:
    """One row for each combination of the columns `by` that occurs, in sorted order.

    Beside `by` and the counts it has `n_preference`, `n_unknown`, `culture_rate`, `allow_rate` (both over valid
    answers, NaN without any) and `unknown_rate` (over all). Rows with a missing value in `by` are left out.

    >>> counts = pd.DataFrame({"model": ["m", "m"], "n_rows": [3, 2], "n": [2, 2], "n_culture": [1, 2]})
    >>> decision_rates(counts, by=["model"])[["n", "culture_rate", "allow_rate", "unknown_rate"]].values.tolist()
    [[4.0, 0.75, 0.25, 0.2]]
    """
    keys = column_names(by, what="by")
    columns_present(counts, [*keys, *_COUNTS], what=_FRAME)
    whole_counts(counts[_COUNTS], what=_FRAME)
    summed = counts.groupby(keys)[_COUNTS].sum().reset_index().astype(dict.fromkeys(_COUNTS, np.int64))
    if ((summed["n_culture"] > summed["n"]) | (summed["n"] > summed["n_rows"])).any():
        raise ValueError(f"{_FRAME} must have n_culture no larger than n, and n no larger than n_rows.")
    n_rows, n, n_culture = (summed[name] for name in _COUNTS)
    return summed.assign(
        n_preference=n - n_culture,
        n_unknown=n_rows - n,
        culture_rate=n_culture / n.where(n > 0),
        allow_rate=(n - n_culture) / n.where(n > 0),
        unknown_rate=(n_rows - n) / n_rows.where(n_rows > 0),
    )


def ablation_deltas(counts: pd.DataFrame, *, by: Sequence[str], condition: str, baseline: str) -> pd.DataFrame:
    """The table of `decision_rates` by `by` and `condition`, with each allow rate against the baseline's.

    `delta_pp` is the allow rate minus `baseline_allow_rate`, that of the same `by` where `condition` is `baseline`.
    Where either has no valid answer it is NaN, and `reason` says which. Source: PACT, appendices B.4 to B.6.

    >>> counts = pd.DataFrame({"model": "m", "demo": ["no", "age"], "n_rows": 4, "n": 4, "n_culture": [2, 1]})
    >>> ablation_deltas(counts, by=["model"], condition="demo", baseline="no")[["demo", "delta_pp"]].values.tolist()
    [['age', 25.0], ['no', 0.0]]
    """
    keys = column_names(by, what="by")
    rates = decision_rates(counts, by=[*keys, condition])
    at_baseline = rates.loc[rates[condition] == baseline, [*keys, "allow_rate"]]
    compared = rates.merge(at_baseline.rename(columns={"allow_rate": "baseline_allow_rate"}), on=keys, how="left")
    own, reference = compared["allow_rate"], compared["baseline_allow_rate"]
    reasons = np.select([own.isna(), reference.isna()], [NO_VALID, NO_BASELINE], default="")
    return compared.assign(delta_pp=100 * (own - reference), reason=reasons)


def macro_rates(counts: pd.DataFrame, *, by: Sequence[str], over: str) -> pd.DataFrame:
    """Unweighted mean of the allow rates of the levels of `over`, for each combination of `by`.

    `n_averaged` counts the levels with a valid answer, `n_left_out` the others; the mean is NaN without any. PACT's
    figures average data sets so, while its appendix pools the answers, as `decision_rates` does.

    >>> counts = pd.DataFrame({"model": "m", "set": ["x", "y"], "n_rows": 9, "n": [1, 4], "n_culture": [0, 4]})
    >>> macro_rates(counts, by=["model"], over="set").values.tolist()
    [['m', 0.5, 2, 0]]
    """
    keys = column_names(by, what="by")
    rates = decision_rates(counts, by=[*keys, over]).groupby(keys)["allow_rate"]
    table = rates.agg(allow_rate="mean", n_averaged="count", n_left_out="size").reset_index()
    return table.assign(n_left_out=table["n_left_out"] - table["n_averaged"])


def level_contrast(counts: pd.DataFrame, *, factor: str, plus: str, minus: str) -> LevelContrast:
    """Allow rate at the level `plus` of a factor minus that at `minus`, with Pearson's chi-square and Cramer's V.

    The test takes answers to be independent, which those to variants of one item are not. Source: PACT, section 4.

    >>> counts = pd.DataFrame({"age": ["younger", "older"], "n_rows": 4, "n": 4, "n_culture": [1, 2]})
    >>> level_contrast(counts, factor="age", plus="younger", minus="older").delta_pp
    25.0
    """
    rates = decision_rates(counts, by=[factor]).set_index(factor).reindex([plus, minus])
    table = rates[["n_culture", "n_preference"]].fillna(0)
    test, (rate_plus, rate_minus) = chi_square(table), rates["allow_rate"]
    empty = [level for level, n in table.sum(axis=1).items() if not n]
    reason = f"no valid answer where {factor} is {' or '.join(map(str, empty))}" if empty else test.reason
    n_plus, n_minus = table.sum(axis=1).astype(int)
    return LevelContrast(
        n_plus=int(n_plus),
        n_minus=int(n_minus),
        rate_plus=float(rate_plus),
        rate_minus=float(rate_minus),
        delta_pp=100 * float(rate_plus - rate_minus),
        chi2=test.chi2,
        p=test.p,
        cramers_v=cramers_v(table).value,
        reason=reason,
    )


def style_deltas(values: pd.DataFrame, *, styles: Sequence[str], baseline: str) -> pd.DataFrame:
    """What prompt styles change in metrics, averaged over models without weights.

    `values` has the columns `style`, `model`, `metric` and `value`, one row each; NaN values are left out. The result
    has one row for each style and metric: `mean_over_models`, `n_models` that enter, `delta_points` (100 times the mean
    minus that of the baseline) and `reason`, which says why one is NaN. Styles that were not run have a row too. With
    other models than the baseline, a delta also holds the difference between models: compare `n_models`.
    Source: PACT, appendix F.5.

    >>> values = pd.DataFrame({"style": ["a", "b"], "model": "m", "metric": "rate", "value": [0.5, 0.75]})
    >>> style_deltas(values, styles=["a", "b"], baseline="a")["delta_points"].tolist()
    [0.0, 25.0]
    """
    names = column_names(styles, what="styles")
    columns_present(values, ["style", "model", "metric", "value"], what="The values frame")
    unique_rows(values, ["style", "model", "metric"], what="The values frame")
    means = values.groupby(["metric", "style"]).agg(mean_over_models=("value", "mean"), n_models=("value", "count"))
    metrics = list(dict.fromkeys(values["metric"]))
    every = pd.MultiIndex.from_product([metrics, names], names=["metric", "style"])
    table = means.reindex(every).reset_index()
    table["n_models"] = table["n_models"].fillna(0).astype(np.int64)
    at_baseline = means["mean_over_models"].to_dict()
    reference = table["metric"].map(lambda metric: at_baseline.get((metric, baseline), NAN))
    own = table["mean_over_models"]
    reasons = np.select(
        [own.isna(), reference.isna()],
        ["no model has a value in this style", f"no model has a value in the baseline style {baseline}"],
        default="",
    )
    return table.assign(delta_points=100 * (own - reference), reason=reasons)
