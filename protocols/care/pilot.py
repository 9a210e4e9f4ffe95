"""The pilot of tone annotation: one reaction of each community, and how well each set-up did on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isnan
from random import Random
from typing import Literal, get_args

Architecture = Literal["minimal", "definitions", "maximal"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)


@dataclass(frozen=True, slots=True)
class SetUp:
    """What an endpoint answered with one of the prompts.

    `tones`: by reaction what it said, once for each repetition that was answered. `price` is what the calls cost; None
    where the endpoint has no price.
    """

    name: str
    tones: Mapping[str, Sequence[str]]
    price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """`accuracy`: share of the reactions asked whose first answer was found right; no answer counts as wrong.

    `consistency`: share of reactions with the same tone each time, among those answered more than once. Both are NaN
    where there are none.
    """

    name: str
    n: int
    accuracy: float
    n_repeated: int
    consistency: float
    price: Decimal | None


def representative(reactions: Iterable[tuple[str, str]], *, seed: int) -> list[str]:
    """One reaction of each community, drawn by the seed, in the order of the communities' names.

    `reactions`: pairs of community and reaction.

    >>> representative([("b", "r1"), ("a", "r2"), ("a", "r3")], seed=1)[1]
    'r1'
    """
    by_community: dict[str, list[str]] = {}
    for community, reaction in reactions:
        by_community.setdefault(community, []).append(reaction)
    rng = Random(seed)
    return [rng.choice(sorted(found)) for _, found in sorted(by_community.items())]


def score(set_up: SetUp, *, right: Mapping[tuple[str, str], bool], sample: Sequence[str]) -> Score:
    """How the set-up did on the sampled reactions; `right` says of a reaction and a tone whether it was found right.

    An answer that nobody has audited counts neither as right nor as wrong.

    >>> done = SetUp("m_minimal", {"r1": ["grateful", "grateful"], "r2": ["joking", "asking"]})
    >>> found = score(done, right={("r1", "grateful"): True, ("r2", "joking"): False}, sample=["r1", "r2"])
    >>> found.accuracy, found.consistency
    (0.5, 0.5)
    """
    verdicts = [right.get((r, set_up.tones[r][0])) if set_up.tones.get(r) else False for r in sample]
    audited = [verdict for verdict in verdicts if verdict is not None]
    repeated = [len(set(set_up.tones[r])) == 1 for r in sample if len(set_up.tones.get(r, ())) > 1]
    return Score(set_up.name, len(audited), _share(audited), len(repeated), _share(repeated), set_up.price)


def best(scores: Iterable[Score]) -> Score:
    """The most accurate; among equals the most consistent, then the cheapest, then by name.

    One without a known accuracy comes last, one without a price after those with one. Raises ValueError for no scores.
    """

    def order(one: Score) -> tuple[float, float, Decimal, str]:
        price = Decimal("Infinity") if one.price is None else one.price
        accuracy, consistency = (-1 if isnan(share) else share for share in (one.accuracy, one.consistency))
        return -accuracy, -consistency, price, one.name

    return min(scores, key=order)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else float("nan")
