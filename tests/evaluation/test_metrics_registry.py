"""Every metric is registered, and what the registry claims of it holds on random data."""

import importlib
import inspect
import math
import pkgutil
from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import evaluation.metrics
from evaluation.metrics.behaviour import LevelContrast
from evaluation.metrics.deviance import DropOneDeviance
from evaluation.metrics.flips import DecisionFlips, OptionPosition
from evaluation.metrics.gap import NormPersonalGap
from evaluation.metrics.items import items_frame
from evaluation.metrics.registry import METRICS, Invariance, Metric, Takes
from evaluation.metrics.result import Estimate
from evaluation.metrics.row_level import RowLevelAlignment

RESULTS = (
    Estimate, NormPersonalGap, RowLevelAlignment, DecisionFlips, OptionPosition, LevelContrast, DropOneDeviance
)  # fmt: skip
# It averages metrics and is none.
NOT_METRICS = {"mean_of_defined"}
CASES = [(metric, options) for metric in METRICS.values() for options in metric.variants]
IDS = [f"{metric.name}-{'-'.join(map(str, options.values()))}" for metric, options in CASES]


def public_metrics():
    for module_info in pkgutil.iter_modules(evaluation.metrics.__path__):
        module = importlib.import_module(f"evaluation.metrics.{module_info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and get_type_hints(function).get("return") in RESULTS:
                yield name, function


def test_every_public_metric_is_registered():
    registered = {metric.compute for metric in METRICS.values()}
    missing = [name for name, function in public_metrics() if function not in registered and name not in NOT_METRICS]
    assert missing == []


def test_registered_names_are_those_of_the_functions():
    own_name = [metric for metric in METRICS.values() if metric.takes is not Takes.ANSWERS]
    assert [metric.name for metric in own_name] == [metric.compute.__name__ for metric in own_name]


@st.composite
def counts(draw):
    row = st.tuples(*[st.integers(0, 4)] * 3)
    return (np.array(draw(st.lists(row, min_size=1, max_size=12))),)


@st.composite
def ratings(draw):
    value = st.sampled_from(["A", "B", "C", None])
    rows = draw(st.lists(st.tuples(value, value), min_size=1, max_size=12))
    return (pd.DataFrame(rows, columns=["r", "s"], dtype=object),)


@st.composite
def replaced(draw):
    value = st.sampled_from(["A", "B", "C", None])
    rows = draw(st.lists(st.tuples(*[value] * 4), min_size=1, max_size=12))
    return (pd.DataFrame(rows, columns=["r", "s", "t", "model"], dtype=object),)


@st.composite
def items(draw):
    side = st.integers(0, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    rows = draw(st.lists(st.tuples(side, side), min_size=1, max_size=12))
    columns = zip(*[(*human, *model) for human, model in rows], strict=True)
    return (items_frame(*columns),)


@st.composite
def coded(draw):
    answer = st.sampled_from([0.0, 1.0, math.nan])
    rows = draw(st.lists(st.tuples(answer, answer, st.sampled_from("pqrs")), min_size=1, max_size=12))
    return (pd.DataFrame(rows, columns=["first", "second", "unit"]),)


@st.composite
def cells(draw):
    cell = st.integers(0, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    return (pd.DataFrame(draw(st.lists(cell, min_size=1, max_size=12)), columns=["n", "n_culture"]),)


@st.composite
def tables(draw):
    rows, columns = draw(st.sampled_from([(2, 2), (3, 2), (2, 4), (4, 3)]))
    row = st.lists(st.integers(0, 9), min_size=columns, max_size=columns)
    return (np.array(draw(st.lists(row, min_size=rows, max_size=rows))),)


@st.composite
def answers(draw):
    people = draw(st.lists(st.integers(0, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=3))
    human = pd.DataFrame([(i, *side) for i, side in enumerate(people[:3])], columns=["item", "n", "n_culture"])
    model = st.tuples(st.integers(0, 3), st.sampled_from(["A", "B", "a", "?", None]))
    rows = draw(st.lists(model, min_size=1, max_size=12))
    return human, pd.DataFrame(rows, columns=["item", "answer"])


@st.composite
def distributions(draw):
    row = st.tuples(*[st.integers(0, 4)] * 3)
    rows = np.array(draw(st.lists(st.tuples(row, row), min_size=1, max_size=12)))
    return rows[:, 0], rows[:, 1]


@st.composite
def orders(draw):
    answer = st.sampled_from([0.0, 1.0, math.nan])
    asked = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 1.0])), min_size=1, unique=True)
    rows = [(draw(answer), order, item) for item, order in draw(asked)]
    return (pd.DataFrame(rows, columns=["first", "second", "unit"]),)


