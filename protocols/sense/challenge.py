"""Which dialogues tell strong models from weak ones: a judge compares responses of both, in both orders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from protocols.sense.instruments import EQUAL

STRONG_FIRST, WEAK_FIRST = "strong_first", "weak_first"
ORDERS = (STRONG_FIRST, WEAK_FIRST)


@dataclass(frozen=True, slots=True)
class Compared:
    """What a judge said of two models' responses in one order: from 1, the first is much better, to 5, the second."""

    query: str
    strong: str
    weak: str
    order: str
    verdict: int

    @property
    def lead(self) -> int:
        """How far the strong model's response is ahead, from -2 to 2."""
        return EQUAL - self.verdict if self.order == STRONG_FIRST else self.verdict - EQUAL


def triples(strong: Sequence[str], weak: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Every strong model with every weak one, in both orders.

    >>> len(list(triples(["s", "t"], ["w", "v"])))
    8
    """
    return ((better, worse, order) for better in strong for worse in weak for order in ORDERS)


def discriminating(
    compared: Iterable[Compared], *, n_pairs: int, least_lead: int, least_share: float
) -> Mapping[str, bool]:
    """For each query whether it separates the models.

    That is, whether in at least `least_share` of its `n_pairs` pairs of a strong and a weak model the strong one leads
    by `least_lead` in both orders. A pair that was not judged in both orders does not count as won.

    >>> both = [Compared("q", "s", "w", STRONG_FIRST, 1), Compared("q", "s", "w", WEAK_FIRST, 4)]
    >>> discriminating(both, n_pairs=1, least_lead=1, least_share=0.75)
    {'q': True}
    """
    won: dict[str, dict[tuple[str, str], int]] = {}
    for verdict in compared:
        pairs = won.setdefault(verdict.query, {})
        pair = (verdict.strong, verdict.weak)
        pairs[pair] = pairs.get(pair, 0) + (verdict.lead >= least_lead)
    return {
        query: sum(times == len(ORDERS) for times in pairs.values()) >= least_share * n_pairs
        for query, pairs in won.items()
    }
