"""How close the tones of simulated reactions come to the observed ones, and which communities gain by being named."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evaluation.figures import COOL_SHADES, heat_map
from evaluation.metrics.gap import mcnemar_exact
from evaluation.metrics.reactions import tone_ceiling, tone_deltas, tone_estimates
from evaluation.metrics.result import Estimate
from evaluation.metrics.transitions import Transitions, community_transitions
from evaluation.reactions_report.reactions import ALL, CEILING, WHY_ALL_POSTS, Reactions
from evaluation.sections.answerers import AskedModel
from evaluation.sections.shape import Cell, Column, Figure, Row, Section, Table, estimate_cell

_WHO = (Column("model", "Model", "name"), Column("split", "Split", "name"))
_POSTS = Column("posts", "Posts", "count", "n")
LEVELS = (
    *_WHO,
    Column("level", "Told", "name"),
    _POSTS,
    Column("exact_match", "Tone exact match", "estimate", "0 to 1"),
    Column("coverage", "Tone coverage", "estimate", "0 to 1"),
    Column("divergence", "JSD", "estimate", "bits"),
    Column("divergence_posts", "JSD, posts alike", "estimate", "bits", shown=False),
)
DELTAS = (
    *_WHO,
    _POSTS,
    Column("exact_match", "Δ exact match", "estimate"),
    Column("mcnemar", "McNemar, exact", "estimate", "p"),
    Column("coverage", "Δ coverage", "estimate"),
    Column("divergence", "Δ JSD", "estimate", "bits"),
    Column("divergence_posts", "Δ JSD, posts alike", "estimate", "bits", shown=False),
)
MOVES = (
    Column("model", "Model", "name"),
    Column("communities", "Communities", "count", "n"),
    Column("improved", "Improved", "count", "n"),
    Column("equal", "Equal", "count", "n"),
    Column("degraded", "Degraded", "count", "n"),
    Column("same_interval", "In the same interval", "count", "n"),
)
COMMUNITIES = (
    Column("model", "Model", "name"),
    Column("community", "Community", "name"),
    _POSTS,
    Column("blind", "Exact match, blind", "estimate", "0 to 1"),
    Column("informed", "Exact match, informed", "estimate", "0 to 1"),
    Column("change", "Change", "estimate"),
)
BINS = 5


def tones(reactions: Reactions) -> Section | None:
    """None when no post has an observed and a simulated tone."""
    levels = [row for model in reactions.models for row in _levels(reactions, model)]
    if not levels:
        return None
    parameters = reactions.parameters
    levels = [*_ceiling(reactions), *levels]
    tables = [Table("tones", "Tones of simulated reactions", "By what the model was told.", LEVELS, tuple(levels))]
    if deltas := tuple(row for model in reactions.models for row in _deltas(reactions, model)):
        caption = f"{parameters.informed} less {parameters.blind}, on posts that were simulated both ways."
        tables.append(Table("tone_deltas", "What telling the community changes in tones", caption, DELTAS, deltas))
    return Section(
        code="tones",
        title="Tones",
        paragraphs=(
            "Tone exact match is the share of posts whose simulated tone is one of the observed ones, so it is easier "
            "to reach on posts with many reactions. Tone coverage is the share of the different observed tones that "
            "were simulated at all: it grows with the number of posts, so only splits of one size can be compared.",
            "JSD is the Jensen-Shannon divergence of observed and simulated tones in bits, without a root: 0 when both "
            "have the same distribution, however they are spread over posts. Every reaction counts alike.",
            f"{CEILING}: one observed reaction of each post in the place of a simulated one, against the post's "
            f"others, on posts with two or more; coverage and JSD are means of {parameters.splits} draws. A model is "
            f"held against one reaction more, so one that reacts as people do can pass it a little. {WHY_ALL_POSTS}",
            f"Brackets are 95 % bootstrap intervals over {reactions.clustered} ({parameters.resamples} resamples, seed "
            f"{parameters.seed}). Resamples repeat posts, which lowers coverage and raises JSD; their intervals are "
            "moved back by as much. McNemar's test takes posts as independent.",
        ),
        tables=tuple(tables),
    )


def _levels(reactions: Reactions, model: AskedModel) -> Iterator[Row]:
    for split, posts in reactions.splits.items():
        for level in reactions.levels:
            observed, simulated = reactions.tones(model, level, posts)
            found = tone_estimates(observed, simulated, communities=reactions.communities, **reactions.resampling)
            if found["tone_exact_match"].n:
                cells: dict[str, Cell] = {"model": reactions.label(model), "split": split, "level": level}
                marks = (*reactions.who.people_marks, model.mark)
                yield Row(cells | _cells(found), marks, n_people=reactions.who.n_people)


def _ceiling(reactions: Reactions) -> Iterator[Row]:
    observed = reactions.of(reactions.observed_tones, reactions.splits[ALL])
    found = tone_ceiling(
        observed, communities=reactions.communities, n_splits=reactions.parameters.splits, **reactions.resampling
    )
    if found["tone_exact_match"].n:
        cells: dict[str, Cell] = {"model": CEILING, "split": ALL, "level": ""}
        yield Row(cells | _cells(found), reactions.who.people_marks, n_people=reactions.who.n_people)


def _deltas(reactions: Reactions, model: AskedModel) -> Iterator[Row]:
    for split, posts in reactions.splits.items():
        pairs = reactions.paired_matches(model, posts)
        if pairs.empty:
            continue
        (observed, blind), (_, informed) = (reactions.tones(model, level, posts) for level in reactions.levels)
        found = tone_deltas(observed, blind, informed, communities=reactions.communities, **reactions.resampling)
        change = pairs["match_informed"] - pairs["match_blind"]
        p = mcnemar_exact(int((change > 0).sum()), int((change < 0).sum()))
        cells: dict[str, Cell] = {"model": reactions.label(model), "split": split}
        cells |= _cells(found) | {"mcnemar": estimate_cell(Estimate(p, len(pairs)))}
        marks = (*reactions.who.people_marks, model.mark)
        yield Row(cells, marks, n_people=reactions.who.n_people)


def _cells(found: Mapping[str, Estimate]) -> dict[str, Cell]:
    cells = {name.removeprefix("tone_"): estimate_cell(each) for name, each in found.items()}
    return {"posts": found["tone_exact_match"].n, **cells}


def communities(reactions: Reactions) -> Section | None:
    """None without communities, or where none was simulated both blind and informed."""
    moved = {model: _moved(reactions, model) for model in reactions.models if len(reactions.communities)}
    moved = {model: found for model, found in moved.items() if len(found.scores)}
    if not moved:
        return None
    return Section(
        code="communities",
        title="Which communities gain",
        paragraphs=(
            "The tone exact match of each community, blind and informed. Communities on the diagonal stay in their "
            "interval, those above it come closer when they are named. A community with few posts moves far by a "
            "single one, so the picture shows that communities differ, not which of them a model knows.",
        ),
        tables=(
            Table(
                "moves",
                "Communities that move",
                "Improved: a higher exact match when named.",
                MOVES,
                tuple(_move(reactions, model, found) for model, found in moved.items()),
            ),
            Table(
                "communities",
                "Exact match by community",
                "On posts that were simulated both ways.",
                COMMUNITIES,
                tuple(row for model, found in moved.items() for row in _scores(reactions, model, found)),
            ),
        ),
        figures=tuple(
            _figure(reactions, model, number, found) for number, (model, found) in enumerate(moved.items(), start=1)
        ),
    )


def _moved(reactions: Reactions, model: AskedModel) -> Transitions:
    pairs = reactions.paired_matches(model, reactions.splits[ALL])
    return community_transitions(pairs.dropna(), n_bins=BINS)


def _move(reactions: Reactions, model: AskedModel, found: Transitions) -> Row:
    return Row(
        {
            "model": reactions.label(model),
            "communities": len(found.scores),
            "improved": found.n_improved,
            "equal": found.n_equal,
            "degraded": found.n_degraded,
            "same_interval": found.n_diagonal,
        },
        marks=(*reactions.who.people_marks, model.mark),
    )


def _scores(reactions: Reactions, model: AskedModel, found: Transitions) -> Iterator[Row]:
    for community, n, blind, informed in found.scores[["n", "blind", "informed"]].itertuples():
        values = {"blind": blind, "informed": informed, "change": informed - blind}
        yield Row(
            {
                "model": reactions.label(model),
                "community": str(community),
                "posts": int(n),
                **{name: estimate_cell(Estimate(value, int(n))) for name, value in values.items()},
            },
            marks=(*reactions.who.people_marks, model.mark),
        )


def _figure(reactions: Reactions, model: AskedModel, number: int, found: Transitions) -> Figure:
    edges = [f"{low / BINS:.1f} to {(low + 1) / BINS:.1f}" for low in range(BINS)]
    marked = reactions.who.marked(*reactions.who.people_marks, model.mark)

    def cell(down: int, across: int) -> dict[str, Any]:
        n = int(found.matrix[down, across])
        words = {"down": edges[down], "across": edges[across], "label": str(n) if n else ""}
        return {**words, "value": n or None, "low": None, "high": None, "n": n, **marked}

    return Figure(
        code=f"transitions_{number}",
        title=f"How communities move when they are named: {reactions.label(model)}",
        caption=f"Communities by their tone exact match, blind (across) and informed (up); n = {len(found.scores)} "
        "communities. An interval holds its lower end, the last one also 1.",
        source=reactions.source,
        spec=heat_map(
            [cell(down, across) for down in range(BINS) for across in range(BINS)],
            across=edges,
            down=edges[::-1],
            titles=("Exact match, blind", "Exact match, informed"),
            domain=(0, int(np.max(found.matrix))),
            colours=COOL_SHADES,
            caution=reactions.who.caution,
        ),
    )
