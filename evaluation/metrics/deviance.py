"""How much each factor explains of a yes/no answer: the drop in deviance when it leaves a logistic regression.

A *factor* is a name with its terms. A term is a column, whose values become dummies, or an interaction `"a:b"`, whose
combinations become dummies. `{"age": ["age"], "question x country": ["question:country"]}` are two factors.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg, sparse, stats

from .association import benjamini_hochberg
from .checks import at_least_one, coded_answers, columns_present, generator, known_option, unit_codes, whole_counts
from .logistic import LogisticFit, column_basis, fit_logistic
from .result import NAN, Estimate

FloatArray = NDArray[np.float64]
Factors = Mapping[str, Sequence[str]]
Marginality = Literal["type_ii", "with_interactions", "ignored"]

NO_ANSWER = "there is no valid answer with all factors"
NO_COLUMN = "what is left in the model already determines it, so it has no degree of freedom of its own"


@dataclass(frozen=True, slots=True)
class DroppedFactor:
    """`drop_in_deviance` follows chi-square with `df` degrees of freedom where the factor has no effect.

    `df` is a difference of ranks; with 0 of them `p` and `q` are NaN and `reason` says so.
    """

    reduced_deviance: float
    drop_in_deviance: float
    df: int
    p: float
    q: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DropOneDeviance:
    """The full model and what each factor adds to it.

    `df_model` is the rank without the intercept, `design_columns` counts the intercept and all dummies, redundant ones
    too. `n_separated` answers are fitted as certain, because a combination of levels has answers of one kind only:
    deviances hold there, but coefficients and Wald tests do not exist. `reason` is empty unless all is undefined.
    """

    n: int
    n_left_out: int
    deviance: float
    df_model: int
    design_columns: int
    n_separated: int
    factors: dict[str, DroppedFactor]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Grouped:
    """The distinct combinations of levels, and for each row its combination (`group`), outcome, place in the frame
    (`rows`) and how many answers it stands for (`times`)."""

    levels: pd.DataFrame
    group: NDArray[np.intp]
    outcome: FloatArray
    rows: NDArray[np.intp]
    times: FloatArray

    @property
    def trials(self) -> FloatArray:
        return np.bincount(self.group, weights=self.times).astype(np.float64)

    @property
    def successes(self) -> FloatArray:
        return np.bincount(self.group, weights=self.outcome * self.times).astype(np.float64)


def drop_one_deviance(
    answers: pd.DataFrame, *, outcome: str, factors: Factors, marginality: Marginality, times: str | None = None
) -> DropOneDeviance:
    """Likelihood-ratio test of each factor in one logistic regression, with q-values over its factors.

    `answers` has one row per answer, or per so many equal ones as the column `times` says; the column `outcome` is 1, 0
    or NaN. Answers without a valid outcome or with a missing level are left out and counted. An interaction keeps the
    columns of its main effects in the model, so `marginality` says what a main effect is compared with: "type_ii"
    leaves the interactions that contain it out of both models, "with_interactions" drops it together with them,
    "ignored" drops only its own columns, as PACT's scripts do, and then finds 0 degrees of freedom. The test takes
    answers to be independent; `clustered_p_values` does not. All is undefined without an answer; p is 1 where all
    outcomes are the same.
    Source: PACT, section 5.2; Fox (2016), sections 8.2 and 15.3; Benjamini and Hochberg (1995).

    >>> answers = pd.DataFrame({"country": list("NNNNJJJJ"), "age": list("yoyoyoyo")})
    >>> answers["follow"] = [1, 1, 1, 0, 0, 0, 1, 0]
    >>> found = drop_one_deviance(
    ...     answers, outcome="follow", factors={"country": ["country"], "age": ["age"]}, marginality="type_ii"
    ... )
    >>> found.df_model, found.factors["country"].df, round(found.factors["country"].p, 3)
    (2, 1, 0.063)
    """
    known_option(marginality, get_args(Marginality), what="marginality")
    grouped, terms = _grouped(answers, outcome, factors, times), _terms(factors)
    n = int(grouped.times.sum())
    n_left_out = (len(answers) if times is None else int(answers[times].sum())) - n
    if not grouped.outcome.size:
        nothing = DroppedFactor(NAN, NAN, 0, NAN, NAN, NO_ANSWER)
        return DropOneDeviance(0, n_left_out, NAN, 0, 0, 0, dict.fromkeys(factors, nothing), NO_ANSWER)
    dummies = {term: _dummies(grouped.levels, term) for term in terms}
    fit = _fitter(grouped, dummies)
    full = fit(frozenset(terms))
    tested = {
        name: _dropped(*(fit(model) for model in _models(terms, own, marginality))) for name, own in factors.items()
    }
    q_values = benjamini_hochberg([factor.p for factor in tested.values()])
    return DropOneDeviance(
        n=n,
        n_left_out=n_left_out,
        deviance=full.deviance,
        df_model=full.rank - 1,
        design_columns=1 + sum(block.shape[1] for block in dummies.values()),
        n_separated=int(grouped.trials[full.separated].sum()),
        factors={name: replace(factor, q=float(q)) for (name, factor), q in zip(tested.items(), q_values, strict=True)},
    )


def clustered_p_values(
    answers: pd.DataFrame,
    *,
    outcome: str,
    factors: Factors,
    marginality: Marginality,
    clusters: str,
    n_resamples: int,
    seed: int | np.random.Generator,
) -> dict[str, Estimate]:
    """The p-value of each factor where answers of one cluster, usually a respondent, may depend on each other.

    The score bootstrap: the model without the factor is fitted once; each resample gives the score of every cluster a
    random sign, and p is the share of score statistics at least as large as the observed one, counting that one.
    `clusters` is a column without missing labels; the other arguments are those of `drop_one_deviance`. `n` counts
    clusters. Undefined with fewer than two clusters and where the factor has no degree of freedom.
    Source: Kline and Santos (2012).

    >>> answers = pd.DataFrame({"person": range(8), "age": list("yyyyoooo"), "follow": [1, 1, 1, 1, 0, 0, 0, 0]})
    >>> clustered_p_values(
    ...     answers, outcome="follow", factors={"age": ["age"]}, marginality="type_ii", clusters="person",
    ...     n_resamples=999, seed=1,
    ... )["age"].value < 0.05
    True
    """
    at_least_one(n_resamples, what="n_resamples")
    known_option(marginality, get_args(Marginality), what="marginality")
    rng = generator(seed)
    columns_present(answers, [clusters], what="The answers frame")
    grouped = _grouped(answers, outcome, factors)
    if not grouped.outcome.size:
        return dict.fromkeys(factors, Estimate.undefined(NO_ANSWER))
    terms = _terms(factors)
    fit = _fitter(grouped, {term: _dummies(grouped.levels, term) for term in terms})
    cluster = unit_codes(answers[clusters].iloc[grouped.rows], what="The clusters")
    n_clusters = int(cluster.max()) + 1
    if n_clusters < 2:
        return dict.fromkeys(factors, Estimate.undefined("it needs answers of two clusters", n=n_clusters))
    signs = rng.choice([-1.0, 1.0], size=(n_resamples, n_clusters))
    found = {}
    for name, own in factors.items():
        full, reduced = (fit(model) for model in _models(terms, own, marginality))
        if full.rank == reduced.rank:
            found[name] = Estimate.undefined(NO_COLUMN, n=n_clusters)
            continue
        scores = _cluster_scores(full, reduced, grouped, cluster)
        observed = (scores.sum(axis=0) ** 2).sum()
        # Signs that are all the same give the observed statistic, but for rounding.
        as_large = np.sum(((signs @ scores) ** 2).sum(axis=1) >= observed * (1 - 1e-9))
        found[name] = Estimate((1 + int(as_large)) / (1 + n_resamples), n_clusters)
    return found


def _grouped(answers: pd.DataFrame, outcome: str, factors: Factors, times: str | None = None) -> _Grouped:
    if not isinstance(factors, Mapping) or not factors or not all(map(_is_list_of_terms, factors.values())):
        raise ValueError(f"The factors must map each name to a list of terms; this is {factors!r}.")
    columns = sorted({column for term in _terms(factors) for column in term.split(":")})
    columns_present(answers, [outcome, *columns], what="The answers frame")
    follow = coded_answers(answers[outcome], what=f"The outcome {outcome}")
    counts = np.ones(len(answers)) if times is None else _times(answers, times)
    usable = ~np.isnan(follow) & answers[columns].notna().all(axis=1).to_numpy() & (counts > 0)
    chosen = answers.loc[usable, columns]
    codes = pd.DataFrame({name: unit_codes(chosen[name], what=f"The levels of {name}") for name in columns})
    group = codes.groupby(columns, sort=False).ngroup().to_numpy().astype(np.intp)
    levels = codes.drop_duplicates().reset_index(drop=True)
    return _Grouped(levels, group, follow[usable], np.flatnonzero(usable), counts[usable])


def _times(answers: pd.DataFrame, times: str) -> FloatArray:
    columns_present(answers, [times], what="The answers frame")
    return whole_counts(answers[times], what=f"The column {times}", ndim=1)


def _is_list_of_terms(terms: object) -> bool:
    return isinstance(terms, list | tuple) and bool(terms) and all(isinstance(term, str) for term in terms)


def _terms(factors: Factors) -> list[str]:
    return list(dict.fromkeys(term for own in factors.values() for term in own))


def _models(
    terms: Sequence[str], own: Collection[str], marginality: Marginality
) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of the two models that a factor is tested with."""
    containing = {term for term in terms if any(set(part.split(":")) < set(term.split(":")) for part in own)}
    without = frozenset(terms) - (set() if marginality == "ignored" else containing) - set(own)
    full = without | set(own) if marginality == "type_ii" else frozenset(terms)
    return full, without


