"""Nonsense never becomes a number: every metric refuses it in its own words or says why it is undefined."""

import math
import traceback
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluation.metrics
from evaluation.metrics import (
    agreement,
    alignment,
    annotators,
    association,
    behaviour,
    consensus,
    deviance,
    flips,
    gap,
    items,
    labels,
    raters,
    rates,
    ratings,
    uncertainty,
)
from evaluation.metrics.ceiling import split_half_ceiling
from evaluation.metrics.criteria import agreement_summary, criterion_agreement
from evaluation.metrics.items import items_frame
from evaluation.metrics.persona import subgroup_alignment
from evaluation.metrics.registry import METRICS, Takes
from evaluation.metrics.resampling import bootstrap_interval, weighted_mean
from evaluation.metrics.row_level import row_level_alignment
from tests.evaluation.test_metrics_registry import BY_COLUMN, CASES, COLUMNS, DATA, IDS, PROPERTIES, computed, reason

OWN = Path(evaluation.metrics.__file__).parent
STRANGE_COUNTS = [math.inf, -math.inf, math.nan, -1, 0.5, "x", "1", None, 10**30, [1], 1j, pd.Timestamp(0)]
STRANGE_ANSWERS = [math.inf, -math.inf, -1, 0.5, 2, "x", "1", 10**30, [1], 1j]
# Nonsense for a table, but coded answers to be sure.
PLAUSIBLE = [1, 0]
STRANGE_WHOLES = [
    None, 3, "text", [], [[]], {}, PLAUSIBLE, [[1, 2], [3]], np.zeros((2, 2, 2)), pd.DataFrame(), pd.Series(dtype=float)
]  # fmt: skip
COUNT_COLUMNS = {
    Takes.ITEMS: ["n_human", "n_human_culture", "n_model", "n_model_culture"],
    Takes.CELLS: ["n", "n_culture"],
    Takes.ANSWERS: ["n", "n_culture"],
    Takes.LEVELS: ["n_rows", "n", "n_culture"],
}
EXPECTED = ("n_culture", "n_model_culture")  # sums of probabilities are meant there, so no fraction is strange
# A column of each frame without counts, and what nobody can have meant there.
STRANGE_CELLS = {
    Takes.CHOICES: ("choice", ["C", "a", 1, math.inf, [1]]),
    Takes.BATTLES: ("winner", ["draw", "p", 1, None, [1]]),
    Takes.TONES: ("tone", [1, 0.5, [1]]),
    Takes.POSTS: ("simulated", [math.inf, math.nan, 2, -1.01, "x", "1", None, [1], 1j]),
}


def refusal(call):
    """The sentence with which our own code refused a call, or None when it gave a result."""
    try:
        call()
    except ValueError as error:
        refused = error
    else:
        return None
    raised_in = Path(traceback.extract_tb(refused.__traceback__)[-1].filename).parent
    assert raised_in == OWN, f"not in our words: {refused}"
    sentence = str(refused)
    assert sentence.endswith(".")
    assert len(sentence.split()) > 5
    return sentence


def refuses_or_says_why(metric, call):
    found = []
    if refusal(lambda: found.append(call())) is None:
        assert math.isnan(metric.read(found[0]))
        assert reason(metric, found[0])


def with_cell(table, row, column, strange):
    """The table with one cell replaced, whatever its type."""
    if isinstance(table, np.ndarray):
        rows = table.astype(object).tolist()
        rows[row][column] = strange
        return rows
    column = table.columns[column] if isinstance(column, int) else column
    cells = table[column].astype(object).tolist()
    cells[row] = strange
    return table.assign(**{column: pd.Series(cells, dtype=object, index=table.index)})


