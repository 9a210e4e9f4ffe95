"""The keyphrases of a text by multipartite rank (Boudin 2018), written from the published description."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from protocols.care.candidates import Candidate, candidates
from protocols.care.published import MOST_KEYPHRASES

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CUT = 0.74  # Jaccard distance at which topics are cut
FIRST_WEIGHT = 1.1  # alpha: how much the first phrase of a topic gains
DAMPING = 0.85


@dataclass(frozen=True, slots=True)
class Keyphrase:
    """A phrase as it first stands in the text; its key; its share of the text's rank, above 0 and below 1."""

    rank: int
    phrase: str
    key: str
    score: float


def keyphrases(text: str, *, most: int = MOST_KEYPHRASES) -> list[Keyphrase]:
    """The highest ranked phrases of an English text, best first; fewer where it has fewer, none of an empty one.

    Equal ranks go by where the phrase first stands, then by key.

    >>> [found.phrase for found in keyphrases("Schools close. The schools of Lund open the gym.")][:1]
    ['Lund']
    """
    found = candidates(text)
    if not found:
        return []
    topic = topics(found)
    scores = pagerank(adjusted(edge_weights(found, topic), found, topic))
    order = sorted(range(len(found)), key=lambda i: (-round(float(scores[i]), 12), found[i].positions[0], found[i].key))
    return [
        Keyphrase(rank, found[i].phrase, found[i].key, float(scores[i])) for rank, i in enumerate(order[:most], start=1)
    ]


def topics(found: Sequence[Candidate]) -> IntArray:
    """The topic's number of each candidate: average-linkage clusters by the Jaccard distance of their stems.

    >>> topics([Candidate("face mask", ""), Candidate("face", ""), Candidate("school", "")]).tolist()
    [1, 1, 2]
    """
    if len(found) < 2:
        return np.ones(len(found), dtype=np.int64)
    stems = sorted({stem for candidate in found for stem in candidate.stems})
    vectors = np.array([[stem in candidate.stems for stem in stems] for candidate in found])
    return fcluster(linkage(pdist(vectors, "jaccard"), "average"), CUT, criterion="distance").astype(np.int64)


def edge_weights(found: Sequence[Candidate], topic: IntArray) -> FloatArray:
    """Between candidates of different topics the sum of 1 / distance over all pairs of their positions, else 0.

    >>> pair = [Candidate("a", "", [1]), Candidate("b", "", [3, 5])]
    >>> edge_weights(pair, np.array([1, 2])).tolist()
    [[0.0, 0.75], [0.75, 0.0]]
    """
    positions = np.concatenate([candidate.positions for candidate in found]).astype(float)
    starts = np.cumsum([0, *(len(candidate.positions) for candidate in found[:-1])])
    distances = np.abs(positions[:, None] - positions[None, :])
    np.fill_diagonal(distances, np.inf)
    weights: FloatArray = np.add.reduceat(np.add.reduceat(1 / distances, starts, axis=0), starts, axis=1)
    return np.where(topic[:, None] == topic[None, :], 0.0, weights)


def adjusted(weights: FloatArray, found: Sequence[Candidate], topic: IntArray) -> FloatArray:
    """The weights of edges from row to column, those to the first candidate of a topic raised.

    Each gains alpha * e ** (1 / its first position) * what the topic's other candidates give to where the edge begins.
    """
    raised = weights.copy()
    firsts = {number: place for place, number in reversed(list(enumerate(topic.tolist())))}
    for number, first in firsts.items():
        others = [place for place in np.flatnonzero(topic == number) if place != first]
        if others:
            bonus = FIRST_WEIGHT * math.exp(1 / found[first].positions[0])
            sources = weights[:, first] > 0
            raised[sources, first] += bonus * weights[others].sum(axis=0)[sources]
    return raised


def pagerank(weights: FloatArray) -> FloatArray:
    """The stationary share of each node; a node without edges passes its share on to all alike.

    >>> pagerank(np.array([[0.0, 1.0], [1.0, 0.0]])).round(3).tolist()
    [0.5, 0.5]
    """
    n = len(weights)
    total = weights.sum(axis=1, keepdims=True)
    steps = np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / n)
    shares: FloatArray = np.linalg.solve(np.eye(n) - DAMPING * steps.T, np.full(n, (1 - DAMPING) / n))
    return shares
