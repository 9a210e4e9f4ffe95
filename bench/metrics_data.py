"""Made-up data of the papers' size for the metrics' benchmark, and slow ways to the same numbers."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

DEV_PAIRS = 50
ANSWERS, ITEMS, PEOPLE, ANSWERS_EACH = 4098, 63, 200, 14
COUNTRIES = ("Brazil", "India", "South Africa", "United Kingdom", "United States")
SCENARIO_COUNTRIES = 21
# The nine factors of PACT's regression; an interaction is added to its main effects.
FACTORS = {
    "question": ["question"],
    "participant_country": ["country"],
    "participant_demographics": ["age", "gender"],
    "receiver_demographics": ["receiver_age", "receiver_gender"],
    "relation": ["relation"],
    "scenario_country": ["scenario_country"],
    "question_by_country": ["question:country"],
    "question_by_relation": ["question:relation"],
    "demographics": ["age:receiver_age", "gender:receiver_gender"],
}

Vote = int | None


def judged_pairs(n_preferences: int, *, seed: int) -> tuple[list[list[Vote]], list[bool]]:
    """Votes of preferences that are right in 60 % of the dev pairs, each shown in both orders, and the orders."""
    rng = np.random.default_rng(seed)
    votes = (rng.random((2 * DEV_PAIRS, n_preferences)) < 0.6).astype(int)
    return votes.tolist(), [row < DEV_PAIRS for row in range(2 * DEV_PAIRS)]


def plain_search(votes: Sequence[Sequence[Vote]], right_first: Sequence[bool]) -> tuple[int, list[tuple[int, ...]]]:
    """The most rows that a subset gets right, and all subsets that do, by loops over subsets, rows and preferences."""
    best, found = -1, list[tuple[int, ...]]()
    n = len(votes[0])
    for size in range(1, n + 1):
        for subset in combinations(range(n), size):
            right = 0
            for row, first in zip(votes, right_first, strict=True):
                margin, voted = 0, False
                for preference in subset:
                    vote = row[preference]
                    if vote is not None:
                        margin += 1 if vote else -1
                        voted = True
                if margin > 0 or (margin == 0 and first and voted):
                    right += 1
            if right > best:
                best, found = right, []
            if right == best:
                found.append(subset)
    return best, found


def survey_answers(*, seed: int) -> pd.DataFrame:
    """Answers of 200 people to 63 items. The relation follows from the two countries; one country is answered alike."""
    rng = np.random.default_rng(seed)
    person, item = rng.integers(0, PEOPLE, ANSWERS), rng.integers(0, ITEMS, ANSWERS)
    country = np.array(COUNTRIES)[person % len(COUNTRIES)]
    scenario_country = item % SCENARIO_COUNTRIES
    distance = (scenario_country - person % len(COUNTRIES)) % SCENARIO_COUNTRIES
    frame = pd.DataFrame(
        {
            "person": person,
            "question": rng.choice(["personal", "norm"], ANSWERS),
            "country": country,
            "age": np.where(person // 5 % 2, "older", "younger"),
            "gender": np.where(person // 10 % 2, "female", "male"),
            "receiver_age": np.where(item // 21 % 2, "older", "younger"),
            "receiver_gender": np.where(item % 2, "female", "male"),
            "relation": np.select([distance == 0, distance < 6], ["same", "close"], "far"),
            "scenario_country": scenario_country.astype(str),
        }
    )
    odds = 0.8 * (frame["question"] == "norm") - 0.5 * (frame["country"] == "Brazil") + 0.05 * scenario_country - 0.5
    frame["follow"] = np.where(scenario_country == 20, 1.0, rng.random(ANSWERS) < expit(odds))
    return frame


def survey_pairs(*, seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """A difference of two answers for each of 14 items of 200 people, and the person."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, PEOPLE * ANSWERS_EACH).astype(float), np.repeat(np.arange(PEOPLE), ANSWERS_EACH)


def dense_deviances(answers: pd.DataFrame) -> dict[str, float]:
    """The deviance of the full model and of the one without each factor and the interactions that contain it.

    A row for each answer, a column for every level, and a pseudo-inverse at each step.
    """
    terms = [term for own in FACTORS.values() for term in own]
    found = {"full": _dense_deviance(answers, terms)}
    for name, own in FACTORS.items():
        dropped = {term for term in terms for part in own if set(part.split(":")) <= set(term.split(":"))}
        found[name] = _dense_deviance(answers, [term for term in terms if term not in dropped])
    return found


def _dense_deviance(answers: pd.DataFrame, terms: Sequence[str]) -> float:
    levels = [answers.groupby(term.split(":")).ngroup().to_numpy() for term in terms]
    dummies = [(level[:, None] == np.arange(level.max() + 1)).astype(float) for level in levels]
    design = np.hstack([np.ones((len(answers), 1)), *dummies])
    follow, beta = answers["follow"].to_numpy(dtype=float), np.zeros(design.shape[1])
    for _ in range(40):
        fitted = expit(design @ beta)
        weight: NDArray[np.float64] = np.maximum(fitted * (1 - fitted), 1e-12)
        beta += np.linalg.pinv(design.T @ (design * weight[:, None]), hermitian=True) @ design.T @ (follow - fitted)
    return float(-2 * np.log(np.where(follow == 1, expit(design @ beta), expit(-design @ beta))).sum())
