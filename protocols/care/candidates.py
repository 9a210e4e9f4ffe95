"""Phrases that can be keyphrases of a text: runs of nouns and adjectives, told apart by their stems."""

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import snowballstemmer
from HanTa import HanoverTagger

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*|[^\w\s]")
_PHRASE_TAGS = ("NN", "NP", "AJ")  # of the BNC's basic tagset: nouns, proper nouns, adjectives
# Words that say nothing of a topic though they are tagged as nouns or adjectives.
_STOPWORDS = """
a about above after again all also an and another any are as at be because been before being below between both but
by can could did do does doing down during each few for from further had has have having he her here hers him his
how i if in into is it its itself just last less many may me more most much must my new next no nor not now of off
on once one only or other our out over own per said same say says several she should so some such than that the
their them then there these they this those three through to too two under until up us very was we were what when
where which while who whom why will with would you your
"""
STOPWORDS = frozenset(_STOPWORDS.split())


@dataclass(slots=True)
class Candidate:
    """A phrase: its key, the form in which it first stands in the text, and where it begins, in tokens from 1."""

    key: str
    phrase: str
    positions: list[int] = field(default_factory=list)

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(self.key.split())


def candidates(text: str) -> list[Candidate]:
    """The candidates of an English text in the order in which they first stand in it.

    Source: PIPELINES 1.3, step 1, after Boudin (2018).

    >>> [(found.key, found.positions) for found in candidates("Face masks help. The face mask helps old people.")]
    [('face mask', [1, 6]), ('old peopl', [9])]
    """
    found: dict[str, Candidate] = {}
    position = 1
    for sentence in _SENTENCE_END.split(text):
        tokens = _TOKEN.findall(sentence)
        for start, words in _runs(tokens):
            key = phrase_key(" ".join(words))
            candidate = found.setdefault(key, Candidate(key, " ".join(words)))
            candidate.positions.append(position + start)
        position += len(tokens)
    return list(found.values())


def phrase_key(phrase: str) -> str:
    """The stems of the phrase's words in lower case, by which phrases are compared.

    >>> phrase_key("Face Masks")
    'face mask'
    """
    return " ".join(_stem(word) for word in phrase.lower().split())


def _runs(tokens: list[str]) -> list[tuple[int, list[str]]]:
    """The maximal runs of words that may stand in a phrase, each with the place of its first token."""
    runs: list[tuple[int, list[str]]] = []
    open_run = False
    for place, (token, _, tag) in enumerate(_tagger().tag_sent(tokens) if tokens else ()):
        fits = tag.startswith(_PHRASE_TAGS) and token[0].isalpha() and token.lower() not in STOPWORDS
        if fits and open_run:
            runs[-1][1].append(token)
        elif fits:
            runs.append((place, [token]))
        open_run = fits
    return runs


@cache
def _tagger() -> Any:
    return HanoverTagger.HanoverTagger("morphmodel_en.pgz")


@cache
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem
