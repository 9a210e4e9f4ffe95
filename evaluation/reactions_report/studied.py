"""Which communities and keyphrases a sample of posts comes from."""

from typing import Any

import numpy as np
import pandas as pd

from evaluation.figures import WARM_SHADES, heat_map
from evaluation.reactions_report.figures import distributions
from evaluation.reactions_report.reactions import Reactions
from evaluation.sections.shape import Column, Figure, Row, Section, Table

PLACES = (
    Column("topic", "Topic", "name"),
    Column("place", "Place", "name"),
    Column("communities", "Communities", "count", "n"),
    Column("posts", "Posts", "count", "n"),
)
KEYPHRASES = (
    Column("group", "Keyphrases", "name"),
    Column("keyphrases", "Keyphrases", "count", "n"),
    Column("salience", "Salience", "text", "median; largest"),
    Column("frequency", "Posts with it", "text", "median; largest"),
    Column("sparsity", "Sparsity", "text", "median; largest"),
)
EVERY, CHOSEN = "All candidates", "Most salient"
PANELS = {"salience": "Salience", "frequency": "Posts with the keyphrase", "sparsity": "Sparsity"}
STEPS_IN_LOGARITHM = 20


def studied(reactions: Reactions) -> Section | None:
    """None where neither topics and places nor keyphrases are known."""
    tables: list[Table] = []
    figures: list[Figure] = []
    paragraphs: list[str] = []
    if len(reactions.studied):
        counted = reactions.studied.groupby(["topic", "place"])
        joint = counted.agg(communities=("community", "nunique"), posts=("posts", "sum")).reset_index()
        paragraphs.append(
            "What people said each community is about and where it is. Communities of other topics and places may "
            "differ in all that follows."
        )
        tables.append(_places(reactions, joint))
        figures.append(_map(reactions, joint))
    if len(reactions.keyphrases):
        paragraphs.append(
            "Posts were chosen by keyphrases of their articles: the most salient ones are frequent and in many "
            "communities. Sparsity is the share of communities that do not have the keyphrase. A line that falls "
            "slowly has a heavy tail: few keyphrases have most of the posts."
        )
        tables.append(_keyphrases(reactions))
        figures.append(_distributions(reactions))
    if not paragraphs:
        return None
    return Section(
        code="studied",
        title="Communities and keyphrases",
        paragraphs=tuple(paragraphs),
        tables=tuple(tables),
        figures=tuple(figures),
    )


def _places(reactions: Reactions, joint: pd.DataFrame) -> Table:
    rows = tuple(
        Row({"topic": topic, "place": place, "communities": n, "posts": posts}, reactions.who.people_marks)
        for topic, place, n, posts in joint.itertuples(index=False)
    )
    return Table("places", "Communities by topic and place", "With the posts they have here.", PLACES, rows)


def _map(reactions: Reactions, joint: pd.DataFrame) -> Figure:
    marked = reactions.who.marked(*reactions.who.people_marks)
    cells: list[dict[str, Any]] = [
        {"across": place, "down": topic, "value": n, "low": None, "high": None, "n": n, "label": str(n), **marked}
        for topic, place, n in joint[["topic", "place", "communities"]].itertuples(index=False)
    ]
    return Figure(
        code="places",
        title="Communities by topic and place",
        caption=f"n = {joint['communities'].sum()} communities with observed reactions; darker where there are more.",
        source=reactions.source,
        spec=heat_map(
            cells,
            across=sorted(set(joint["place"])),
            down=sorted(set(joint["topic"])),
            titles=("Place", "Topic"),
            domain=(0, int(joint["communities"].max())),
            colours=WARM_SHADES,
            caution=reactions.who.caution,
        ),
    )


def _groups(reactions: Reactions) -> dict[str, pd.DataFrame]:
    found = reactions.keyphrases
    return {EVERY: found, CHOSEN: found[found["chosen"] == "yes"]}


def _keyphrases(reactions: Reactions) -> Table:
    rows = []
    for name, group in _groups(reactions).items():
        spread = group.loc[np.repeat(group.index, group["n"]), list(PANELS)]
        words = {column: f"{spread[column].median():,.4g}; {spread[column].max():,.4g}" for column in PANELS}
        rows.append(Row({"group": name, "keyphrases": len(spread), **words}))
    return Table("keyphrases", "Keyphrases", "Of the communities that were chosen.", KEYPHRASES, tuple(rows))


def _distributions(reactions: Reactions) -> Figure:
    groups = _groups(reactions)
    rows = [
        {"panel": title, "who": name, "value": value, "keyphrases": n}
        for column, title in PANELS.items()
        for name, group in groups.items()
        for value, n in _at_least(group[column], group["n"])
    ]
    every, chosen = (f"{group['n'].sum():,}" for group in groups.values())
    return Figure(
        code="keyphrases",
        title="Salience, frequency and sparsity of keyphrases",
        caption=f"How many of {every} candidates (solid) and of the {chosen} most salient ones (dashed) have at least "
        "so much of each. Counts are on a logarithmic scale, and so are posts.",
        source=reactions.source,
        spec=distributions(
            rows,
            panels={title: column == "frequency" for column, title in PANELS.items()},
            caution=reactions.who.caution,
        ),
    )


def _at_least(values: pd.Series, n: pd.Series) -> list[tuple[float, int]]:
    """Values from the lowest, each with how many are as high or higher; of counts that can hardly be told apart on a
    logarithmic scale the first."""
    upto = n.groupby(values).sum().sort_index()[::-1].cumsum()[::-1]
    kept = upto[~(np.log(upto) * STEPS_IN_LOGARITHM).round().duplicated()]
    return list(zip(kept.index.astype(float), kept.astype(int), strict=True))
