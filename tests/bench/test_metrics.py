"""The metrics' benchmark on small data; nothing is timed here."""

import pytest

from bench import metrics_data
from bench.metrics_data import FACTORS
from bench.metrics_parts import measure_plain
from evaluation.metrics.deviance import drop_one_deviance


def test_the_search_and_plain_loops_are_compared_on_the_same_pairs():
    part = measure_plain(4, rounds=1)
    (ratio,) = part.targets
    assert ratio.value > 0  # NaN where they find other subsets
    assert part.line.startswith("4 preferences by plain loops")


def test_the_dense_reference_has_the_deviances_of_the_library(monkeypatch):
    monkeypatch.setattr(metrics_data, "ANSWERS", 400)
    answers = metrics_data.survey_answers(seed=3)
    dense = metrics_data.dense_deviances(answers)
    found = drop_one_deviance(answers, outcome="follow", factors=FACTORS, marginality="with_interactions")
    assert found.n_separated
    assert dense["full"] == pytest.approx(found.deviance, abs=1e-6)
    assert {name: dense[name] for name in FACTORS} == pytest.approx(
        {name: factor.reduced_deviance for name, factor in found.factors.items()}, abs=1e-6
    )