@pytest.mark.parametrize(("metric", "options"), CASES, ids=IDS)
@PROPERTIES
@given(sample=st.data())
def test_one_strange_value_is_refused(metric, options, sample):
    table, *more = sample.draw(DATA[metric.takes])
    row = sample.draw(st.integers(0, len(table) - 1))
    if metric.takes in {Takes.RATINGS, Takes.REPLACED}:
        # A number is strange among text.
        table = pd.concat([table.fillna("A")] * 2, ignore_index=True)
        table = with_cell(table, row, sample.draw(st.integers(0, 1)), sample.draw(st.sampled_from([math.inf, 3, [1]])))
    elif metric.takes in BY_COLUMN | {Takes.FACTORS}:
        coded = "follow" if metric.takes is Takes.FACTORS else "first"
        table = with_cell(table, row, coded, sample.draw(st.sampled_from(STRANGE_ANSWERS)))
    elif metric.takes in STRANGE_CELLS:
        column, strange = STRANGE_CELLS[metric.takes]
        table = with_cell(table, row, column, sample.draw(st.sampled_from(strange)))
    else:
        columns = COUNT_COLUMNS.get(metric.takes) or range(np.shape(table)[1])
        column = sample.draw(st.sampled_from(columns))
        strange = [value for value in STRANGE_COUNTS if value != 0.5 or column not in EXPECTED]
        table = with_cell(table, row, column, sample.draw(st.sampled_from(strange)))
    assert refusal(lambda: computed(metric, (table, *more), options))


@pytest.mark.parametrize(("metric", "options"), CASES, ids=IDS)
@pytest.mark.parametrize("strange", STRANGE_WHOLES, ids=repr)
def test_strange_input_is_refused_or_undefined(metric, options, strange):
    if metric.takes in BY_COLUMN:
        names = [name for name in metric.compute.__annotations__ if name in COLUMNS]
        normal = {"first": [1.0, 0.0], "second": [1.0, 0.0], "unit": ["p", "q"]}
        for name in names if strange is not PLAUSIBLE else []:
            given = {other: normal[COLUMNS[other]] for other in names} | {name: strange}
            refuses_or_says_why(metric, partial(metric.compute, **given))
    elif metric.takes is Takes.ANSWERS:
        human = pd.DataFrame({"item": ["x"], "n": [2], "n_culture": [1]})
        model = pd.DataFrame({"item": ["x"], "answer": ["A"]})
        refuses_or_says_why(metric, partial(metric.compute, strange, model, **options))
        refuses_or_says_why(metric, partial(metric.compute, human, strange, **options))
    elif metric.takes is Takes.DISTRIBUTIONS:
        refuses_or_says_why(metric, partial(metric.compute, strange, [[1, 2, 1]], **options))
        refuses_or_says_why(metric, partial(metric.compute, [[1, 2, 1]], strange, **options))
    elif metric.takes is Takes.TONES:
        tones = pd.DataFrame({"post": ["p"], "tone": ["fear"]})
        refuses_or_says_why(metric, partial(metric.compute, strange, tones, **options))
        refuses_or_says_why(metric, partial(metric.compute, tones, strange, **options))
    else:
        refuses_or_says_why(metric, partial(metric.compute, strange, **options))


FRAMES = [metric for metric in METRICS.values() if metric.takes in COUNT_COLUMNS | STRANGE_CELLS]


@pytest.mark.parametrize("metric", FRAMES, ids=lambda metric: metric.name)
@PROPERTIES
@given(sample=st.data())
def test_a_column_that_is_missing_or_there_twice_is_named(metric, sample):
    data = list(sample.draw(DATA[metric.takes]))
    place = sample.draw(st.integers(0, len(data) - 1))
    columns = list(data[place].columns)
    name = sample.draw(st.sampled_from(columns))
    for table in (data[place].drop(columns=name), data[place][[*columns, name]]):
        given = (*data[:place], table, *data[place + 1 :])
        assert name in (refusal(lambda given=given: computed(metric, given, metric.variants[0])) or "")


ITEM_METRICS = [(metric, options) for metric, options in CASES if metric.takes is Takes.ITEMS]


@pytest.mark.parametrize(("metric", "options"), ITEM_METRICS, ids=lambda case: getattr(case, "name", None))
@pytest.mark.parametrize("names", [["x", "x"], ["x", None], [["x"], ["y"]]], ids=repr)
def test_items_must_be_named_once(metric, options, names):
    frame = items_frame([2, 2], [1, 2], [2, 2], [1, 0]).assign(item=names)
    assert refusal(lambda: metric.compute(frame, **options))


