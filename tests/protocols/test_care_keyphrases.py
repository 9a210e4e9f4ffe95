"""Multipartite rank against plain loops over its published description."""

import math

import numpy as np
import pytest

from protocols.care.candidates import candidates
from protocols.care.keyphrases import adjusted, edge_weights, keyphrases, topics

TEXT = (
    "Library vans bring books to remote villages. Two library vans have been driving to remote villages since the "
    "libraries closed. Readers order books by telephone, and the drivers of the vans leave a bag of books on a garden "
    "wall. A district nurse rides along and answers questions about covid tests. Remote readers thank the drivers."
)


def by_loops(text: str, rounds: int = 400) -> dict[str, float]:
    """The rank of each candidate's key by the description's sums and by iteration."""
    found = candidates(text)
    topic = topics(found).tolist()
    n = len(found)
    weights = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if topic[i] != topic[j]:
                weights[i][j] = sum(1 / abs(p - q) for p in found[i].positions for q in found[j].positions)
    raised = [row[:] for row in weights]
    for number in set(topic):
        members = [i for i in range(n) if topic[i] == number]
        first, others = members[0], members[1:]
        for source in range(n):
            if weights[source][first]:
                bonus = sum(weights[other][source] for other in others)
                raised[source][first] += 1.1 * math.exp(1 / found[first].positions[0]) * bonus
    shares = [1 / n] * n
    for _ in range(rounds):
        shares = [0.15 / n + 0.85 * sum(shares[i] * raised[i][j] / sum(raised[i]) for i in range(n)) for j in range(n)]
    return {found[i].key: shares[i] for i in range(n)}


def test_ranks_are_those_of_the_description():
    expected = by_loops(TEXT)
    found = keyphrases(TEXT, most=len(expected))
    assert {phrase.key: phrase.score for phrase in found} == pytest.approx(expected, abs=1e-9)
    assert [phrase.score for phrase in found] == sorted((phrase.score for phrase in found), reverse=True)


def test_the_first_phrase_of_a_topic_gains():
    found = candidates(TEXT)
    topic = topics(found)
    weights = edge_weights(found, topic)
    raised = adjusted(weights, found, topic)
    grown = {found[column].phrase for column in np.flatnonzero((raised > weights).any(axis=0))}
    assert "Library vans" in grown
    assert "vans" not in grown  # of the same topic, and later


def test_phrases_keep_their_first_form_and_all_places():
    by_key = {candidate.key: candidate for candidate in candidates(TEXT)}
    vans = by_key["librari van"]
    assert vans.phrase == "Library vans"
    assert vans.positions == [1, 10]


@pytest.mark.parametrize(("text", "n"), [("", 0), ("Covid.", 1), ("12 of 30 and the.", 0), (TEXT, 10)])
def test_what_there_is_is_kept_and_never_padded(text, n):
    assert len(keyphrases(text)) == n
