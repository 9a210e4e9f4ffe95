"""How well a judge follows each person: preferences selected on dev pairs, applied to test pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from evaluation.judging_report.preference_votes import judged_pairs, shown_pairs, voted_choices
from evaluation.metrics.resampling import FloatArray, Statistic, bootstrap_interval
from evaluation.metrics.result import Estimate
from evaluation.metrics.subsets import Rule, select_subsets
from evaluation.metrics.votes import majority_votes

Key = tuple[str, str]  # annotator and topic
Figure = Literal["accuracy", "baseline", "gain"]
RATED = ["pair", "right_first", "right", "voted", "annotator", "topic"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The preferences of one annotator and topic that judge best together on dev pairs.

    `subsets` are all that reach `dev_right` of `dev_rows`; `one` is the smallest, then the first in order.
    """

    preferences: tuple[str, ...]
    subsets: tuple[tuple[str, ...], ...]
    dev_right: int
    dev_rows: int

    @property
    def one(self) -> tuple[str, ...]:
        return self.subsets[0]

    @property
    def union(self) -> tuple[str, ...]:
        """The preferences under which test pairs have to be judged."""
        used = {name for subset in self.subsets for name in subset}
        return tuple(name for name in self.preferences if name in used)


def choose(dev: pd.DataFrame, *, difference_penalty: bool = False, rule: Rule = "paper") -> dict[Key, Chosen]:
    """For each annotator and topic of a judgements frame the best subsets of preferences, of all there are."""
    return {key: _chosen(own, rule, difference_penalty) for key, own in by_key(dev)}


def _chosen(dev: pd.DataFrame, rule: Rule, penalty: bool) -> Chosen:
    names = tuple(sorted(dev["preference"].unique()))
    judged = judged_pairs(dev, names)
    found = select_subsets(judged.votes, judged.right_first, rule=rule, difference_penalty=penalty)
    subsets = tuple(tuple(np.array(names)[members].tolist()) for members in found.subsets)
    return Chosen(names, subsets, found.best_metric, found.max_denominator)


def rated(test: pd.DataFrame, chosen: Mapping[Key, Chosen]) -> pd.DataFrame:
    """A row for each pair and order that a person's preferences judged: in which share of the best subsets their vote
    was `right`, and in which there was one (`voted`); with `annotator`, `topic`, `pair` and `right_first`."""
    parts = [
        _rated(own, chosen[key]).assign(annotator=key[0], topic=key[1]) for key, own in by_key(test) if key in chosen
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=RATED)


def _rated(test: pd.DataFrame, chosen: Chosen) -> pd.DataFrame:
    judged = judged_pairs(test, chosen.preferences)
    votes = [
        majority_votes(judged.votes[:, [name in subset for name in chosen.preferences]], judged.right_first)
        for subset in chosen.subsets
    ]
    shares = {
        name: np.mean([vote[name].to_numpy(dtype=float) for vote in votes], axis=0) for name in ("right", "voted")
    }
    return shown_pairs(test).assign(**shares)


def personal_choices(frame: pd.DataFrame, chosen: Mapping[Key, Chosen]) -> pd.DataFrame:
    """The choices frame of each person's smallest best subset; pairs of different people and topics are others."""
    parts = [
        choices.assign(item="/".join(key) + "/" + choices["item"].astype(str))
        for key, own in by_key(frame)
        if key in chosen
        for choices in [voted_choices(own, chosen[key].one)]
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["item", "right_first", "choice"])


def mean_accuracy(rows: pd.DataFrame, of: Figure, *, n_resamples: int, seed: int) -> Estimate:
    """Accuracy over both orders in [0, 1], as the mean over topics of the mean over their people, with its interval.

    `rows` are those of `rated` with `plain`, the share of right verdicts without preferences, NaN where there is none.
    `of`: with preferences, without them (baseline), or what they gain. The interval is a bootstrap over pairs, each
    drawn with all its orders and people. `n` counts rows. A person and topic without a verdict is left out.
    """
    if rows.empty:
        return Estimate.undefined("no test pair was judged")
    statistic = _mean_accuracy(rows, of)
    value = float(statistic(np.ones((1, len(rows))))[0])
    if np.isnan(value):
        return Estimate.undefined("no test pair was judged without preferences")
    interval = bootstrap_interval(statistic, rows["pair"], n_resamples=n_resamples, seed=seed)
    return Estimate(value, len(rows), interval.low, interval.high)


def _mean_accuracy(rows: pd.DataFrame, of: Figure) -> Statistic:
    numbered = rows.reset_index(drop=True)
    plain = numbered["plain"]
    shares = {
        "accuracy": (numbered["right"].to_numpy(dtype=float), numbered["voted"].to_numpy(dtype=float)),
        "baseline": (plain.fillna(0).to_numpy(dtype=float), plain.notna().to_numpy(dtype=float)),
    }
    topics = [[group.index for _, group in own.groupby("annotator")] for _, own in numbered.groupby("topic")]

    def statistic(weights: FloatArray) -> FloatArray:
        def share(figure: str, places: pd.Index) -> FloatArray:
            right, asked = shares[figure]
            return _ratio(weights[:, places] @ right[places], weights[:, places] @ asked[places])

        def of_person(places: pd.Index) -> FloatArray:
            return share("accuracy", places) - share("baseline", places) if of == "gain" else share(of, places)

        return _mean([_mean([of_person(places) for places in people]) for people in topics])

    return statistic


def _mean(values: Sequence[FloatArray]) -> FloatArray:
    """The mean of those that are defined at each place."""
    table = np.stack(values)
    return _ratio(np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0).astype(float))


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def by_key(frame: pd.DataFrame) -> Iterator[tuple[Key, pd.DataFrame]]:
    """The rows of each annotator and topic."""
    for (annotator, topic), own in frame.groupby(["annotator", "topic"]):
        yield (str(annotator), str(topic)), own
