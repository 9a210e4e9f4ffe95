"""Labelled pairs dealt into those that preferences are written from (dev) and those that are judged (test)."""

import random
from collections.abc import Iterable
from dataclasses import dataclass

DEV_PER_TOPIC = 10
SEED = 42


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two responses to one prompt, of which a person chose one."""

    id: str
    prompt: str
    topic: str
    chosen: str
    rejected: str


@dataclass(frozen=True, slots=True)
class Split:
    """Pairs by topic, and how many different ones there were.

    `too_small` names the topics with fewer pairs than dev takes, whose pairs are left out.
    """

    dev: dict[str, list[LabelledPair]]
    test: dict[str, list[LabelledPair]]
    too_small: list[str]
    n_different: int


def split_pairs(pairs: Iterable[LabelledPair], *, dev_per_topic: int = DEV_PER_TOPIC, seed: int = SEED) -> Split:
    """Dev pairs of each topic in the order in which they were drawn, test pairs in the order given.

    Of pairs with the same prompt, topic and responses, in whatever order, the first counts. Every topic is drawn with
    the seed afresh. Source: the splitting script published with SenseJudge, whose default seed this is; it loses small
    topics without a word.

    >>> pairs = [LabelledPair(str(n), f"q{n}", "Math", "x", "y") for n in range(3)]
    >>> found = split_pairs(pairs, dev_per_topic=2)
    >>> [pair.id for pair in found.dev["Math"]], [pair.id for pair in found.test["Math"]]
    (['2', '0'], ['1'])
    """
    different: dict[tuple[str, str, frozenset[str]], LabelledPair] = {}
    for pair in pairs:
        different.setdefault((pair.topic, pair.prompt, frozenset((pair.chosen, pair.rejected))), pair)
    by_topic: dict[str, list[LabelledPair]] = {}
    for pair in different.values():
        by_topic.setdefault(pair.topic, []).append(pair)
    large = {topic: own for topic, own in sorted(by_topic.items()) if len(own) >= dev_per_topic}
    drawn = {topic: random.Random(seed).sample(range(len(own)), dev_per_topic) for topic, own in large.items()}
    return Split(
        dev={topic: [own[place] for place in drawn[topic]] for topic, own in large.items()},
        test={
            topic: [pair for place, pair in enumerate(own) if place not in drawn[topic]] for topic, own in large.items()
        },
        too_small=sorted(set(by_topic) - set(large)),
        n_different=len(different),
    )
