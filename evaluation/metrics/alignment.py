"""How close the answers of models come to those of people, item by item.

All functions take an items frame (see `items`): one row per item, with the number of valid human and model answers and
how many of each chose culture. Items that one side did not answer are left out, and `reason` says how many. With h the
human and m the model culture rate of an item, every number is a mean over items. Source: PACT, appendix F.1.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from .checks import at_least_one, generator
from .items import FloatArray, ItemRates, check_counts, item_rates
from .resampling import Statistic, bootstrap_interval, weighted_mean, weighted_pearson
from .result import Estimate
from .uncertainty import NO_ITEMS, uncertainty_correlation, why_uncorrelated


def majority_alignment(items: pd.DataFrame) -> Estimate:
    """Share of items on which the majority of model answers is that of the human answers, in [0, 1]; higher is better.

    A tie counts as culture on either side. Undefined without items.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> majority_alignment(items).value
    0.5
    """
    return _over_items("majority_alignment", items)


def rate_mae(items: pd.DataFrame) -> Estimate:
    """Mean of abs(m - h), in [0, 1]; lower is better. For two options this is the total variation distance.

    With one model answer an item it cannot fall below `rate_mae_floor`. Undefined without items.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> rate_mae(items).value
    0.5
    """
    return _over_items("rate_mae", items)


def rate_abs_diff_of_means(items: pd.DataFrame) -> Estimate:
    """Absolute difference between the mean of m and the mean of h, in [0, 1]; lower is better.

    PACT's figures print it as mean absolute error. Errors in opposite directions cancel, so it never exceeds
    `rate_mae`. Undefined without items.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> rate_abs_diff_of_means(items).value
    0.25
    """
    return _over_items("rate_abs_diff_of_means", items)


def signed_culture_gap(items: pd.DataFrame) -> Estimate:
    """Mean of m - h, in [-1, 1]: positive when models follow culture more often than people. Undefined without items.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> signed_culture_gap(items).value
    0.25
    """
    return _over_items("signed_culture_gap", items)


def signed_preference_gap(items: pd.DataFrame) -> Estimate:
    """The negative of `signed_culture_gap`: positive when models allow the preference more often than people.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> signed_preference_gap(items).value
    -0.25
    """
    return _over_items("signed_preference_gap", items)


def human_culture_rate(items: pd.DataFrame) -> Estimate:
    """Mean of h over the items that both sides answered, in [0, 1]. Undefined without items.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> human_culture_rate(items).value
    0.5
    """
    rates = item_rates(items)
    return _point(weighted_mean(rates.human), rates)


def model_culture_rate(items: pd.DataFrame) -> Estimate:
    """Mean of m over the items that both sides answered, in [0, 1]. Undefined without items.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> model_culture_rate(items).value
    0.75
    """
    rates = item_rates(items)
    return _point(weighted_mean(rates.model), rates)


def rate_mae_floor(items: pd.DataFrame) -> Estimate:
    """Mean of min(h, 1-h), in [0, 0.5]: the lowest `rate_mae` of a model that gives one answer to each item.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> rate_mae_floor(items).value
    0.25
    """
    rates = item_rates(items)
    return _point(weighted_mean(np.minimum(rates.human, 1 - rates.human)), rates)


def item_means(items: pd.DataFrame) -> dict[str, Estimate]:
    """The metrics named in `ITEM_MEANS`, each as by the function of that name; the items are counted only once.

    >>> from evaluation.metrics.items import items_frame
    >>> [found.value for found in item_means(items_frame([4, 4], [3, 1], [4, 4], [2, 4])).values()]
    [0.5, 0.5, 0.25, 0.25, -0.25]
    """
    rates = item_rates(items)
    return {name: _point(statistic(rates), rates) for name, statistic in _STATISTICS.items()}


def alignment_summary(items: pd.DataFrame, *, n_resamples: int = 2000, seed: int) -> dict[str, Estimate]:
    """The alignment numbers of a report, each with a 95 % percentile bootstrap interval over items.

    `items` has the columns `item`, `n_human`, `n_human_culture`, `n_model`, `n_model_culture`. The keys are
    `majority_alignment`, `rate_mae`, `rate_abs_diff_of_means`, `signed_culture_gap`, `signed_preference_gap` and
    `uncertainty_correlation` (Pearson). All intervals come from the same resamples. With fewer than two items they are
    NaN; resamples without a value are left out of the percentiles, and `reason` says how many.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([4, 4], [3, 1], [4, 4], [2, 4])
    >>> summary = alignment_summary(items, n_resamples=200, seed=1)
    >>> summary["signed_culture_gap"]
    Estimate(value=0.25, n=2, low=-0.25, high=0.75, reason='')
    """
    at_least_one(n_resamples, what="n_resamples")
    generator(seed)
    rates = item_rates(items)
    summary = {
        name: _with_interval(_point(statistic(rates), rates), statistic(rates), rates, n_resamples, seed)
        for name, statistic in _STATISTICS.items()
    }
    correlation = uncertainty_correlation(items, method="pearson")
    if not why_uncorrelated(rates):
        statistic = weighted_pearson(rates.human_agreement, rates.model_agreement)
        correlation = _with_interval(correlation, statistic, rates, n_resamples, seed)
    return summary | {"uncertainty_correlation": correlation}


def alignment_changes(
    before: pd.DataFrame, after: pd.DataFrame, *, n_resamples: int = 2000, seed: int
) -> dict[str, Estimate]:
    """The numbers of `after` minus those of `before`, for `majority_alignment` and `rate_mae`, both in [-1, 1].

    Two items frames of the same people about the same items in the same order, with a model's answers under two
    conditions; items without answers of the people or of one condition are left out. The 95 % percentile bootstrap
    draws each item with both answers; with fewer than two items there is no interval, and `reason` says so. Undefined
    without items.

    >>> from evaluation.metrics.items import items_frame
    >>> before, after = items_frame([4, 4], [3, 1], [1, 1], [1, 1]), items_frame([4, 4], [3, 1], [1, 1], [1, 0])
    >>> {name: found.value for name, found in alignment_changes(before, after, seed=1).items()}
    {'majority_alignment': 0.5, 'rate_mae': -0.25}
    """
    at_least_one(n_resamples, what="n_resamples")
    generator(seed)
    (people, plain), (same_people, changed) = (np.hsplit(check_counts(frame), 2) for frame in (before, after))
    if before["item"].tolist() != after["item"].tolist() or not np.array_equal(people, same_people):
        raise ValueError("Both items frames must have the same people's answers to the same items, in the same order.")
    twice = (plain[:, 0] > 0) & (changed[:, 0] > 0)
    first, second = (
        item_rates(frame.assign(**{name: frame[name].where(twice, 0) for name in ("n_model", "n_model_culture")}))
        for frame in (before, after)
    )

    def change(name: str) -> Statistic:
        without, with_change = _STATISTICS[name](first), _STATISTICS[name](second)
        return lambda weights: with_change(weights) - without(weights)

    return {
        name: _with_interval(_point(change(name), second), change(name), second, n_resamples, seed)
        for name in ("majority_alignment", "rate_mae")
    }


def _abs_weighted_mean(values: FloatArray) -> Statistic:
    mean = weighted_mean(values)
    return lambda weights: np.abs(mean(weights))


_STATISTICS: Mapping[str, Callable[[ItemRates], Statistic]] = MappingProxyType(
    {
        "majority_alignment": lambda r: weighted_mean((r.human_majority == r.model_majority).astype(np.float64)),
        "rate_mae": lambda r: weighted_mean(np.abs(r.model - r.human)),
        "rate_abs_diff_of_means": lambda r: _abs_weighted_mean(r.model - r.human),
        "signed_culture_gap": lambda r: weighted_mean(r.model - r.human),
        "signed_preference_gap": lambda r: weighted_mean(r.human - r.model),
    }
)
ITEM_MEANS = tuple(_STATISTICS)


def _over_items(name: str, items: pd.DataFrame) -> Estimate:
    rates = item_rates(items)
    return _point(_STATISTICS[name](rates), rates)


def _point(statistic: Statistic, rates: ItemRates) -> Estimate:
    if not rates.n:
        return Estimate.undefined(NO_ITEMS)
    return Estimate(float(statistic(np.ones((1, rates.n)))[0]), rates.n, reason=rates.left_out)


def _with_interval(point: Estimate, statistic: Statistic, rates: ItemRates, n_resamples: int, seed: int) -> Estimate:
    if not point.defined:
        return point
    if rates.n < 2:
        return _noting(point, "an interval needs two items")
    interval = bootstrap_interval(statistic, np.arange(rates.n), n_resamples=n_resamples, seed=seed)
    bounded = Estimate(point.value, point.n, interval.low, interval.high, point.reason)
    if not interval.n_undefined:
        return bounded
    return _noting(bounded, f"{interval.n_undefined} of {n_resamples} resamples left out: undefined")


def _noting(estimate: Estimate, note: str) -> Estimate:
    reason = f"{estimate.reason}; {note}" if estimate.reason else note
    return Estimate(estimate.value, estimate.n, estimate.low, estimate.high, reason)
