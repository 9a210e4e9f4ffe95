"""Simulated participants: who they are and what they answer, as a function of seeds alone.

Answers carry signal: each item, question and country leans to some options, so that rates differ between items and
countries and a report has something to find. They never depend on where an option stands on the page.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ITEM_LEAN, COUNTRY_LEAN, QUESTION_LEAN = 1.2, 0.7, 0.4  # standard deviations on the logit scale
SKIP_OPTIONAL = 0.1


@dataclass(frozen=True)
class Person:
    """A simulated participant. `pages_before_leaving` is None for one who stays to the end."""

    seed: str
    attributes: Mapping[str, str]
    refuses: bool
    attentive: bool
    pages_before_leaving: int | None


@dataclass(frozen=True)
class Rates:
    """Shares of people, each 0 to 1, who drop out, refuse consent, fail the attention check."""

    drop_out: float = 0.0
    refuse: float = 0.0
    inattentive: float = 0.0


def draw_person(
    index: int, *, seed: int, choices: Mapping[str, Sequence[str]], balanced: str, rates: Rates, pages: int
) -> Person:
    """The person with this index (0, 1, ...). `choices` are the options of each attribute.

    The attribute named `balanced` goes through its options in turn; the others are drawn. Who drops out does so after
    1 to pages - 1 pages.
    """
    rng = random.Random(f"{seed}/person/{index}")
    attributes = {
        name: options[index % len(options)] if name == balanced else rng.choice(sorted(options))
        for name, options in choices.items()
    }
    refuses, attentive = rng.random() < rates.refuse, rng.random() >= rates.inattentive
    leaves = rng.randint(1, max(1, pages - 1)) if rng.random() < rates.drop_out else None
    return Person(f"{seed}/{index}", attributes, refuses, attentive, leaves)


def choose(person: Person, *, question: str, item: str, codes: Sequence[str], country: str = "") -> str:
    """One of the codes, by the leanings of item, country and question; the order of `codes` does not matter."""
    ordered = sorted(codes)
    weights = [math.exp(_lean(question, item, code, country)) for code in ordered]
    rng = random.Random(f"{person.seed}/choose/{question}/{item}")
    return rng.choices(ordered, weights)[0]


def arrange(person: Person, *, question: str, item: str, codes: Sequence[str], country: str = "") -> list[str]:
    """The codes from the one liked most to the one liked least; the order of `codes` does not matter."""
    rng = random.Random(f"{person.seed}/arrange/{question}/{item}")
    liking = {code: _lean(question, item, code, country) + rng.gauss(0.0, 1.0) for code in sorted(codes)}
    return sorted(liking, key=lambda code: -liking[code])


def rate(person: Person, *, question: str, item: str, points: Sequence[int], country: str = "") -> int:
    """One of the points of a scale: around a centre that item, country and question decide."""
    ordered = sorted(points)
    low, high = ordered[0], ordered[-1]
    centre = low + (high - low) / (1 + math.exp(-_lean(question, item, "scale", country)))
    drawn = random.Random(f"{person.seed}/rate/{question}/{item}").gauss(centre, (high - low) / 5)
    return min(ordered, key=lambda point: abs(point - drawn))


def skips(person: Person, *, question: str, item: str) -> bool:
    """Whether the person leaves out a question that may be left out."""
    return random.Random(f"{person.seed}/skip/{question}/{item}").random() < SKIP_OPTIONAL


def _lean(question: str, item: str, code: str, country: str) -> float:
    return (
        ITEM_LEAN * _normal("item", item, code)
        + COUNTRY_LEAN * _normal("country", country, item, code)
        + QUESTION_LEAN * (_normal("question", question, code) + _normal("both", question, country, code))
    )


def _normal(*parts: str) -> float:
    """A standard normal number that belongs to these words."""
    return random.Random("/".join(parts)).gauss(0.0, 1.0)
