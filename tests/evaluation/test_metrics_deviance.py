"""Drop-one deviance against a dense reference, and where the usual implementations go wrong without an error."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from evaluation.metrics.deviance import clustered_p_values, drop_one_deviance

MAIN = {name: [name] for name in ("question", "country", "scenario", "relation")}
WITH_INTERACTION = MAIN | {"question x country": ["question:country"]}


@pytest.fixture
def answers():
    """The relation is a function of the two countries, and everybody follows culture in scenarios of Iran."""
    rng, n = np.random.default_rng(7), 360
    frame = pd.DataFrame(
        {
            "person": np.arange(n) // 4,
            "question": rng.choice(["personal", "norm"], n),
            "country": np.repeat(rng.choice(["Brazil", "India", "Kenya"], n // 4), 4),
            "scenario": rng.choice(["Brazil", "India", "Iran", "Japan"], n),
        }
    )
    frame["relation"] = np.where(frame["country"] == frame["scenario"], "same", "far")
    odds = (frame["question"] == "norm") * 1.0 - (frame["scenario"] == "Japan") * 1.5
    frame["follow"] = np.where(frame["scenario"] == "Iran", 1.0, rng.random(n) < expit(odds))
    return frame


def dropped(answers, factors, marginality="type_ii"):
    return drop_one_deviance(answers, outcome="follow", factors=factors, marginality=marginality)


def test_counted_answers_give_what_single_ones_give(answers: pd.DataFrame):
    columns = ["question", "country", "scenario", "relation", "follow"]
    counted = answers.groupby(columns).size().reset_index(name="times")
    found = drop_one_deviance(counted, outcome="follow", factors=MAIN, marginality="type_ii", times="times")
    single = dropped(answers, MAIN)
    assert (found.n, found.df_model, found.n_separated) == (single.n, single.df_model, single.n_separated)
    assert found.deviance == pytest.approx(single.deviance)
    for name, factor in single.factors.items():
        assert found.factors[name].drop_in_deviance == pytest.approx(factor.drop_in_deviance)


def dense_deviance(answers, columns):
    """Dummies of every level, a pseudo-inverse at each step and a row for each answer."""
    design = pd.get_dummies(answers[columns].astype(str)).to_numpy(float)
    design = np.column_stack([np.ones(len(answers)), design])
    outcome, beta = answers["follow"].to_numpy(float), np.zeros(design.shape[1])
    for _ in range(60):
        p = expit(design @ beta)
        weights = np.maximum(p * (1 - p), 1e-12)
        beta += np.linalg.pinv(design.T @ (design * weights[:, None])) @ design.T @ (outcome - p)
    return -2 * np.sum(np.log(np.where(outcome == 1, expit(design @ beta), expit(-design @ beta))))


def test_deviances_and_degrees_of_freedom_are_those_of_a_dense_reference(answers):
    found = dropped(answers, MAIN)
    assert found.deviance == pytest.approx(dense_deviance(answers, list(MAIN)), abs=1e-6)
    for name, factor in found.factors.items():
        without = [column for column in MAIN if column != name]
        assert factor.reduced_deviance == pytest.approx(dense_deviance(answers, without), abs=1e-6)
    # Relation is one column more than the two countries give; design_columns counts the redundant ones too.
    assert [factor.df for factor in found.factors.values()] == [1, 2, 3, 1]
    assert (found.df_model, found.design_columns) == (7, 8)


def test_separated_answers_are_flagged_and_their_deviance_is_the_limit(answers):
    iran = answers["scenario"] == "Iran"
    assert dropped(answers, MAIN).n_separated == iran.sum()
    rest = dropped(answers[~iran], MAIN)
    assert (rest.n_separated, rest.deviance) == (0, pytest.approx(dropped(answers, MAIN).deviance, abs=1e-8))


def test_a_main_effect_whose_interaction_stays_has_no_degree_of_freedom(answers):
    ignored = dropped(answers, WITH_INTERACTION, "ignored").factors["question"]
    assert (ignored.df, ignored.drop_in_deviance) == (0, pytest.approx(0, abs=1e-8))
    assert math.isnan(ignored.p)
    assert math.isnan(ignored.q)
    assert "no degree of freedom" in ignored.reason
    type_ii = dropped(answers, WITH_INTERACTION).factors
    together = dropped(answers, WITH_INTERACTION, "with_interactions").factors
    assert type_ii["question"].drop_in_deviance == pytest.approx(
        dropped(answers, MAIN).factors["question"].drop_in_deviance
    )
    assert (type_ii["question"].df, together["question"].df) == (1, 3)
    assert together["question"].drop_in_deviance == pytest.approx(
        type_ii["question"].drop_in_deviance + type_ii["question x country"].drop_in_deviance
    )


def test_a_factor_may_have_several_terms_and_contains_what_any_of_them_is_in(answers):
    answers["age"], answers["other age"] = answers["person"] % 2, answers["person"] % 3
    factors = {"people": ["age", "country"], "ages": ["age:other age"]}
    found = dropped(answers, factors)
    assert (found.factors["people"].df, found.factors["ages"].df) == (3, 4)


def test_one_kind_of_outcome_has_nothing_to_explain(answers):
    found = dropped(answers.assign(follow=1.0), MAIN)
    assert (found.deviance, found.n_separated) == (0, len(answers))
    assert {(factor.p, factor.q) for factor in found.factors.values()} == {(1.0, 1.0)}


def test_what_is_not_usable_is_left_out_and_counted(answers):
    spoilt = answers.assign(follow=answers["follow"].where(answers.index != 0))
    spoilt.loc[1, "scenario"] = None
    found = dropped(spoilt, MAIN)
    assert (found.n, found.n_left_out) == (len(answers) - 2, 2)
    assert found.deviance == pytest.approx(dropped(answers.iloc[2:], MAIN).deviance)
    nothing = dropped(answers.assign(follow=math.nan), MAIN)
    assert nothing.reason == nothing.factors["country"].reason == "there is no valid answer with all factors"


@settings(max_examples=25)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.integers(0, 1)), min_size=1, max_size=30))
def test_no_deviance_rises_when_a_term_is_added(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "follow"])
    for marginality in ("type_ii", "with_interactions", "ignored"):
        factors = {name: [name] for name in ("a", "b", "c", "a:b", "a:b:c")}
        found = drop_one_deviance(frame, outcome="follow", factors=factors, marginality=marginality)
        for factor in found.factors.values():
            assert factor.reduced_deviance >= found.deviance - 1e-8
            assert factor.df > 0 or factor.drop_in_deviance < 1e-7


def test_answers_of_one_person_do_not_count_as_many(answers):
    """Every person repeats one answer ten times: the plain test takes that for ten people."""
    rng = np.random.default_rng(8)
    people = pd.DataFrame({"person": range(60), "country": rng.choice(["Brazil", "Kenya"], 60)})
    people["follow"] = rng.integers(0, 2, 60).astype(float)
    repeated = pd.concat([people] * 10)
    factors = {"country": ["country"]}
    once, ten_times = (dropped(frame, factors).factors["country"].p for frame in (people, repeated))
    clustered = clustered_p_values(
        repeated, outcome="follow", factors=factors, marginality="type_ii", clusters="person", n_resamples=999, seed=1
    )["country"]
    assert ten_times < 0.05 < once
    assert clustered.value == pytest.approx(once, abs=0.1)
    assert clustered.n == 60


def test_clusters_must_be_named_and_be_two(answers):
    options = {"outcome": "follow", "factors": MAIN, "marginality": "type_ii", "n_resamples": 10, "seed": 1}
    one = clustered_p_values(answers.assign(person=1), clusters="person", **options)
    assert one["country"].reason == "it needs answers of two clusters"
    with pytest.raises(ValueError, match="The clusters must all be named"):
        clustered_p_values(answers.assign(person=None), clusters="person", **options)