@st.composite
def levels(draw):
    cell = st.lists(st.integers(0, 4), min_size=3, max_size=3).map(lambda numbers: sorted(numbers, reverse=True))
    rows = draw(st.lists(st.tuples(st.sampled_from("pqr"), cell), min_size=1, max_size=12))
    columns = ["level", "n_rows", "n", "n_culture"]
    return (pd.DataFrame([(level, *numbers) for level, numbers in rows], columns=columns),)


@st.composite
def factors(draw):
    answer = st.sampled_from([0.0, 1.0, math.nan])
    rows = st.lists(st.tuples(answer, st.sampled_from("pqr"), st.sampled_from("st")), min_size=1, max_size=12)
    return (pd.DataFrame(draw(rows), columns=["follow", "level", "other"]),)


@st.composite
def choices(draw):
    asked = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12, unique=True)
    rows = [(*row, draw(st.sampled_from(["A", "B", None]))) for row in draw(asked)]
    return (pd.DataFrame(rows, columns=["item", "right_first", "choice"]),)


@st.composite
def battles(draw):
    models = st.permutations("pqrs").map(lambda order: order[:2])
    rows = draw(st.lists(st.tuples(models, st.sampled_from(["left", "right", "tie"])), min_size=1, max_size=12))
    return (pd.DataFrame([(*pair, winner) for pair, winner in rows], columns=["left", "right", "winner"]),)


@st.composite
def tones(draw):
    rows = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["fear", "hope", "zeal"])), min_size=1, max_size=12)
    return tuple(pd.DataFrame(draw(rows), columns=["post", "tone"]) for _ in range(2))


@st.composite
def posts(draw):
    attitude = st.sampled_from([-1.0, -0.4, 0.0, 0.5, 1.0])
    rows = draw(st.lists(st.tuples(attitude, attitude), min_size=1, max_size=12))
    return (pd.DataFrame([(n, *row) for n, row in enumerate(rows)], columns=["post", "real", "simulated"]),)


DATA = {
    Takes.COUNTS: counts(),
    Takes.RATINGS: ratings(),
    Takes.REPLACED: replaced(),
    Takes.ITEMS: items(),
    Takes.CODED: coded(),
    Takes.CELLS: cells(),
    Takes.TABLE: tables(),
    Takes.ANSWERS: answers(),
    Takes.DISTRIBUTIONS: distributions(),
    Takes.ORDERS: orders(),
    Takes.LEVELS: levels(),
    Takes.FACTORS: factors(),
    Takes.CHOICES: choices(),
    Takes.BATTLES: battles(),
    Takes.TONES: tones(),
    Takes.POSTS: posts(),
}


COLUMNS = dict.fromkeys(["chosen", "personal", "first", "left"], "first")
COLUMNS |= dict.fromkeys(["norm", "second", "right", "culture_first"], "second")
COLUMNS |= dict.fromkeys(["respondents", "sources", "items"], "unit")
# Metrics of these take an array for each column, the others the whole frame.
BY_COLUMN = {Takes.CODED, Takes.ORDERS}


def computed(metric: Metric, data, options):
    if metric.takes in BY_COLUMN:
        parameters = inspect.signature(metric.compute).parameters
        return metric.compute(**{name: data[0][COLUMNS[name]] for name in parameters if name in COLUMNS})
    return metric.compute(*data, **options)


def value(metric: Metric, data, options) -> float:
    return metric.read(computed(metric, data, options))


def reason(metric: Metric, found) -> str:
    own = metric.name.removeprefix("row_level_")
    return getattr(found, own).reason if metric.takes is Takes.ANSWERS else found.reason


def rows_taken(takes: Takes, data, order):
    if takes is Takes.DISTRIBUTIONS:
        return tuple(side[order] for side in data)
    *before, table = data
    taken = table[order] if isinstance(table, np.ndarray) else table.iloc[order].reset_index(drop=True)
    return (*before, taken)


UNITS = {Takes.ITEMS: "item", Takes.POSTS: "post"}
RELABELLED = {
    Takes.CHOICES: lambda frame: frame.assign(choice=frame["choice"].map({"A": "B", "B": "A"})),
    Takes.TONES: lambda frame: frame.assign(tone=frame["tone"].map({"fear": "zeal", "zeal": "joy", "hope": "fear"})),
    Takes.POSTS: lambda frame: frame.assign(real=-frame["real"], simulated=-frame["simulated"]),
}
SWAPPED = {"left": "right", "right": "left", "real": "simulated", "simulated": "real"}


