"""Which keyphrases of news matter to many communities."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def keyphrase_salience(
    counts: pd.DataFrame, *, communities: Sequence[str], alpha: float = 1.0, beta: float = 1.0
) -> pd.Series:
    """Salience of each keyphrase, 0 or more, from high to low and equal ones by name.

    `counts` has `keyphrase`, `community` and `count`: in how many posts of the community the keyphrase stands. Salience
    is log(1 + its count in all selected `communities`) ** alpha times (the share of these that have it) ** beta.
    Communities that are not selected do not count; a keyphrase that only they have is left out. Raises ValueError
    without communities. Source: CARE, section 3.2; the base of the logarithm never changes the order.

    >>> counts = pd.DataFrame({"keyphrase": ["k", "k", "l"], "community": ["a", "b", "a"], "count": [3, 1, 10]})
    >>> keyphrase_salience(counts, communities=["a", "b"]).round(4).to_dict()
    {'k': 1.6094, 'l': 1.1989}
    """
    if not communities:
        raise ValueError("Salience needs at least one community; select some.")
    found = counts[counts["community"].isin(list(communities)) & (counts["count"] > 0)]
    by_phrase = found.groupby("keyphrase").agg(n=("count", "sum"), spread=("community", "nunique"))
    frequency = np.log1p(by_phrase["n"].astype(float)) ** alpha
    salience: pd.Series = frequency * (by_phrase["spread"] / len(set(communities))) ** beta
    return salience.sort_index().sort_values(ascending=False, kind="stable").rename("salience")


def ranked_keyphrases(counts: pd.DataFrame, *, communities: Sequence[str], alpha: float, beta: float) -> pd.DataFrame:
    """All keyphrases, the most salient first: `keyphrase`, `salience`, `frequency`, `spread`, `sparsity`.

    `frequency` is the count in all selected communities, `spread` the number of these that have the keyphrase, and
    `sparsity` the share that does not. Equal salience goes by frequency, then by name.

    >>> counts = pd.DataFrame({"keyphrase": ["k", "k", "l"], "community": ["a", "b", "a"], "count": [3, 1, 10]})
    >>> found = ranked_keyphrases(counts, communities=["a", "b"], alpha=1, beta=1)
    >>> found[["keyphrase", "frequency", "spread", "sparsity"]].values.tolist()
    [['k', 4, 2, 0.0], ['l', 10, 1, 0.5]]
    """
    salience = keyphrase_salience(counts, communities=communities, alpha=alpha, beta=beta)
    found = counts[counts["community"].isin(list(communities)) & (counts["count"] > 0)]
    by_phrase = found.groupby("keyphrase").agg(frequency=("count", "sum"), spread=("community", "nunique"))
    by_phrase["salience"] = salience
    by_phrase["sparsity"] = 1 - by_phrase["spread"] / len(set(communities))
    ordered = by_phrase.sort_index().sort_values(["salience", "frequency"], ascending=False, kind="stable")
    return ordered.reset_index()
