"""What the metrics library takes on data of the papers' size, part by part."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from bench.metrics_data import FACTORS, dense_deviances, judged_pairs, plain_search, survey_answers, survey_pairs
from bench.running import Parts
from bench.targets import Part, Target
from bench.timing import per_call
from evaluation.metrics.deviance import clustered_p_values, drop_one_deviance
from evaluation.metrics.resampling import bootstrap_interval, weighted_mean
from evaluation.metrics.subsets import select_subsets

SIZES = (10, 14, 18, 20, 22)
MOST_SECONDS = {20: 0.1, 22: 0.5}
PLAIN_SIZES = (10, 12)
LEAST_RATIO = 1000.0
DRAWS = 2000


def measure(parts: Sequence[str], *, rounds: int) -> Parts:
    if "subsets" in parts:
        for size in SIZES:
            yield "subsets", measure_search(size, rounds=rounds)
        for size in PLAIN_SIZES:
            yield "plain", measure_plain(size, rounds=rounds)
    if "deviance" in parts:
        yield "deviance", measure_deviance(rounds=rounds)
    if "bootstrap" in parts:
        yield "bootstrap", measure_bootstrap(rounds=rounds)
        yield "by person", measure_clustered(rounds=rounds)


def measure_search(size: int, *, rounds: int) -> Part:
    """The whole selection among the subsets of so many preferences."""
    votes, right_first = (np.array(side) for side in judged_pairs(size, seed=size))
    seconds = per_call(partial(select_subsets, votes, right_first, rule="paper"), rounds=rounds)
    line = f"{2**size - 1:,} subsets of {size} preferences, {len(votes)} rows: {1000 * seconds:.2f} ms"
    targets = (Target(f"search of {size} s", seconds, MOST_SECONDS[size]),) if size in MOST_SECONDS else ()
    return Part(line, targets)


def measure_plain(size: int, *, rounds: int) -> Part:
    """The search beside plain loops, which must find the same; NaN where they do not."""
    votes, right_first = judged_pairs(size, seed=size)
    search = partial(select_subsets, np.array(votes), np.array(right_first), rule="paper")
    # Loops outlast a slice of the processor and the search does not, so beside other work only its own time compares.
    fast = per_call(search, rounds=rounds, clock=time.process_time)
    slow = per_call(partial(plain_search, votes, right_first), rounds=rounds, clock=time.process_time)
    found = search()
    subsets = [tuple(np.flatnonzero(members).tolist()) for members in found.subsets]
    same = (found.best_metric, subsets) == plain_search(votes, right_first)
    ratio = slow / fast if same else float("nan")
    line = f"{size} preferences by plain loops: {slow:.3f} s, {ratio:,.0f} times as long"
    return Part(line, (Target(f"plain / search of {size}", ratio, LEAST_RATIO, at_least=True),))


def measure_deviance(*, rounds: int) -> Part:
    """PACT's regression with all nine factors, and how far a dense reference is off at most."""
    answers = survey_answers(seed=1)
    fit = partial(drop_one_deviance, answers, outcome="follow", factors=FACTORS, marginality="with_interactions")
    seconds, found = per_call(fit, rounds=rounds), fit()
    reduced = {name: factor.reduced_deviance for name, factor in found.factors.items()}
    off = max(
        abs(value - ({"full": found.deviance} | reduced)[name]) for name, value in dense_deviances(answers).items()
    )
    line = (
        f"{len(answers):,} answers, {len(FACTORS)} factors, {found.design_columns} columns of rank "
        f"{found.df_model + 1}, {found.n_separated} separated: {seconds:.3f} s, {off:.1e} from a dense reference"
    )
    return Part(line, (Target("deviance s", seconds, 1.0), Target("millionths off", 1e6 * off, 1.0)))


def measure_bootstrap(*, rounds: int) -> Part:
    """The interval of a mean over people's answers, people drawn whole."""
    differences, person = survey_pairs(seed=1)
    draw = partial(bootstrap_interval, weighted_mean(differences), person, n_resamples=DRAWS, seed=1)
    seconds = per_call(draw, rounds=rounds)
    line = f"{DRAWS:,} draws of {len(np.unique(person))} people with {differences.size:,} answers: {seconds:.3f} s"
    return Part(line, (Target("bootstrap s", seconds, 2.0),))


def measure_clustered(*, rounds: int) -> Part:
    """The p-values of all nine factors where answers of a person may depend on each other."""
    answers = survey_answers(seed=1)
    test = partial(
        clustered_p_values,
        answers,
        outcome="follow",
        factors=FACTORS,
        marginality="type_ii",
        clusters="person",
        n_resamples=DRAWS,
        seed=1,
    )
    seconds = per_call(test, rounds=rounds)
    line = f"{DRAWS:,} draws of {answers['person'].nunique()} people for {len(FACTORS)} factors: {seconds:.3f} s"
    return Part(line, (Target("clustered tests s", seconds, 2.0),))
