"""What validation says in numbers: how far people agree, and how far a model judge agrees with them. Pure code."""

from collections.abc import Mapping, Sequence

from evaluation.metrics.agreement import brennan_prediger, gwet_ac1, observed_agreement, specific_agreement
from evaluation.metrics.result import Estimate

YES, NO = "yes", "no"


def agreement_words(answers: Sequence[Sequence[str]]) -> str:
    """Agreement pooled over items and criteria, as a sentence. `answers`: what everybody said of one item by one
    criterion; those with one answer have nobody to agree with.

    >>> agreement_words([["yes", "yes"]] * 26 + [["yes", "no"]])
    'On 27 pairs of item and criterion that two or more people answered: observed agreement 0.963, PABAK 0.926, \
Gwet’s AC1 0.962, positive agreement 0.981.'
    """
    counts = [[given.count(YES), given.count(NO)] for given in answers if len(given) > 1]
    if not counts:
        return "No two people answered the same item, so nothing can be said about their agreement."
    estimates = {
        "observed agreement": observed_agreement(counts),
        "PABAK": brennan_prediger(counts),
        "Gwet’s AC1": gwet_ac1(counts),
        "positive agreement": specific_agreement(counts, category=0),
    }
    words = ", ".join(f"{name} {_words(estimate)}" for name, estimate in estimates.items())
    return f"On {len(counts):,} pairs of item and criterion that two or more people answered: {words}."


def judge_words(criterion: str, people: Sequence[str], judge: Sequence[str]) -> str:
    """How the judge's verdicts compare with those of people about the same items, as a sentence.

    >>> judge_words("Plausible?", ["yes", "yes", "no"], ["yes", "no", "no"])
    'Plausible? Judge and people agree on 2 of 3 (PABAK 0.333); the judge flags 1 that people accept and misses 0 of 1 \
that they do not.'
    """
    pairs = list(zip(people, judge, strict=True))
    if not pairs:
        return f"{criterion} No item has both an answer of people and one of the judge."
    same = sum(one == other for one, other in pairs)
    pabak = brennan_prediger([[(one, other).count(YES), (one, other).count(NO)] for one, other in pairs])
    return (
        f"{criterion} Judge and people agree on {same:,} of {len(pairs):,} (PABAK {_words(pabak)}); the judge flags "
        f"{pairs.count((YES, NO)):,} that people accept and misses {pairs.count((NO, YES)):,} of {people.count(NO):,} "
        "that they do not."
    )


def is_usable(verdicts: Mapping[str, str], criteria: Sequence[str]) -> bool:
    """Whether every criterion is met."""
    return all(verdicts.get(criterion) == YES for criterion in criteria)


def _words(estimate: Estimate) -> str:
    return f"undefined ({estimate.reason})" if estimate.reason else f"{estimate.value:.3f}"