NORMAL = items_frame([4, 3], [1, 3], [2, 2], [2, 1])
LONG = pd.DataFrame({"item": ["x", "x"], "question": ["p", "p"], "rater": ["r", "s"], "value": [1, 0]})
COUNTED = pd.DataFrame({"item": ["x", "y"], "n": [2, 2], "n_culture": [1, 2]})
ASKED = pd.DataFrame({"item": ["x", "y"], "answer": ["A", "B"]})
LABELS = {"answer": "answer", "culture": "A", "preference": "B"}
CRITERIA = {"item": "item", "criterion": "question", "rater": "rater", "value": "value", "categories": [0, 1]}
count = partial(items.count_answers, **LABELS)
criteria = partial(criterion_agreement, **CRITERIA)

TABLE = pd.DataFrame({"r": ["A", "B"], "s": ["A", "A"]}, index=["x", "y"])
NUMBERED = pd.DataFrame({"r": [1, 2], "s": [1, 1]})
summary = partial(agreement_summary, TABLE, ["A", "B"])
STYLES = pd.DataFrame({"style": ["a"], "model": ["m"], "metric": ["rate"], "value": [0.5]})
FOLLOWED = pd.DataFrame({"item": ["x", "y"], "follow": [1, 0]})


def dropped(answers=FOLLOWED, factors=MappingProxyType({"item": ["item"]}), marginality="type_ii"):
    return deviance.drop_one_deviance(answers, outcome="follow", factors=factors, marginality=marginality)


