"""How well a judge follows each annotator: preferences selected on dev pairs, applied to test pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluation.metrics.preference import first_position_rate, position_bias, swap_consistency, two_order_accuracy
from evaluation.metrics.subsets import Rule, score_subsets, select_subsets
from protocols.sense.judgements import judged_pairs, plain_choices, voted_choices

Key = tuple[str, str]  # annotator and topic


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
    return {key: _chosen(own, rule, difference_penalty) for key, own in _groups(dev)}


def _chosen(dev: pd.DataFrame, rule: Rule, penalty: bool) -> Chosen:
    names = tuple(sorted(dev["preference"].unique()))
    judged = judged_pairs(dev, names)
    found = select_subsets(judged.votes, judged.right_first, rule=rule, difference_penalty=penalty)
    subsets = tuple(tuple(np.array(names)[members].tolist()) for members in found.subsets)
    return Chosen(names, subsets, found.best_metric, found.max_denominator)


def scores(test: pd.DataFrame, plain: pd.DataFrame, chosen: Mapping[Key, Chosen]) -> list[dict[str, Any]]:
    """One row an annotator and topic: accuracy with the preferences (mean over the best subsets, and of the smallest),
    without them on the same pairs, the gain, and what concerns the two orders. Shares are in [0, 1]."""
    without = dict(_groups(plain))
    return [
        {"topic": key[1], "annotator": key[0]} | _score(own, chosen[key], without.get(key, plain.iloc[:0]))
        for key, own in _groups(test)
        if key in chosen
    ]


def _score(test: pd.DataFrame, chosen: Chosen, plain: pd.DataFrame) -> dict[str, Any]:
    judged = judged_pairs(test, chosen.preferences)
    members = [[name in subset for name in chosen.preferences] for subset in chosen.subsets]
    found = score_subsets(judged.votes, judged.right_first, members)
    voted, alone = voted_choices(test, chosen.one), plain_choices(plain[plain["pair"].isin(test["pair"])])
    baseline = two_order_accuracy(alone)
    return {
        "accuracy": found.accuracy.value,
        "baseline": baseline.value,
        "gain": found.accuracy.value - baseline.value,
        "pairs": test["pair"].nunique(),
        "accuracy_smallest": two_order_accuracy(voted).value,
        "in_smallest": len(chosen.one),
        "best_subsets": len(chosen.subsets),
        "dev_right": chosen.dev_right,
        "dev_rows": chosen.dev_rows,
        "unread": judged.n_unparsed,
        "missing": int(test["missing"].sum()),
    }


def by_topic(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Accuracy, baseline and gain of each judge and topic as means over annotators, and over topics as `overall`.

    The overall mean weighs topics alike. An undefined number is left out of a mean. `preferences_by` is who wrote the
    preferences, empty where a judge has none.
    """
    who, numbers = ["judge", "preferences_by"], ["accuracy", "baseline", "gain"]
    names = ["topic", *numbers, *who]
    table = pd.DataFrame([{"preferences_by": "", **row} for row in rows], columns=names)
    means = table.groupby([*who, "topic"])[numbers].mean().reset_index()
    overall = means.groupby(who)[numbers].mean().reset_index().assign(topic="overall")
    return [dict(zip(names, row, strict=True)) for part in (means, overall) for row in part[names].to_numpy().tolist()]


def positions(test: pd.DataFrame, plain: pd.DataFrame, chosen: Mapping[Key, Chosen]) -> list[dict[str, Any]]:
    """Choices of the first and second position and consistency over the orders, without and with preferences.

    Pairs of different annotators and topics are counted apart from each other.
    """
    voted = [_named(voted_choices(own, chosen[key].one), key) for key, own in _groups(test) if key in chosen]
    alone = [_named(plain_choices(own), key) for key, own in _groups(plain)]
    return [_position(name, pd.concat(parts)) for name, parts in (("without", alone), ("with", voted)) if parts]


def _named(choices: pd.DataFrame, key: Key) -> pd.DataFrame:
    return choices.assign(item="/".join(key) + "/" + choices["item"].astype(str))


def _position(name: str, choices: pd.DataFrame) -> dict[str, Any]:
    bias, rate = position_bias(choices), first_position_rate(choices)
    return {
        "preferences": name,
        "first": bias.n_first,
        "second": bias.n_second,
        "difference": abs(bias.n_first - bias.n_second),
        "first_rate": rate.value,
        "p": bias.mcnemar_p,
        "consistency": swap_consistency(choices, invalid="left_out").value,
        "pairs": bias.n_pairs,
        "unread": bias.n_invalid,
    }


def crossed(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Accuracy of each annotator's preferences of one topic on pairs of another: a row for each two topics."""
    return [
        {
            "annotator": annotator,
            "from": source,
            "to": target,
            "pairs": own["pair"].nunique(),
            "accuracy": two_order_accuracy(voted_choices(own, sorted(own["preference"].unique()))).value,
        }
        for (annotator, source, target), own in frame.groupby(["annotator", "preference_topic", "topic"])
    ]


def _groups(frame: pd.DataFrame) -> Iterator[tuple[Key, pd.DataFrame]]:
    for (annotator, topic), own in frame.groupby(["annotator", "topic"]):
        yield (str(annotator), str(topic)), own
