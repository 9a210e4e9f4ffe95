"""Tables of counts and families of tests: `cramers_v_*`, `bh_*`."""

from typing import Any

from evaluation.metrics.association import (
    benjamini_hochberg,
    chi_square,
    cramers_v,
    cramers_v_corrected,
    phi_coefficient,
)
from tests.golden.tables import frame


def adjusted(given: dict[str, Any]) -> dict[str, Any]:
    table = frame(given["pvalues"])
    q = benjamini_hochberg(table["p"].astype(float))
    return {"q": dict(zip(table["test"], q.tolist(), strict=True))}


def strength(given: dict[str, Any]) -> dict[str, Any]:
    table = frame(given["counts"])
    # As they were listed: the sign of phi depends on which level and outcome come first.
    levels, outcomes = table["level"].unique(), table["decision"].unique()
    counts = table.pivot_table(index="level", columns="decision", values="count", aggfunc="sum", fill_value=0)
    counts = counts.reindex(index=levels, columns=outcomes).astype(float)
    test = chi_square(counts)
    return {
        "n": test.n,
        "chi2": test.chi2,
        "dof": test.dof,
        "p": test.p,
        "log10_p": test.log10_p,
        "cramers_v": cramers_v(counts).value,
        "cramers_v_bias_corrected": cramers_v_corrected(counts).value,
        "chi2_yates": chi_square(counts, yates=True).chi2,
        "phi": phi_coefficient(counts).value,
    }
