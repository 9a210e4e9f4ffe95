"""Do models waver where people do? Agreement within each item, compared across items.

The agreement of an item is u = max(h, 1-h), with h the share of culture answers: 1 when all answer alike, 0.5 when they
split in half. All functions take an items frame (see `items`); `n` counts items. Source: PACT, appendix F.1.
"""

from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy import stats

from .checks import known_option
from .items import FloatArray, ItemRates, item_rates
from .result import Estimate

NO_ITEMS = "no item has valid answers from both people and models"

Method = Literal["pearson", "spearman", "kendall"]


def uncertainty_correlation(items: pd.DataFrame, *, method: Method) -> Estimate:
    """Correlation across items between human and model agreement, in [-1, 1].

    `pearson` is what PACT reports, `spearman` uses average ranks, `kendall` is tau-b. Undefined with fewer than two
    items, or when either side has the same agreement on every item: always so for one model answer an item.

    >>> from evaluation.metrics.items import items_frame
    >>> items = items_frame([10, 10, 10], [5, 9, 7], [10, 10, 10], [6, 10, 8])
    >>> round(uncertainty_correlation(items, method="pearson").value, 6)
    1.0
    """
    known_option(method, get_args(Method), what="method")
    rates = item_rates(items)
    undefined = why_uncorrelated(rates)
    if undefined:
        return Estimate.undefined(undefined, n=rates.n)
    value = _correlate(rates.human_agreement, rates.model_agreement, method)
    return Estimate(value, rates.n, reason=rates.left_out)


def human_agreement(items: pd.DataFrame) -> Estimate:
    """Mean human agreement over the items that both sides answered, in [0.5, 1]; undefined without any.

    >>> from evaluation.metrics.items import items_frame
    >>> human_agreement(items_frame([4], [1], [1], [1]))
    Estimate(value=0.75, n=1, low=nan, high=nan, reason='')
    """
    rates = item_rates(items)
    return _mean(rates.human_agreement, rates)


def model_agreement(items: pd.DataFrame) -> Estimate:
    """Mean model agreement over the items that both sides answered, in [0.5, 1]; undefined without any.

    >>> from evaluation.metrics.items import items_frame
    >>> model_agreement(items_frame([4], [1], [5], [1])).value
    0.8
    """
    rates = item_rates(items)
    return _mean(rates.model_agreement, rates)


def contested_model_agreement(items: pd.DataFrame) -> Estimate:
    """Mean model agreement on the items people disagree on most, in [0.5, 1]; undefined without items.

    These are the items whose human agreement is at most the median, ties included; `n` counts them.

    >>> from evaluation.metrics.items import items_frame
    >>> contested_model_agreement(items_frame([4, 4], [2, 4], [5, 5], [1, 5])).value
    0.8
    """
    rates = item_rates(items)
    if not rates.n:
        return Estimate.undefined(NO_ITEMS)
    contested = rates.human_agreement <= np.median(rates.human_agreement)
    return _mean(rates.model_agreement[contested], rates)


def why_uncorrelated(rates: ItemRates) -> str:
    """The reason why agreement cannot be correlated, empty when it can.

    >>> from evaluation.metrics.items import items_frame
    >>> why_uncorrelated(item_rates(items_frame([4], [1], [5], [1])))
    'a correlation needs two items, here is 1'
    """
    if not rates.n:
        return NO_ITEMS
    if rates.n < 2:
        return "a correlation needs two items, here is 1"
    if np.ptp(rates.human_agreement) == 0:
        return "human agreement is the same on every item"
    if np.ptp(rates.model_agreement) == 0:
        return "model agreement is the same on every item"
    return ""


def _correlate(first: FloatArray, second: FloatArray, method: Method) -> float:
    if method == "pearson":
        return float(stats.pearsonr(first, second).statistic)
    if method == "spearman":
        return float(stats.spearmanr(first, second).statistic)
    return float(stats.kendalltau(first, second, variant="b").statistic)


def _mean(values: FloatArray, rates: ItemRates) -> Estimate:
    if not rates.n:
        return Estimate.undefined(NO_ITEMS)
    return Estimate(float(values.mean()), int(values.size), reason=rates.left_out)
