"""How communities move between intervals of their tone exact match when a model is told the community."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import at_least_one, coded_answers, columns_present, unit_codes


@dataclass(frozen=True, slots=True)
class Transitions:
    """`matrix` counts communities by interval when informed (rows) and blind (columns), lowest first.

    `scores` has the exact match `blind` and `informed` and the number of posts `n` of each community. `n_left_out`
    counts posts without a match in both conditions.
    """

    matrix: NDArray[np.int64]
    scores: pd.DataFrame
    n_improved: int
    n_equal: int
    n_degraded: int
    n_left_out: int

    @property
    def n_diagonal(self) -> int:
        """Communities that stay in their interval."""
        return int(np.trace(self.matrix))


def community_transitions(matches: pd.DataFrame, *, n_bins: int = 5) -> Transitions:
    """Communities by their tone exact match before and after.

    `matches` has one row per post: `community`, and `match_blind` and `match_informed`, which are 1 where the simulated
    tone is one of the post's, 0 where not and NaN where there is none. The `n_bins` intervals are equally wide and hold
    their lower end, the last one also 1. Whole counts decide, so that 3 of 5 is in the fourth of five intervals.
    Source: CARE, section 5.2.2 and figure 3.

    >>> posts = pd.DataFrame({"community": ["c"] * 5, "match_blind": [1, 1, 1, 0, 0], "match_informed": [1] * 5})
    >>> community_transitions(posts).matrix[4].tolist()
    [0, 0, 0, 1, 0]
    """
    what = "The matches frame"
    at_least_one(n_bins, what="n_bins")
    columns_present(matches, ["community", "match_blind", "match_informed"], what=what)
    unit_codes(matches["community"], what="The communities")
    coded = {
        side: coded_answers(matches[f"match_{side}"], what=f"The {side} matches") for side in ("blind", "informed")
    }
    rows = pd.DataFrame({"community": matches["community"].to_numpy(), **coded})
    both = rows.dropna()
    counts = both.groupby("community").agg(n=("blind", "size"), blind=("blind", "sum"), informed=("informed", "sum"))
    counts = counts.astype(np.int64)
    bins = {side: np.minimum(counts[side] * n_bins // counts["n"], n_bins - 1) for side in ("blind", "informed")}
    matrix = np.zeros((n_bins, n_bins), dtype=np.int64)
    np.add.at(matrix, (bins["informed"], bins["blind"]), 1)
    change = np.sign(counts["informed"] - counts["blind"])
    return Transitions(
        matrix=matrix,
        scores=counts.assign(blind=counts["blind"] / counts["n"], informed=counts["informed"] / counts["n"]),
        n_improved=int((change > 0).sum()),
        n_equal=int((change == 0).sum()),
        n_degraded=int((change < 0).sum()),
        n_left_out=len(rows) - len(both),
    )