REFUSED = {
    "unknown method": lambda: uncertainty.uncertainty_correlation(NORMAL, method="bogus"),
    "answer 2": lambda: rates.choice_rate([2, 3]),
    "answer inf": lambda: rates.choice_rate([math.inf]),
    "n inf": lambda: alignment.rate_mae(NORMAL.assign(n_human=math.inf)),
    "fractions": lambda: agreement.fleiss_kappa([[0.5, 1.5], [2, 0]]),
    "category below 0": lambda: agreement.specific_agreement([[2, 0]], category=-1),
    "category beyond": lambda: agreement.specific_agreement([[2, 0]], category=5),
    "category as text": lambda: agreement.specific_agreement([[2, 0]], category="A"),
    "alpha of inf": lambda: agreement.krippendorff_alpha([[math.inf, 1], [1, 2]]),
    "unequal lengths": lambda: consensus.answer_consistency([1, 0], [1]),
    "unequal items": lambda: consensus.majority_consistency([1, 0], [1, 0], ["x"]),
    "unequal sources": lambda: rates.decision_entropy([1, 0], ["x"]),
    "unequal respondents": lambda: gap.norm_personal_gap([1, 0], [1, 0], respondents=["x"]),
    "flips of unequal cases": lambda: flips.decision_flips([1, 0], [1]),
    "flips of repeats": lambda: flips.paired_answers(ASKED, ASKED.assign(item="x"), keys=["item"], answer="answer"),
    "order unknown": lambda: flips.option_position_audit([1, 0], [1, None], ["x", "y"]),
    "order asked twice": lambda: flips.option_position_audit([1, 0], [1, 1], ["x", "x"]),
    "more culture than answers": lambda: behaviour.decision_rates(COUNTED.assign(n_rows=1), by=["item"]),
    "styles as text": lambda: behaviour.style_deltas(STYLES, styles="a", baseline="a"),
    "style twice": lambda: behaviour.style_deltas(pd.concat([STYLES] * 2), styles=["a"], baseline="a"),
    "factors as a list": lambda: dropped(factors=["item"]),
    "terms as text": lambda: dropped(factors={"item": "item"}),
    "term without a column": lambda: dropped(factors={"item": ["item:age"]}),
    "levels of lists": lambda: dropped(FOLLOWED.assign(item=[["x"], ["y"]])),
    "marginality unknown": lambda: dropped(marginality="type_iii"),
    "majority of text": lambda: consensus.majority_consistency(["a"], ["b"], ["x"]),
    "too large": lambda: association.chi_square([[10**30, 1], [1, 1]]),
    "phi of one NaN": lambda: association.phi_coefficient([math.nan]),
    "p above 1": lambda: association.benjamini_hochberg([0.1, 1.5]),
    "p as text": lambda: association.benjamini_hochberg(["low"]),
    "pairs below 0": lambda: gap.mcnemar_exact(-1, 3),
    "level 2": lambda: gap.norm_personal_gap([1], [0], respondents=["x"], level=2),
    "cells without n": lambda: consensus.modal_share(pd.DataFrame({"n_culture": [1]})),
    "min_n 0": lambda: consensus.modal_share(COUNTED, min_n=0),
    "no seed": lambda: rates.pooled_culture_rate(COUNTED, n_resamples=10, seed=None),
    "no resamples": lambda: alignment.alignment_summary(NORMAL, n_resamples=0, seed=1),
    "seed below 0": lambda: alignment.alignment_summary(NORMAL, seed=-1),
    "seed as text": lambda: split_half_ceiling(NORMAL, seed="one"),
    "splits as text": lambda: split_half_ceiling(NORMAL, n_splits="many", seed=1),
    "ceiling of repeats": lambda: split_half_ceiling(pd.concat([NORMAL, NORMAL]), seed=1),
    "clusters missing": lambda: bootstrap_interval(weighted_mean(np.ones(2)), ["a", None], n_resamples=5, seed=1),
    "units of unequal kinds": lambda: rates.decision_entropy([1, 0], [{"a": 1}, "b"]),
    "by as text": lambda: count(ASKED, by="item"),
    "by nothing": lambda: count(ASKED, by=[]),
    "by a missing column": lambda: count(ASKED, by=["country"]),
    "by the name of a count": lambda: count(ASKED.assign(n=1), by=["n"]),
    "no answer column": lambda: count(ASKED[["item"]], by=["item"]),
    "labels alike": lambda: count(ASKED, by=["item"], preference=" a"),
    "label empty": lambda: count(ASKED, by=["item"], culture=" "),
    "answers as a list": lambda: items.follows_culture(["A"], culture="A", preference="B"),
    "columns of unequal length": lambda: items_frame([1, 2], [1], [1], [1]),
    "pairing without n": lambda: items.pair_counts(COUNTED, COUNTED[["item", "n_culture"]], on=["item"]),
    "pairing repeats": lambda: items.pair_counts(COUNTED.assign(item="x"), COUNTED, on=["item"]),
    "pairing text and numbers": lambda: items.pair_counts(COUNTED.assign(item=[1, 2]), COUNTED, on=["item"]),
    "persona without cell": lambda: subgroup_alignment(COUNTED, COUNTED, cell=["country"]),
    "persona in no cell": lambda: subgroup_alignment(COUNTED, COUNTED, cell=[]),
    "persona of repeats": lambda: subgroup_alignment(*[COUNTED.assign(item="x", country="IN")] * 2, cell=["country"]),
    "people twice": lambda: row_level_alignment(COUNTED.assign(item="x"), ASKED, **LABELS),
    "answers without item": lambda: row_level_alignment(COUNTED, ASKED[["answer"]], **LABELS),
    "answers to lists": lambda: row_level_alignment(COUNTED, ASKED.assign(item=[["x"], ["y"]]), **LABELS),
    "no rater column": lambda: ratings.ratings_matrix(
        LONG[["item", "value"]], item="item", rater="rater", value="value"
    ),
    "rater is item": lambda: ratings.ratings_matrix(LONG, item="item", rater="item", value="value"),
    "rater without name": lambda: ratings.ratings_matrix(
        LONG.assign(rater=["r", None]), item="item", rater="rater", value="value"
    ),
    "no criterion column": lambda: criteria(LONG.drop(columns="question")),
    "no categories": lambda: criteria(LONG, categories=[]),
    "category twice": lambda: criteria(LONG, categories=[0, 1, 1]),
    "category missing": lambda: criteria(LONG, categories=[0, 1, None]),
    "categories as text": lambda: agreement_summary(pd.DataFrame({"r": ["A"], "s": ["B"]}), "AB"),
    "item rated in two rows": lambda: raters.cohen_kappa(pd.DataFrame({"r": [1, 0], "s": [1, 0]}, index=["x", "x"])),
    "rater twice": lambda: raters.unanimity(pd.DataFrame([[1, 0]], columns=["r", "r"])),
    "weights unknown": lambda: agreement.gwet_ac2([[2, 0]], weights="cubic"),
    "weights without scores": lambda: agreement.gwet_ac2([[2, 0]], weights="linear"),
    "scores alike": lambda: agreement.gwet_ac2([[2, 0]], weights="linear", scores=[1, 1]),
    "scores too many": lambda: raters.weighted_kappa(NUMBERED, [1, 2], weights="linear", scores=[1, 2, 3]),
    "scores as text": lambda: agreement.krippendorff_alpha([[2, 0]], scale="interval", scores="12"),
    "scale unknown": lambda: agreement.krippendorff_alpha([[2, 0]], scale="cardinal"),
    "scale without scores": lambda: agreement.krippendorff_alpha([[2, 0]], scale="ratio"),
    "ratio below 0": lambda: agreement.krippendorff_alpha([[2, 0]], scale="ratio", scores=[-1, 1]),
    "interval of text": lambda: summary(scale="interval"),
    "clusters too few": lambda: summary(clusters=["a"]),
    "interval of level 1": lambda: summary(level=1),
    "interval without resamples": lambda: summary(seed=1, n_resamples=0),
    "interval with a strange seed": lambda: summary(seed="one"),
    "ties unknown": lambda: labels.majority_labels(TABLE, ["A", "B"], ties="random"),
    "majority of the undeclared": lambda: labels.majority_labels(TABLE, ["A"], ties="undefined"),
    "skills without a rating": lambda: labels.dawid_skene(pd.DataFrame({"r": [None]}), ["A"]),
    "skills without tolerance": lambda: labels.dawid_skene(TABLE, ["A", "B"], tolerance=0),
    "skills without iterations": lambda: labels.dawid_skene(TABLE, ["A", "B"], max_iterations=0),
    "gold as a mapping": lambda: annotators.gold_accuracy(TABLE, {"x": "A"}, ["A", "B"]),
    "gold undeclared": lambda: annotators.gold_accuracy(TABLE, pd.Series({"x": "C"}), ["A", "B"]),
    "gold twice": lambda: annotators.gold_accuracy(TABLE, pd.Series(["A", "B"], index=["x", "x"]), ["A", "B"]),
    "confusion with a list": lambda: annotators.confusion_table(TABLE["r"], ["A", "B"], ["A", "B"]),
    "pairs of the undeclared": lambda: annotators.annotator_pairs(TABLE, ["A"]),
    "text and numbers": lambda: raters.cohen_kappa(pd.DataFrame({"r": [1, 0], "s": ["1", "0"]})),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_a_sentence(call):
    assert refusal(call)


def test_undefined_results_without_an_estimate_say_why():
    assert association.chi_square([[1, 2]]).reason == "it needs two levels and two outcomes that occur"
    assert gap.norm_personal_gap([1], [math.nan], respondents=["x"]).reason == "no valid answer to the norm question"
    nobody = gap.norm_personal_gap([], [], respondents=[])
    assert nobody.reason == "no valid answer to the personal and the norm question"
    assert gap.norm_personal_gap([1], [0], respondents=["x"]).reason == ""


def test_the_place_of_a_fault_is_named():
    assert "at row 1, column 0 it is 0.5" in refusal(lambda: agreement.fleiss_kappa([[2, 0], [0.5, 1]]))
    assert "at position 1 it is 2" in refusal(lambda: rates.choice_rate([1, 2]))
    assert "row 1 repeats {'item': 'x'}" in refusal(lambda: alignment.rate_mae(NORMAL.assign(item="x")))
