"""One label an item from several ratings: by majority, or by the model of Dawid and Skene.

Ratings are an items x raters table as from `ratings_matrix`; missing ratings are NaN.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from .checks import at_least_one, known_option
from .ratings import category_codes, category_counts

FloatArray = NDArray[np.float64]

Ties = Literal["undefined", "first_declared"]

NO_RATING = "nobody rated it"
TIED = "categories are tied"

# Two probabilities this close are equal: sums of thirds differ in the last digits.
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """What `dawid_skene` estimates.

    `labels` has the columns `label`, `probability` and `reason` for each item; `posterior` the probability of each
    category, items x categories. `prevalence` is how common each category is. `confusion` holds for each rater a table
    of the true category (rows) by the answer (columns), whose rows sum to 1; a row is NaN where the rater saw no item
    that might belong to the category. `log_likelihood` is of all ratings; `converged` is whether `iterations` were
    enough.
    """

    labels: pd.DataFrame
    posterior: pd.DataFrame
    prevalence: pd.Series
    confusion: dict[Hashable, pd.DataFrame]
    log_likelihood: float
    iterations: int
    converged: bool


def majority_labels(ratings: pd.DataFrame, categories: Sequence[Hashable], *, ties: Ties) -> pd.DataFrame:
    """The most frequent answer to each item: columns `label`, `share` (of the ratings, in [0, 1]), `n` and `reason`.

    A label is None, with a reason, without a rating and for a tie, unless `ties="first_declared"` lets the category
    that stands first among `categories` win. A rating that is not declared raises ValueError.

    >>> ratings = pd.DataFrame({"r": ["A", "A"], "s": ["A", "B"]}, index=["x", "y"])
    >>> majority_labels(ratings, ["A", "B"], ties="undefined")[["label", "reason"]].values.tolist()
    [['A', ''], [None, 'categories are tied']]
    """
    known_option(ties, get_args(Ties), what="ties")
    counts = category_counts(ratings, categories)
    n, most = counts.sum(axis=1), counts.max(axis=1)
    tied = (np.sum(counts == most[:, None], axis=1) > 1) & (ties == "undefined")
    reasons = np.select([n == 0, tied], [NO_RATING, TIED], default="")
    shares = np.divide(most, n, out=np.full(len(n), np.nan), where=n > 0)
    labels = _labels(counts.argmax(axis=1), categories, reasons, ratings.index)
    return pd.DataFrame({"label": labels, "share": shares, "n": n, "reason": reasons})


def dawid_skene(
    ratings: pd.DataFrame,
    categories: Sequence[Hashable],
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
) -> DawidSkene:
    """Labels from raters who err each in their own way, by maximum likelihood.

    Each item has one true category, and each rater answers to it with probabilities of their own (`confusion`),
    independently of the others. The EM algorithm starts from the shares of the answers to each item and ends when an
    iteration adds less than `tolerance` to the log-likelihood per rating, or after `max_iterations`. It may end in a
    local maximum. A label is None, with a reason, where nobody rated the item, which then does not enter, and where the
    most probable categories are equally so. A rating that is not declared raises ValueError, and so do ratings that are
    all missing. Source: Dawid and Skene (1979).

    >>> ratings = pd.DataFrame({"r": list("AABBA"), "s": list("AABBA"), "t": list("BABAB")})
    >>> found = dawid_skene(ratings, ["A", "B"])
    >>> "".join(found.labels["label"]), found.converged, found.confusion["t"].loc["A"].round(2).tolist()
    ('AABBA', True, [0.33, 0.67])
    """
    at_least_one(max_iterations, what="max_iterations")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance must lie between 0 and 1; it is {tolerance!r}.")
    codes, q = category_codes(ratings, categories), len(categories)
    rated = (codes >= 0).any(axis=1)
    if not rated.any():
        raise ValueError("Dawid-Skene needs ratings, and here are none; label some items first.")
    answers = _answers(codes[rated], q)
    posterior, log_likelihood, iterations, converged = _em(answers, q, tolerance, max_iterations)
    prevalence, confusion = _maximise(answers, posterior)
    names, items = pd.Index(list(categories), dtype=object), ratings.index
    everything = np.full((len(ratings), q), np.nan)
    everything[rated] = posterior
    by_rater = confusion.reshape(-1, q, q).transpose(0, 2, 1)
    return DawidSkene(
        labels=_most_probable(everything, categories, items),
        posterior=pd.DataFrame(everything, index=items, columns=names),
        prevalence=pd.Series(prevalence, index=names),
        confusion={
            rater: pd.DataFrame(by_rater[column], index=names, columns=names)
            for column, rater in enumerate(ratings.columns)
        },
        log_likelihood=log_likelihood,
        iterations=iterations,
        converged=converged,
    )


def _answers(codes: NDArray[np.int64], q: int) -> sparse.csr_array:
    """One row an item, one column for each answer of each rater, 1 where it was given."""
    item, rater = np.nonzero(codes >= 0)
    places = (item, rater * q + codes[item, rater])
    return sparse.csr_array((np.ones(item.size), places), shape=(len(codes), codes.shape[1] * q))


def _em(
    answers: sparse.csr_array, q: int, tolerance: float, max_iterations: int
) -> tuple[FloatArray, float, int, bool]:
    n_raters = answers.shape[1] // q
    given = np.asarray(answers @ np.tile(np.eye(q), (n_raters, 1)))
    posterior, before = given / given.sum(axis=1, keepdims=True), -np.inf
    for iteration in range(1, max_iterations + 1):
        posterior, after = _expect(answers, *_maximise(answers, posterior))
        if after - before < tolerance * answers.nnz:
            return posterior, after, iteration, True
        before = after
    return posterior, before, max_iterations, False


def _maximise(answers: sparse.csr_array, posterior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Prevalence, shape (q,), and the probability of each answer by true category, shape (raters * q, q)."""
    q = posterior.shape[1]
    expected = np.asarray(answers.T @ posterior)
    totals = np.repeat(expected.reshape(-1, q, q).sum(axis=1), q, axis=0)
    return posterior.mean(axis=0), np.divide(expected, totals, out=np.full_like(totals, np.nan), where=totals > 0)


def _expect(answers: sparse.csr_array, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, float]:
    with np.errstate(divide="ignore"):
        logs = np.log(prevalence) + np.asarray(answers @ np.log(np.nan_to_num(confusion)))
    most = logs.max(axis=1, keepdims=True)
    likelihoods = np.exp(logs - most)
    sums = likelihoods.sum(axis=1, keepdims=True)
    return likelihoods / sums, float(np.sum(np.log(sums) + most))


def _most_probable(posterior: FloatArray, categories: Sequence[Hashable], items: pd.Index) -> pd.DataFrame:
    filled = np.nan_to_num(posterior)
    most = filled.max(axis=1)
    tied = np.sum(filled > most[:, None] - _EQUAL, axis=1) > 1
    reasons = np.select([most == 0, tied], [NO_RATING, TIED], default="")
    labels = _labels(filled.argmax(axis=1), categories, reasons, items)
    return pd.DataFrame({"label": labels, "probability": posterior.max(axis=1), "reason": reasons})


def _labels(
    codes: NDArray[np.intp], categories: Sequence[Hashable], reasons: NDArray[np.str_], items: pd.Index
) -> pd.Series:
    labels = [None if reason else categories[code] for code, reason in zip(codes, reasons, strict=True)]
    return pd.Series(labels, index=items, dtype=object)
