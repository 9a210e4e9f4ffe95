"""Every metric by name, with its range, what a high value means, and what must not change it.

A report takes labels and directions from here. The tests take the invariances: a metric that is added to the library
must be registered, and what is claimed of it here is checked on random data.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from . import (
    agreement,
    alignment,
    association,
    attitudes,
    behaviour,
    consensus,
    correction,
    deviance,
    distances,
    flips,
    gap,
    preference,
    ranking,
    raters,
    rates,
    replacement,
    row_level,
    tones,
    uncertainty,
)


class Takes(StrEnum):
    """The data a metric is computed on."""

    COUNTS = "items x categories counts"
    RATINGS = "items x raters table"
    REPLACED = "items x raters table with a model among the raters"
    ITEMS = "items frame"
    CODED = "coded answers with the unit they belong to"
    CELLS = "cells frame"
    TABLE = "levels x outcomes counts"
    ANSWERS = "human counts by item and single model answers"
    ORDERS = "coded answers with their item and whether culture was shown first"
    LEVELS = "counts frame with the levels of a factor"
    FACTORS = "coded outcomes with the levels of several factors"
    CHOICES = "choices frame of a judge"
    BATTLES = "battles frame"
    TONES = "tones of real and of simulated reactions"
    POSTS = "posts frame of attitudes"
    DISTRIBUTIONS = "items x options counts of people and of models"


class Direction(StrEnum):
    """How to read a high value."""

    HIGHER_IS_BETTER = "higher is better"
    LOWER_IS_BETTER = "lower is better"
    SIGNED = "the sign tells the direction, 0 is no difference"
    DESCRIPTIVE = "neither good nor bad"


class Invariance(StrEnum):
    """A change of the data that leaves the value as it is."""

    ROWS = "rows in another order"
    LABELS = "categories renamed or swapped"
    DUPLICATES = "every row given twice"
    SIDES = "raters, people and models, two questions, or levels and outcomes swapped"


@dataclass(frozen=True, slots=True)
class Metric:
    """`compute` is called with data of the kind `takes` and one of the `variants` as keywords; `read` finds the value.

    `low` and `high` bound the value, inclusive.
    """

    name: str
    compute: Callable[..., Any]
    takes: Takes
    low: float
    high: float
    direction: Direction
    invariances: frozenset[Invariance]
    variants: tuple[Mapping[str, Any], ...] = field(default=(MappingProxyType({}),))
    read: Callable[[Any], float] = attrgetter("value")


_ROWS, _LABELS, _DUPLICATES, _SIDES = Invariance
_HIGHER, _LOWER, _SIGNED, _DESCRIPTIVE = Direction
_ALL = frozenset(Invariance)
_SIZE_AND_ORDER = frozenset({_ROWS, _DUPLICATES})
_UNBOUNDED_BELOW = float("-inf")

_ALL_BUT_SIDES = _ALL - {_SIDES}
_ROW_OPTIONS = ({"answer": "answer", "culture": "A", "preference": "B"},)
# Three ordered categories, as the tests' data have.
_CATEGORIES, _SCORES = ("A", "B", "C"), (1, 2, 4)
_MIN_N = ({"min_n": 1}, {"min_n": 2})
_CONTRAST = ({"factor": "level", "plus": "p", "minus": "q"},)
_FACTORS = {"level": ["level"], "other": ["other"], "both": ["level:other"]}
_MARGINALITIES = tuple(
    {"outcome": "follow", "factors": _FACTORS, "marginality": name}
    for name in ("type_ii", "with_interactions", "ignored")
)
_INVALID = tuple({"invalid": invalid} for invalid in ("left_out", "inconsistent"))
_REFERENCE = {"reference": ("p", "q", "r")}
_RANKED = tuple({**_REFERENCE, "method": method} for method in ("kendall", "spearman"))
_WEIGHTS = tuple({"weights": weights} for weights in ("reactions", "posts"))
_METHODS = tuple({"method": method} for method in ("pearson", "spearman", "kendall"))


def _row_level(name: str, low: float, direction: Direction, invariances: frozenset[Invariance]) -> Metric:
    read = attrgetter(f"{name}.value")
    compute = row_level.row_level_alignment
    return Metric(f"row_level_{name}", compute, Takes.ANSWERS, low, 1, direction, invariances, _ROW_OPTIONS, read)


_METRICS = (
    Metric("observed_agreement", agreement.observed_agreement, Takes.COUNTS, 0, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("pooled_pair_agreement", agreement.pooled_pair_agreement, Takes.COUNTS, 0, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("brennan_prediger", agreement.brennan_prediger, Takes.COUNTS, -1, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("gwet_ac1", agreement.gwet_ac1, Takes.COUNTS, -1, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("fleiss_kappa", agreement.fleiss_kappa, Takes.COUNTS, _UNBOUNDED_BELOW, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric(
        "gwet_ac2",
        agreement.gwet_ac2,
        Takes.COUNTS,
        _UNBOUNDED_BELOW,
        1,
        _HIGHER,
        _SIZE_AND_ORDER,
        ({"weights": "ordinal"}, {"weights": "linear", "scores": _SCORES}, {"weights": "quadratic", "scores": _SCORES}),
    ),
    # Alpha corrects for the number of ratings, so the same data twice is other data to it, and so are ordered
    # categories under other labels.
    Metric(
        "krippendorff_alpha",
        agreement.krippendorff_alpha,
        Takes.COUNTS,
        _UNBOUNDED_BELOW,
        1,
        _HIGHER,
        frozenset({_ROWS}),
        ({}, {"scale": "ordinal"}, {"scale": "interval", "scores": _SCORES}, {"scale": "ratio", "scores": _SCORES}),
    ),
    Metric(
        "specific_agreement",
        agreement.specific_agreement,
        Takes.COUNTS,
        0,
        1,
        _HIGHER,
        _SIZE_AND_ORDER,
        ({"category": 0}, {"category": 1}),
    ),
    Metric("cohen_kappa", raters.cohen_kappa, Takes.RATINGS, -1, 1, _HIGHER, _ALL),
    Metric(
        "weighted_kappa",
        raters.weighted_kappa,
        Takes.RATINGS,
        _UNBOUNDED_BELOW,
        1,
        _HIGHER,
        _ALL - {_LABELS},
        (
            {"categories": _CATEGORIES, "weights": "ordinal"},
            {"categories": _CATEGORIES, "weights": "linear", "scores": _SCORES},
            {"categories": _CATEGORIES, "weights": "quadratic", "scores": _SCORES},
        ),
    ),
    Metric("unanimity", raters.unanimity, Takes.RATINGS, 0, 1, _HIGHER, _ALL),
    # A tie counts as culture, so swapping the labels can move it.
    Metric(
        "majority_alignment",
        alignment.majority_alignment,
        Takes.ITEMS,
        0,
        1,
        _HIGHER,
        frozenset({_ROWS, _DUPLICATES, _SIDES}),
    ),
    Metric("rate_mae", alignment.rate_mae, Takes.ITEMS, 0, 1, _LOWER, _ALL),
    Metric("rate_abs_diff_of_means", alignment.rate_abs_diff_of_means, Takes.ITEMS, 0, 1, _LOWER, _ALL),
    Metric("rate_mae_floor", alignment.rate_mae_floor, Takes.ITEMS, 0, 0.5, _DESCRIPTIVE, _ALL_BUT_SIDES),
    Metric("signed_culture_gap", alignment.signed_culture_gap, Takes.ITEMS, -1, 1, _SIGNED, _SIZE_AND_ORDER),
    Metric("signed_preference_gap", alignment.signed_preference_gap, Takes.ITEMS, -1, 1, _SIGNED, _SIZE_AND_ORDER),
    Metric("human_culture_rate", alignment.human_culture_rate, Takes.ITEMS, 0, 1, _DESCRIPTIVE, _SIZE_AND_ORDER),
    Metric("model_culture_rate", alignment.model_culture_rate, Takes.ITEMS, 0, 1, _DESCRIPTIVE, _SIZE_AND_ORDER),
    Metric("uncertainty_correlation", uncertainty.uncertainty_correlation, Takes.ITEMS, -1, 1, _HIGHER, _ALL, _METHODS),
    Metric("human_agreement", uncertainty.human_agreement, Takes.ITEMS, 0.5, 1, _DESCRIPTIVE, _ALL_BUT_SIDES),
    Metric("model_agreement", uncertainty.model_agreement, Takes.ITEMS, 0.5, 1, _DESCRIPTIVE, _ALL_BUT_SIDES),
    Metric(
        "contested_model_agreement",
        uncertainty.contested_model_agreement,
        Takes.ITEMS,
        0.5,
        1,
        _DESCRIPTIVE,
        _ALL_BUT_SIDES,
    ),
    _row_level("majority_alignment", 0, _HIGHER, _SIZE_AND_ORDER),
    _row_level("rate_mae", 0, _LOWER, _ALL_BUT_SIDES),
    _row_level("signed_culture_gap", -1, _SIGNED, _SIZE_AND_ORDER),
    Metric(
        "norm_personal_gap", gap.norm_personal_gap, Takes.CODED, -1, 1, _SIGNED, _SIZE_AND_ORDER, read=attrgetter("gap")
    ),
    Metric(
        "prediction_powered_rate",
        correction.prediction_powered_rate,
        Takes.ITEMS,
        -1,
        2,
        _DESCRIPTIVE,
        frozenset({_ROWS}),
        ({}, {"power": 1}),
        lambda found: found.corrected.value,
    ),
    Metric(
        "alternative_annotator_test",
        replacement.alternative_annotator_test,
        Takes.REPLACED,
        0,
        1,
        _HIGHER,
        frozenset({_ROWS, _LABELS}),
        ({"model": "model", "epsilon": 0.1, "min_items": 2},),
        lambda found: found.advantage.value,
    ),
    Metric("choice_rate", rates.choice_rate, Takes.CODED, 0, 1, _DESCRIPTIVE, _SIZE_AND_ORDER),
    Metric(
        "pooled_culture_rate",
        rates.pooled_culture_rate,
        Takes.CELLS,
        0,
        1,
        _DESCRIPTIVE,
        _SIZE_AND_ORDER,
        ({"n_resamples": 20, "seed": 1},),
    ),
    Metric("unknown_rate", rates.unknown_rate, Takes.CODED, 0, 1, _LOWER, _ALL_BUT_SIDES),
    Metric("decision_entropy", rates.decision_entropy, Takes.CODED, 0, 1, _LOWER, _ALL_BUT_SIDES),
    Metric("decision_conflict", rates.decision_conflict, Takes.CODED, 0, 1, _LOWER, _ALL_BUT_SIDES),
    Metric("answer_consistency", consensus.answer_consistency, Takes.CODED, 0, 1, _HIGHER, _ALL),
    Metric(
        "majority_consistency",
        consensus.majority_consistency,
        Takes.CODED,
        0,
        1,
        _HIGHER,
        frozenset({_ROWS, _DUPLICATES, _SIDES}),
    ),
    Metric("modal_share", consensus.modal_share, Takes.CELLS, 0.5, 1, _HIGHER, _ALL_BUT_SIDES, _MIN_N),
    Metric("weighted_modal_share", consensus.weighted_modal_share, Takes.CELLS, 0.5, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("pooled_modal_share", consensus.pooled_modal_share, Takes.CELLS, 0.5, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("pairwise_agreement", consensus.pairwise_agreement, Takes.CELLS, 0, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric(
        "decision_flips", flips.decision_flips, Takes.CODED, -1, 1, _SIGNED, _SIZE_AND_ORDER, read=attrgetter("delta")
    ),
    # Preference first is culture second, so renaming the options leaves what position does.
    Metric(
        "option_position_audit",
        flips.option_position_audit,
        Takes.ORDERS,
        -100,
        100,
        _SIGNED,
        frozenset({_ROWS, _LABELS}),
        read=attrgetter("delta_pp"),
    ),
    Metric(
        "level_contrast",
        behaviour.level_contrast,
        Takes.LEVELS,
        -100,
        100,
        _SIGNED,
        _SIZE_AND_ORDER,
        _CONTRAST,
        attrgetter("delta_pp"),
    ),
    # The same data twice is twice the evidence.
    Metric(
        "drop_one_deviance",
        deviance.drop_one_deviance,
        Takes.FACTORS,
        0,
        float("inf"),
        _DESCRIPTIVE,
        frozenset({_ROWS, _LABELS}),
        _MARGINALITIES,
        lambda found: found.factors["level"].drop_in_deviance,
    ),
    Metric("total_variation_distance", distances.total_variation_distance, Takes.DISTRIBUTIONS, 0, 1, _LOWER, _ALL),
    Metric("jensen_shannon_divergence", distances.jensen_shannon_divergence, Takes.DISTRIBUTIONS, 0, 1, _LOWER, _ALL),
    # Its unit is that of the scores, and other labels are options in another order.
    Metric(
        "wasserstein_distance",
        distances.wasserstein_distance,
        Takes.DISTRIBUTIONS,
        0,
        _SCORES[-1] - _SCORES[0],
        _LOWER,
        _ALL - {_LABELS},
        ({"scores": _SCORES},),
    ),
    Metric(
        "first_position_rate", preference.first_position_rate, Takes.CHOICES, 0, 1, _DESCRIPTIVE, frozenset({_ROWS})
    ),
    Metric("two_order_accuracy", preference.two_order_accuracy, Takes.CHOICES, 0, 1, _HIGHER, frozenset({_ROWS})),
    Metric("right_in_both", preference.right_in_both, Takes.CHOICES, 0, 1, _HIGHER, frozenset({_ROWS})),
    Metric(
        "swap_consistency",
        preference.swap_consistency,
        Takes.CHOICES,
        0,
        1,
        _HIGHER,
        frozenset({_ROWS, _LABELS}),
        _INVALID,
    ),
    Metric("rank_correlation", ranking.rank_correlation, Takes.BATTLES, -1, 1, _HIGHER, _ALL - {_LABELS}, _RANKED),
    Metric(
        "pairwise_order_agreement",
        ranking.pairwise_order_agreement,
        Takes.BATTLES,
        0,
        1,
        _HIGHER,
        _ALL - {_LABELS},
        (_REFERENCE,),
    ),
    Metric("tone_exact_match", tones.tone_exact_match, Takes.TONES, 0, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("tone_coverage", tones.tone_coverage, Takes.TONES, 0, 1, _HIGHER, _ALL_BUT_SIDES),
    Metric("tone_divergence", tones.tone_divergence, Takes.TONES, 0, 1, _LOWER, _ALL, _WEIGHTS),
    Metric("attitude_rmse", attitudes.attitude_rmse, Takes.POSTS, 0, 2, _LOWER, _ALL),
    Metric("attitude_mae", attitudes.attitude_mae, Takes.POSTS, 0, 2, _LOWER, _ALL),
    Metric("attitude_mean_error", attitudes.attitude_mean_error, Takes.POSTS, -2, 2, _SIGNED, _SIZE_AND_ORDER),
    Metric("attitude_correlation", attitudes.attitude_correlation, Takes.POSTS, -1, 1, _HIGHER, _ALL),
    # Giving a level twice makes another table, with more levels.
    Metric("cramers_v", association.cramers_v, Takes.TABLE, 0, 1, _DESCRIPTIVE, _ALL - {_DUPLICATES}),
    Metric(
        "cramers_v_corrected", association.cramers_v_corrected, Takes.TABLE, 0, 1, _DESCRIPTIVE, _ALL - {_DUPLICATES}
    ),
    Metric("phi_coefficient", association.phi_coefficient, Takes.TABLE, -1, 1, _SIGNED, frozenset({_SIDES})),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _METRICS})