def renamed(takes: Takes, data):
    """The same items under other names, so that an item given twice is two items."""
    if takes in UNITS:
        return (data[0].assign(**{UNITS[takes]: range(len(data[0]))}),)
    return data


def other_labels(takes: Takes, data):
    if takes in RELABELLED:
        return tuple(map(RELABELLED[takes], data))
    if takes is Takes.COUNTS:
        return (data[0][:, [2, 0, 1]],)
    if takes is Takes.DISTRIBUTIONS:
        return tuple(side[:, [2, 0, 1]] for side in data)
    if takes is Takes.TABLE:
        return (data[0][:, ::-1],)
    if takes in BY_COLUMN:
        return (data[0].assign(first=1 - data[0]["first"], second=1 - data[0]["second"]),)
    if takes is Takes.FACTORS:
        return (data[0].assign(follow=1 - data[0]["follow"]),)
    if takes is Takes.CELLS:
        return (data[0].assign(n_culture=data[0]["n"] - data[0]["n_culture"]),)
    if takes in {Takes.RATINGS, Takes.REPLACED}:
        return (data[0].map({"A": "third", "B": "first", "C": "second"}.get),)
    if takes is Takes.ANSWERS:
        human, model = data
        swapped = model["answer"].map(lambda label: {"A": "B", "B": "A", "a": "b"}.get(label, label))
        return human.assign(n_culture=human["n"] - human["n_culture"]), model.assign(answer=swapped)
    frame = data[0]
    flipped = {f"n_{side}_culture": frame[f"n_{side}"] - frame[f"n_{side}_culture"] for side in ("human", "model")}
    return (frame.assign(**flipped),)


def other_side(takes: Takes, data):
    if takes in {Takes.DISTRIBUTIONS, Takes.TONES}:
        return data[::-1]
    (frame,) = data
    if takes in {Takes.BATTLES, Takes.POSTS}:
        return (frame.replace(SWAPPED).rename(columns=SWAPPED),)
    if takes is Takes.RATINGS:
        return (frame[["s", "r"]],)
    if takes is Takes.TABLE:
        return (frame.T,)
    if takes is Takes.CODED:
        return (frame.rename(columns={"first": "second", "second": "first"}),)
    swapped = {name: name.replace("human", "*").replace("model", "human").replace("*", "model") for name in frame}
    return (frame.rename(columns=swapped),)


def changed(invariance: Invariance, takes: Takes, data, order):
    if invariance is Invariance.ROWS:
        return rows_taken(takes, data, order)
    if invariance is Invariance.DUPLICATES:
        return renamed(takes, rows_taken(takes, data, [*order, *order]))
    return other_labels(takes, data) if invariance is Invariance.LABELS else other_side(takes, data)


PROPERTIES = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(("metric", "options"), CASES, ids=IDS)
@PROPERTIES
@given(sample=st.data())
def test_values_are_in_range_or_say_why_they_are_undefined(metric, options, sample):
    found = computed(metric, sample.draw(DATA[metric.takes]), options)
    got = metric.read(found)
    assert reason(metric, found) if math.isnan(got) else metric.low - 1e-12 <= got <= metric.high + 1e-12


@pytest.mark.parametrize(("metric", "options"), CASES, ids=IDS)
@PROPERTIES
@given(sample=st.data())
def test_claimed_invariances_hold(metric, options, sample):
    data = sample.draw(DATA[metric.takes])
    order = sample.draw(st.permutations(range(len(data[-1]))))
    before = value(metric, data, options)
    for invariance in metric.invariances:
        after = value(metric, changed(invariance, metric.takes, data, order), options)
        one_pair_became_two = invariance is Invariance.DUPLICATES and math.isnan(before)
        assert one_pair_became_two or after == pytest.approx(before, abs=1e-9, nan_ok=True), invariance


@PROPERTIES
@given(items())
def test_gaps_turn_with_the_labels_and_bound_each_other(data):
    (frame,) = data
    culture, preference = (METRICS[f"signed_{side}_gap"].compute(frame) for side in ("culture", "preference"))
    assume(culture.defined)
    assert preference.value == pytest.approx(-culture.value)
    assert METRICS["signed_culture_gap"].compute(*other_labels(Takes.ITEMS, data)).value == pytest.approx(
        -culture.value
    )
    assert METRICS["rate_abs_diff_of_means"].compute(frame).value <= METRICS["rate_mae"].compute(frame).value + 1e-12
