"""Models ranked by battles between two of them, and how well that agrees with a reference ranking.

A *battles frame* has one row per battle: the models `left` and `right`, and the `winner`: left, right or tie. A tie is
half a win for each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import evalica
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.sparse.csgraph import connected_components

from .checks import columns_present, confidence_level, known_option, numbers
from .result import NAN, Estimate

FloatArray = NDArray[np.float64]
Method = Literal["kendall", "spearman"]

_WINNERS = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}


@dataclass(frozen=True, slots=True)
class Strengths:
    """`table` has a row for each model, strongest first: its log-strength `strength` and the bounds `low` and `high`.

    Strengths have mean 0. They are NaN, and `reason` says why, where no finite estimate exists.
    """

    table: pd.DataFrame
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Runs:
    """Mean over runs with its interval, and their standard deviation (n - 1), NaN for one run."""

    mean: Estimate
    sd: float


def win_rates(battles: pd.DataFrame) -> pd.DataFrame:
    """Share of battles that the model of the row won against that of the column, in [0, 1]; NaN where they never met.

    >>> battles = pd.DataFrame({"left": ["a", "b"], "right": ["b", "a"], "winner": ["left", "tie"]})
    >>> win_rates(battles)["b"].to_dict()
    {'a': 0.75, 'b': nan}
    """
    wins, models = _wins(battles)
    met = wins + wins.T
    rates = np.divide(wins, met, out=np.full(wins.shape, np.nan), where=met > 0)
    return pd.DataFrame(rates, index=models, columns=models)


def mean_win_rates(battles: pd.DataFrame) -> pd.Series:
    """Each model's win rate averaged over the opponents it met, in [0, 1], best first and equal ones by name.

    >>> battles = pd.DataFrame({"left": ["a", "a", "b"], "right": ["b", "b", "c"], "winner": ["left", "tie", "left"]})
    >>> mean_win_rates(battles).to_dict()
    {'a': 0.75, 'b': 0.625, 'c': 0.0}
    """
    checked = _battles(battles)
    return best_first(evalica.average_win_rate(checked["left"], checked["right"], _winners(checked)).scores)


def pooled_win_rates(battles: pd.DataFrame) -> pd.Series:
    """Each model's share of won battles, in [0, 1]: opponents count by how often they were met.

    >>> battles = pd.DataFrame({"left": ["a", "a", "b"], "right": ["b", "b", "c"], "winner": ["left", "tie", "left"]})
    >>> pooled_win_rates(battles).round(3).to_dict()
    {'a': 0.75, 'b': 0.5, 'c': 0.0}
    """
    wins, models = _wins(battles)
    return best_first(pd.Series(wins.sum(axis=1) / (wins + wins.T).sum(axis=1), index=models))


def best_first(scores: pd.Series) -> pd.Series:
    """Scores from high to low; equal ones by name, missing ones left out.

    >>> best_first(pd.Series({"b": 1.0, "a": 1.0, "c": 2.0, "d": float("nan")})).index.tolist()
    ['c', 'a', 'b']
    """
    return scores.dropna().sort_index().sort_values(ascending=False, kind="stable")


def bradley_terry(battles: pd.DataFrame, *, level: float = 0.95) -> Strengths:
    """Log-strengths by which model i beats j with probability 1 / (1 + exp(s_j - s_i)), with Wald intervals.

    The intervals treat battles as independent and are those of a strength against the mean of all. There is no finite
    estimate unless every model won against every other directly or by way of others, a tie counting both ways (the win
    graph is strongly connected). Sources: Bradley and Terry (1952); Ford (1957) for when it exists.

    >>> battles = pd.DataFrame({"left": ["a"] * 4, "right": ["b"] * 4, "winner": ["left"] * 3 + ["right"]})
    >>> bradley_terry(battles).table["strength"].round(4).to_dict()
    {'a': 0.5493, 'b': -0.5493}
    """
    confidence_level(level, what="level")
    wins, models = _wins(battles)
    n_parts, _ = connected_components(wins > 0, connection="strong")
    if n_parts != 1:
        reason = (
            "some models never won, directly or by way of others, against some others" if len(models) else "no battles"
        )
        return Strengths(pd.DataFrame(np.nan, index=models, columns=["strength", "low", "high"]), reason)
    checked = _battles(battles)
    fit = evalica.bradley_terry(checked["left"], checked["right"], _winners(checked), tolerance=1e-10, limit=10_000)
    strength = np.log(fit.scores.reindex(models).to_numpy())
    strength -= strength.mean()
    margin = float(stats.norm.ppf((1 + level) / 2)) * np.sqrt(np.diag(_covariance(strength, wins + wins.T)))
    table = pd.DataFrame({"strength": strength, "low": strength - margin, "high": strength + margin}, index=models)
    return Strengths(table.loc[best_first(table["strength"]).index])


def rank_correlation(battles: pd.DataFrame, *, reference: Sequence[str], method: Method) -> Estimate:
    """Correlation of mean win rates with the reference, best first, in [-1, 1]: Kendall's tau-b or Spearman's rho.

    `n` counts the models of the reference that battled; others are left out. Undefined with fewer than two of them or
    where all have one rate. Source: SenseJudge, section 4.2.2.

    >>> battles = pd.DataFrame({"left": ["a", "a", "b"], "right": ["b", "c", "c"], "winner": ["left", "left", "right"]})
    >>> round(rank_correlation(battles, reference=["a", "b", "c"], method="kendall").value, 4)
    0.3333
    """
    known_option(method, get_args(Method), what="method")
    _check_reference(reference)
    rates = mean_win_rates(battles)
    ranked = [model for model in reference if model in rates.index]
    values = rates[ranked].to_numpy()
    if len(ranked) < 2 or (values == values[0]).all():
        return Estimate.undefined("it needs two models with different win rates", n=len(ranked))
    places = -np.arange(len(ranked))
    test = stats.kendalltau(values, places) if method == "kendall" else stats.spearmanr(values, places)
    return Estimate(float(np.clip(test.statistic, -1, 1)), len(ranked), reason=_left_out(len(ranked), len(reference)))


def pairwise_order_agreement(battles: pd.DataFrame, *, reference: Sequence[str]) -> Estimate:
    """Share of pairs that met in which the model that stands first in the reference won more than half, in [0, 1].

    `n` counts those pairs, of models in the reference; exactly half is a disagreement. Undefined without any.

    >>> battles = pd.DataFrame({"left": ["a", "a", "b"], "right": ["b", "c", "c"], "winner": ["left", "tie", "right"]})
    >>> round(pairwise_order_agreement(battles, reference=["a", "b", "c"]).value, 4)
    0.3333
    """
    _check_reference(reference)
    rates = win_rates(battles)
    ranked = [model for model in reference if model in rates.index]
    better = rates.loc[ranked, ranked].to_numpy()[np.triu_indices(len(ranked), k=1)]
    met = better[~np.isnan(better)]
    if not met.size:
        return Estimate.undefined("no two models of the reference met")
    return Estimate(float((met > 0.5).mean()), met.size, reason=_left_out(len(ranked), len(reference)))


def repeated_runs(values: ArrayLike, *, level: float = 0.95) -> Runs:
    """Mean of one figure over repeated runs with Student's t interval.

    NaN bounds with one run. The interval is about other runs of the same procedure on the same items, not other items.

    >>> found = repeated_runs([70.0, 71.0, 72.0])
    >>> found.mean.value, round(found.mean.low, 2), found.sd
    (71.0, 68.52, 1.0)
    """
    confidence_level(level, what="level")
    runs = numbers(values, what="The runs", ndim=1)
    if not np.isfinite(runs).all():
        raise ValueError("The runs must all be finite numbers; leave out runs that failed.")
    n = runs.size
    if n < 2:
        what = "there are no runs" if not n else "an interval needs two runs"
        return Runs(Estimate(float(runs[0]), 1, reason=what) if n else Estimate.undefined(what), NAN)
    mean, sd = float(runs.mean()), float(runs.std(ddof=1))
    margin = float(stats.t.ppf((1 + level) / 2, n - 1)) * sd / math.sqrt(n)
    return Runs(Estimate(mean, n, mean - margin, mean + margin), sd)


def _battles(battles: pd.DataFrame) -> pd.DataFrame:
    what = "The battles frame"
    columns_present(battles, ["left", "right", "winner"], what=what)
    rows = battles[["left", "right", "winner"]].astype(object).reset_index(drop=True)
    for faulty, fault in (
        (~rows[["left", "right"]].map(lambda model: isinstance(model, str)).all(axis=1), "names no two models"),
        (rows["left"] == rows["right"], "has a model against itself"),
        (~rows["winner"].isin(list(_WINNERS)), "has a winner other than left, right or tie"),
    ):
        if faulty.any():
            raise ValueError(f"{what} needs two models and who won in every row; row {int(faulty.argmax())} {fault}.")
    return rows


def _winners(battles: pd.DataFrame) -> list[evalica.Winner]:
    return [_WINNERS[winner] for winner in battles["winner"]]


def _wins(battles: pd.DataFrame) -> tuple[FloatArray, pd.Index]:
    """Wins of the model of the row against that of the column, a tie half a win for each; and the models by name."""
    rows = _battles(battles)
    left, right, index = evalica.indexing(rows["left"], rows["right"])
    found = evalica.matrices(left, right, _winners(rows), index)
    order = np.argsort(index.to_numpy(dtype=object), kind="stable")
    wins = (found.win_matrix + found.tie_matrix / 2)[np.ix_(order, order)]
    return wins, index[order]


def _covariance(strength: FloatArray, met: FloatArray) -> FloatArray:
    """Of strengths with mean 0: the pseudo-inverse of Fisher's information."""
    probability = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    weight = met * probability * (1 - probability)
    information = np.diag(weight.sum(axis=1)) - weight
    return np.asarray(np.linalg.pinv(information, hermitian=True), dtype=np.float64)


def _check_reference(reference: Sequence[str]) -> None:
    if not isinstance(reference, list | tuple) or len(set(map(str, reference))) < max(1, len(reference)):
        raise ValueError(f"The reference must be a list of different models, the best first; this is {reference!r}.")


def _left_out(n: int, of: int) -> str:
    return f"{of - n} of {of} models of the reference left out: they are in no battle" if n < of else ""
