"""How close models come to people, as a table of one row a number, each beside what people reach with people.

`people` and `models` are the tables of `answers.read_people` and `answers.read_models`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaluation.metrics.alignment import alignment_summary, rate_mae_floor
from evaluation.metrics.ceiling import split_half_ceiling
from evaluation.metrics.consensus import answer_consistency, modal_share
from evaluation.metrics.items import count_answers, follows_culture, pair_counts
from evaluation.metrics.persona import SubgroupAlignment, closest_subgroups, subgroup_alignment, subgroup_ceiling
from evaluation.metrics.result import Estimate
from evaluation.metrics.uncertainty import uncertainty_correlation
from protocols.pact.answers import LABELS, QUESTIONS

Row = dict[str, Any]

NO_PERSONA, OVERALL, SUBGROUP, CLOSEST = "no_persona", "persona_vs_overall", "persona_vs_subgroup", "closest_subgroup"
ALL, MEAN = "all", "mean of groups"
_CELL = ("country", "demo")
# Which attributes of a persona the people it is compared with share.
_MATCHING: Mapping[str, Sequence[str]] = {
    SUBGROUP: _CELL,
    "persona_vs_country": ("country",),
    "persona_vs_demographics": ("demo",),
}
_NO_CEILING = Estimate.undefined("")


@dataclass(frozen=True, slots=True)
class Resampling:
    """How often people are split in halves and items are drawn again for intervals, and from which seed."""

    n_splits: int
    n_resamples: int
    seed: int


def alignment_rows(people: pd.DataFrame, models: pd.DataFrame, resampling: Resampling) -> Iterator[Row]:
    """Each model without persona against all people and each group of them; with personas against all people and those
    who share their country, their demographic group or both; then how consistent people and models are.

    `n` counts items, for means groups, for consistency rows and for consensus cells.
    """
    for model, answers in models.groupby("model"):
        for question in QUESTIONS:
            alone, personas = (
                _Comparison(people, answers[answers["persona"] == persona], question, resampling)
                for persona in (False, True)
            )
            found: list[Row] = []
            if len(alone.answers):
                found += [*alone.with_everybody(NO_PERSONA), *alone.with_closest()]
            if len(personas.answers):
                found += personas.with_everybody(OVERALL)
                found += [row for name, shared in _MATCHING.items() for row in personas.with_matching(name, shared)]
            yield from ({"model": str(model), "question": question} | row for row in found)
        yield from ({"model": str(model)} | row for row in _consistency(people, answers))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Answers of one model in one setting to one question, to be compared with people."""

    people: pd.DataFrame
    answers: pd.DataFrame
    question: str
    resampling: Resampling

    def with_everybody(self, comparison: str) -> Iterator[Row]:
        human, model = self._counted(["item"])
        items = pair_counts(human, model, on=["item"])
        draws = {"n_resamples": self.resampling.n_resamples, "seed": self.resampling.seed}
        found = alignment_summary(items, **draws) | {
            "uncertainty_spearman": uncertainty_correlation(items, method="spearman"),
            "rate_mae_floor": rate_mae_floor(items),
        }
        ceiling = split_half_ceiling(items[items["n_model"] > 0], n_splits=self.resampling.n_splits, **draws)
        for metric, estimate in found.items():
            yield self._row(comparison, ALL, metric, estimate, ceiling.get(metric, _NO_CEILING))

    def with_closest(self) -> Iterator[Row]:
        (human, _), (_, model) = self._counted([*_CELL, "item"]), self._counted(["item"])
        found = closest_subgroups(human, model, cell=_CELL)
        yield from self._of_cells(CLOSEST, found)

    def with_matching(self, comparison: str, shared: Sequence[str]) -> Iterator[Row]:
        human, model = self._counted([*shared, "item"])
        found = subgroup_alignment(human, model, cell=shared)
        splits = {"n_splits": self.resampling.n_splits, "seed": self.resampling.seed}
        ceiling = subgroup_ceiling(human, model, cell=shared, **splits)
        for metric, estimate in found.means.items():
            yield self._row(comparison, MEAN, metric, estimate, ceiling[metric])
        yield from self._of_cells(comparison, found)

    def _of_cells(self, comparison: str, found: SubgroupAlignment) -> Iterator[Row]:
        """Cells without a value are left out; the reason of their mean counts them."""
        for cell, metrics in found.cells.items():
            for metric, estimate in metrics.items():
                if estimate.defined:
                    yield self._row(comparison, "|".join(map(str, cell)), metric, estimate)

    def _counted(self, by: Sequence[str]) -> list[pd.DataFrame]:
        return [count_answers(side, by=by, answer=self.question, **LABELS) for side in (self.people, self.answers)]

    def _row(
        self, comparison: str, group: str, metric: str, estimate: Estimate, ceiling: Estimate = _NO_CEILING
    ) -> Row:
        answers = self.answers[self.question]
        return _row(comparison, group, metric, estimate, ceiling) | {
            "n_answers": len(answers),
            "n_answers_left_out": int(answers.isna().sum()),
        }


def _consistency(people: pd.DataFrame, answers: pd.DataFrame) -> Iterator[Row]:
    """Same answer to both questions, and agreement of a model's answers about an item; people's in place of a ceiling.

    People's consensus is that of all people about an item.
    """
    for persona, rows in answers.groupby("persona"):
        setting = "persona" if persona else NO_PERSONA
        left_out = rows[list(QUESTIONS)].isna()
        both = {"question": "both", "n_answers": len(rows), "n_answers_left_out": int(left_out.any(axis=1).sum())}
        own, theirs = (_same_answers(side) for side in (rows, people))
        yield both | _row(setting, ALL, "answer_consistency", own, theirs)
        for question in QUESTIONS:
            own, theirs = (
                modal_share(count_answers(side, by=["item"], answer=question, **LABELS)) for side in (rows, people)
            )
            asked = {"question": question, "n_answers": len(rows), "n_answers_left_out": int(left_out[question].sum())}
            yield asked | _row(setting, ALL, "modal_share", own, theirs)


def _same_answers(rows: pd.DataFrame) -> Estimate:
    return answer_consistency(*(follows_culture(rows[question], **LABELS) for question in QUESTIONS))


def _row(comparison: str, group: str, metric: str, estimate: Estimate, ceiling: Estimate) -> Row:
    return {
        "comparison": comparison,
        "group": group,
        "metric": metric,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "human_ceiling": ceiling.value,
        "ceiling_low": ceiling.low,
        "ceiling_high": ceiling.high,
        "note": "; ".join(
            [*filter(None, [estimate.reason]), *(f"ceiling: {reason}" for reason in filter(None, [ceiling.reason]))]
        ),
    }