def _fitter(grouped: _Grouped, dummies: Mapping[str, FloatArray]) -> Callable[[frozenset[str]], LogisticFit]:
    """Fits an intercept and a set of terms; the same set only once."""
    intercept, trials, successes = np.ones((len(grouped.levels), 1)), grouped.trials, grouped.successes
    everything = column_basis(np.hstack([intercept, *dummies.values()]))
    # Columns in terms of that basis: the ranks of all models then come from small matrices.
    coordinates = {term: everything.T @ block for term, block in dummies.items()}

    @cache
    def fit(terms: frozenset[str]) -> LogisticFit:
        columns = np.hstack([everything.T @ intercept, *(coordinates[term] for term in sorted(terms))])
        return fit_logistic(everything @ column_basis(columns), trials=trials, successes=successes)

    return fit


def _dummies(levels: pd.DataFrame, term: str) -> FloatArray:
    """A column for every level or combination of the term that occurs, but the first."""
    codes = levels.groupby(term.split(":"), sort=False).ngroup().to_numpy()
    dummies: FloatArray = (codes[:, None] == np.arange(1, codes.max() + 1)).astype(np.float64)
    return dummies


def _dropped(full: LogisticFit, reduced: LogisticFit) -> DroppedFactor:
    drop, df = max(0.0, reduced.deviance - full.deviance), full.rank - reduced.rank
    if df == 0:
        return DroppedFactor(reduced.deviance, drop, 0, NAN, NAN, NO_COLUMN)
    return DroppedFactor(reduced.deviance, drop, df, float(stats.chi2.sf(drop, df)), NAN)


def _cluster_scores(
    full: LogisticFit, reduced: LogisticFit, grouped: _Grouped, cluster: NDArray[np.intp]
) -> FloatArray:
    """Scores of what only the full model has, at the reduced fit, by cluster: shape (clusters, df), each of variance 1
    if the reduced model holds and answers are independent.
    """
    fitted = reduced.probabilities
    information = (full.basis.T * (grouped.trials * fitted * (1 - fitted))) @ full.basis
    shared = full.basis.T @ reduced.basis
    own = linalg.null_space(shared.T)
    own -= shared @ linalg.pinvh(shared.T @ information @ shared, rtol=1e-12) @ shared.T @ information @ own
    variance, directions = linalg.eigh(own.T @ information @ own)
    informative = variance > 1e-12 * variance.max()
    residual = grouped.outcome - fitted[grouped.group]
    sums = sparse.coo_array((residual, (cluster, grouped.group)), shape=(cluster.max() + 1, len(fitted))).tocsr()
    scores: FloatArray = sums @ (full.basis @ own @ directions[:, informative] / np.sqrt(variance[informative]))
    return scores
