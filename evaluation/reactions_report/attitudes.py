"""How close the attitudes of simulated reactions come to the observed ones, and what telling the community changes."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from evaluation.marks import Mark
from evaluation.metrics.attitude_deltas import error_tests
from evaluation.metrics.attitudes import attitude_correlation, attitude_shares
from evaluation.metrics.delta_resampling import delta_intervals, swap_tests
from evaluation.metrics.dependent_correlations import steiger_test, williams_test
from evaluation.metrics.reactions import attitude_ceiling, attitude_estimates
from evaluation.metrics.result import Estimate
from evaluation.reactions_report.figures import ATTITUDES, shares
from evaluation.reactions_report.reactions import ALL, CEILING, WHY_ALL_POSTS, Reactions
from evaluation.sections.answerers import AskedModel
from evaluation.sections.shape import Cell, Column, Figure, Row, Section, Table, estimate_cell, two_decimals

_WHO = (Column("model", "Model", "name"), Column("split", "Split", "name"))
_POSTS = Column("posts", "Posts", "count", "n")
LEVELS = (
    *_WHO,
    Column("level", "Told", "name"),
    _POSTS,
    Column("rmse", "RMSE", "estimate", "0 to 2"),
    Column("mean_error", "Mean error", "estimate", "−2 to 2"),
    Column("correlation", "Spearman’s ρ", "estimate", "−1 to 1"),
)
DELTAS = (
    *_WHO,
    _POSTS,
    Column("delta_rmse", "Δ RMSE", "estimate"),
    Column("p_rmse", "Swap test", "estimate", "p"),
    Column("delta_abs_me", "Δ |mean error|", "estimate"),
    Column("p_abs_me", "Swap test", "estimate", "p"),
    Column("delta_rho", "Δ ρ", "estimate"),
    Column("p_rho", "Swap test", "estimate", "p"),
    Column("williams", "Williams’ test of ρ", "estimate", "p"),
    Column("steiger", "Steiger’s test of ρ", "estimate", "p", shown=False),
    Column("signed_t", "Paired t of errors", "estimate", "p", shown=False),
    Column("squared_t", "Paired t of squared errors", "estimate", "p", shown=False),
)
OBSERVED = "Observed"


def attitudes(reactions: Reactions) -> Section | None:
    """None when no post has an observed and a simulated attitude."""
    levels = [row for model in reactions.models for row in _levels(reactions, model)]
    if not levels:
        return None
    levels = [*_ceiling(reactions), *levels]
    parameters = reactions.parameters
    deltas = tuple(row for model in reactions.models for row in _deltas(reactions, model))
    tables = [
        Table("attitudes", "Attitudes of simulated reactions", "By what the model was told.", LEVELS, tuple(levels))
    ]
    if deltas:
        caption = f"{parameters.informed} less {parameters.blind}, on posts that were simulated both ways."
        tables.append(
            Table("attitude_deltas", "What telling the community changes in attitudes", caption, DELTAS, deltas)
        )
    return Section(
        code="attitudes",
        title="Attitudes",
        paragraphs=(
            "Each simulated attitude is held against the mean of the attitudes that were observed to the same post. "
            "The mean error is positive where the model is more positive than people; errors in opposite directions "
            "cancel in it, not in the RMSE. Spearman’s ρ says whether the model finds the same posts negative.",
            f"Δ is {parameters.informed} less {parameters.blind}: below 0 is better for RMSE and |mean error|, above 0 "
            f"for ρ. The swap test exchanges both within {reactions.clustered} (all patterns, or {parameters.swaps:,} "
            f"drawn ones, seed {parameters.seed}); Williams’ test is a named alternative for ρ that takes posts as "
            "independent. Many tests find something by chance: they are not corrected for their number.",
            f"{CEILING}: one observed reaction of each post against the mean of the post's others, on posts with two "
            f"or more; ρ is the mean of {parameters.splits} draws. A post has few observed reactions, so even a model "
            f"that reacts as one more person has these errors; signed ones cancel each other out. {WHY_ALL_POSTS}",
            f"Brackets are 95 % bootstrap intervals over {reactions.clustered} ({parameters.resamples} resamples).",
        ),
        tables=tuple(tables),
        figures=(_figure(reactions),),
    )


def _levels(reactions: Reactions, model: AskedModel) -> Iterator[Row]:
    for split, posts in reactions.splits.items():
        for level in reactions.levels:
            frame = reactions.attitudes(model, level, posts)
            if len(frame):
                cells: dict[str, Cell] = {"model": reactions.label(model), "split": split, "level": level}
                found = attitude_estimates(frame, communities=reactions.communities, **reactions.resampling)
                marks = (*reactions.who.people_marks, model.mark)
                yield Row(cells | _cells(found, len(frame)), marks, n_people=reactions.who.n_people)


def _ceiling(reactions: Reactions) -> Iterator[Row]:
    """What people reach with each other, who have no mean error."""
    observed = reactions.of(reactions.observed_attitudes, reactions.splits[ALL])
    found = attitude_ceiling(
        observed, communities=reactions.communities, n_splits=reactions.parameters.splits, **reactions.resampling
    )
    if n := found["attitude_rmse"].n:
        cells: dict[str, Cell] = {"model": CEILING, "split": ALL, "level": ""}
        cells |= _cells(found | {"attitude_mean_error": Estimate(0.0, n)}, n)
        yield Row(cells, reactions.who.people_marks, n_people=reactions.who.n_people)


def _cells(found: Mapping[str, Estimate], posts: int) -> dict[str, Cell]:
    return {"posts": posts} | {name.removeprefix("attitude_"): estimate_cell(each) for name, each in found.items()}


def _deltas(reactions: Reactions, model: AskedModel) -> Iterator[Row]:
    parameters = reactions.parameters
    for split, posts in reactions.splits.items():
        pairs = reactions.pairs(model, posts)
        if pairs.empty:
            continue
        clusters, n = reactions.clusters(pairs["post"]), len(pairs)
        found = delta_intervals(pairs, communities=clusters, n_resamples=parameters.resamples, seed=parameters.seed)
        swapped = swap_tests(pairs, communities=clusters, n_swaps=parameters.swaps, seed=parameters.seed)
        cells: dict[str, Cell] = {"model": reactions.label(model), "split": split, "posts": n}
        cells |= {name: estimate_cell(delta) for name, delta in found.items()}
        cells |= {
            name.replace("delta", "p"): estimate_cell(Estimate(test.p, n, reason=test.reason))
            for name, test in swapped.items()
        }
        cells |= {name: estimate_cell(test) for name, test in _alternatives(pairs).items()}
        yield Row(cells, marks=(*reactions.who.people_marks, model.mark), n_people=reactions.who.n_people)


def _alternatives(pairs: pd.DataFrame) -> dict[str, Estimate]:
    """The p-values of the named alternatives to swap tests."""
    n = len(pairs)
    informed, blind, between = (
        attitude_correlation(pd.DataFrame({"post": pairs["post"], "real": pairs[one], "simulated": pairs[other]})).value
        for one, other in (("real", "informed"), ("real", "blind"), ("blind", "informed"))
    )
    tests = {
        "williams": williams_test(informed, blind, between, n),
        "steiger": steiger_test(informed, blind, between, n),
        **{name: test for name, test in error_tests(pairs).items() if name in ("signed_t", "squared_t")},
    }
    return {name: _p(test.p, n) for name, test in tests.items()}


def _p(p: float, n: int) -> Estimate:
    return Estimate.undefined("too few posts, or no difference to test", n=n) if np.isnan(p) else Estimate(p, n)


def _figure(reactions: Reactions) -> Figure:
    sides: list[tuple[str, Mark, tuple[Mark, ...], pd.DataFrame]] = [
        (OBSERVED, reactions.who.people_mark, reactions.who.people_marks, reactions.observed_attitudes)
    ]
    for model in reactions.models:
        given = model.of(reactions.simulated_attitudes)
        for level in reactions.levels:
            name = f"{reactions.label(model)} · {level}"
            sides.append((name, model.mark, (model.mark,), given[given["level"] == level]))
    rows = []
    for name, mark, marks, given in sides:
        start = 0.0
        signs = pd.Series(np.repeat(np.sign(given["attitude"].to_numpy()), given["n"]))
        for attitude, share in zip(ATTITUDES, attitude_shares(signs).values(), strict=True):
            if len(signs):
                part = {"value": share, "low": start, "high": start + share, "middle": start + share / 2}
                words = two_decimals(share) if share >= 0.12 else ""
                rows.append(
                    {"who": name, "mark": mark, "attitude": attitude, **part, "n": len(signs), "label": words}
                    | reactions.who.marked(*marks)
                )
                start += share
    return Figure(
        code="attitude_shares",
        title="Attitudes of observed and of simulated reactions",
        caption="Shares of negative (left, dark), neutral or mixed, and positive (right, light) reactions; every "
        f"reaction counts alike. {reactions.who.legend}",
        source=reactions.source,
        spec=shares(
            rows,
            who=[name for name, *_ in sides],
            x_title="Share of reactions",
            caution=reactions.who.caution,
        ),
    )
