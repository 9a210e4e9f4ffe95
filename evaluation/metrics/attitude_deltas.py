"""How a model's attitudes change when it is told the community: informed less blind, on the same posts.

A *paired frame*, as from `paired_attitudes`, has one row per `post`: `real`, `blind` and `informed`, from -1 to 1.
"""

import numpy as np
import pandas as pd
from scipy import stats

from .attitudes import attitude_correlation, attitude_mean_error, attitude_rmse
from .checks import columns_present, joined
from .dependent_correlations import TwoSidedTest
from .result import NAN, Estimate


def paired_attitudes(blind: pd.DataFrame, informed: pd.DataFrame) -> pd.DataFrame:
    """The paired frame of two posts frames of the same real reactions; posts in only one of them are left out.

    >>> posts = pd.DataFrame({"post": ["p"], "real": [-1.0], "simulated": [0.0]})
    >>> paired_attitudes(posts, posts.assign(simulated=-1.0)).values.tolist()
    [['p', -1.0, 0.0, -1.0]]
    """
    names = ["post", "real", "simulated"]
    for side, what in ((blind, "The blind posts"), (informed, "The informed posts")):
        columns_present(side, names, what=what)
    first = blind[names].rename(columns={"simulated": "blind"})
    second = informed[["post", "simulated"]].rename(columns={"simulated": "informed"})
    return joined(first, second, on=["post"], what="Pairing conditions")


def attitude_deltas(pairs: pd.DataFrame) -> dict[str, Estimate]:
    """`delta_rmse`, `delta_abs_me` and `delta_rho`: informed less blind; undefined where one side is.

    `delta_abs_me` is the difference of the absolute mean errors. Below 0 is better, but for rho. Source: CARE, table 2.

    >>> pairs = pd.DataFrame({"post": ["p", "q"], "real": [-1, 1], "blind": [0, 0], "informed": [-1, 1]})
    >>> {name: delta.value for name, delta in attitude_deltas(pairs).items()}
    {'delta_rmse': -1.0, 'delta_abs_me': 0.0, 'delta_rho': nan}
    """
    blind, informed = (_posts(pairs, side) for side in ("blind", "informed"))
    me = [attitude_mean_error(side) for side in (blind, informed)]
    sizes = [Estimate(abs(found.value), found.n, reason=found.reason) for found in me]
    return {
        "delta_rmse": _difference(attitude_rmse(blind), attitude_rmse(informed)),
        "delta_abs_me": _difference(*sizes),
        "delta_rho": _difference(attitude_correlation(blind), attitude_correlation(informed)),
    }


def error_tests(pairs: pd.DataFrame) -> dict[str, TwoSidedTest]:
    """Named alternatives to the swap tests, informed against blind: paired t and Wilcoxon tests of errors.

    `signed_t` and `signed_wilcoxon` take the signed errors, `squared_t` and `squared_wilcoxon` the squared ones. They
    treat posts as independent; the signed ones ask whether the mean error moved, not whether it came closer to 0.

    >>> pairs = pd.DataFrame({"post": range(3), "real": [0, 0, 0], "blind": [1, 0, 1], "informed": [0, -1, 1]})
    >>> round(error_tests(pairs)["signed_t"].p, 4)
    0.1835
    """
    attitude_deltas(pairs)
    errors = [(pairs[side] - pairs["real"]).to_numpy(dtype=np.float64) for side in ("informed", "blind")]
    found: dict[str, TwoSidedTest] = {}
    for name, (informed, blind) in {"signed": errors, "squared": [error**2 for error in errors]}.items():
        difference = informed - blind
        t, w = TwoSidedTest(NAN, NAN), TwoSidedTest(NAN, NAN)
        if difference.size > 1 and np.ptp(difference) > 0:
            t = TwoSidedTest(*map(float, stats.ttest_rel(informed, blind)))
        if difference.any():
            w = TwoSidedTest(*map(float, stats.wilcoxon(informed, blind)))
        found |= {f"{name}_t": t, f"{name}_wilcoxon": w}
    return found


def _posts(pairs: pd.DataFrame, side: str) -> pd.DataFrame:
    columns_present(pairs, ["post", "real", "blind", "informed"], what="The paired frame")
    return pairs[["post", "real"]].assign(simulated=pairs[side])


def _difference(blind: Estimate, informed: Estimate) -> Estimate:
    if blind.defined and informed.defined:
        return Estimate(informed.value - blind.value, blind.n)
    return Estimate.undefined(informed.reason if blind.defined else blind.reason, n=blind.n)
