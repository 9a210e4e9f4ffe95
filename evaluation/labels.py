"""One label an item and criterion: by majority, by Dawid-Skene and by the adjudicators, each in a column of its own."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from annotation.models import Decision, LabelProject
from annotation.querysets import simulated_annotators
from evaluation.label_ratings import Criterion, criteria, read_ratings
from evaluation.label_results import COLUMNS, OF_DECISION
from evaluation.metrics.labels import dawid_skene, majority_labels
from evaluation.metrics.ratings import ratings_matrix
from materials.models import Item


def aggregated_labels(label_project: LabelProject) -> pd.DataFrame:
    """The COLUMNS for each item and criterion that was answered or decided, in the order of the dataset.

    `question` is the criterion's code. `n` counts the answers; it is missing for decisions on questions without fixed
    options. A label is None where nobody answered, and the majority's and Dawid-Skene's also where
    options are tied. `adjudicated` is the latest decision, with its note, who made it and
    when (ISO 8601), and is never used for the others.
    `simulated` says whether a bot's answer is among the n.
    """
    asked = criteria(label_project)
    ratings = read_ratings(label_project, asked)
    ratings["simulated"] = ratings["rater"].isin(simulated_annotators(label_project.project_id))
    decided = _decisions(label_project)
    items = pd.DataFrame.from_records(
        list(
            Item.objects.filter(pk__in=label_project.assignments.filter(purpose="label").values("item"))
            .order_by("position", "pk")
            .values_list("pk", "external_id")
        ),
        columns=["pk", "external_id"],
    ).reset_index(names="position")
    parts = [_of_criterion(criterion, ratings, decided, place) for place, criterion in enumerate(asked)]
    labels = pd.concat([_open_decisions(decided, asked), *parts]).merge(items, on="pk")
    labels = labels.sort_values(["position", "place"], kind="stable").rename(columns={"external_id": "item"})
    labels["n"] = labels["n"].astype("Int64")
    return labels[list(COLUMNS)].reset_index(drop=True)


def label_rows(label_project: LabelProject) -> Iterator[dict[str, Any]]:
    """The same as plain values, None for what is missing."""
    labels = aggregated_labels(label_project)
    plain = labels.astype(object).where(labels.notna(), None)
    for row in plain.itertuples(index=False, name=None):
        yield dict(zip(COLUMNS, row, strict=True))


def _of_criterion(criterion: Criterion, ratings: pd.DataFrame, decided: pd.DataFrame, place: int) -> pd.DataFrame:
    given = ratings[ratings["criterion"] == criterion.code]
    decisions = decided[decided["question"] == criterion.question].set_index("pk")
    frame = pd.DataFrame(index=decisions.index.union(pd.Index(given["item"].unique())))
    frame["n"], frame["simulated"] = 0, False
    frame[["majority", "majority_share", "dawid_skene", "dawid_skene_probability"]] = None
    if not given.empty:
        table = ratings_matrix(given, item="item", rater="rater", value="value")
        majority = majority_labels(table, criterion.categories, ties="undefined")
        estimated = dawid_skene(table, criterion.categories).labels
        frame["n"] = majority["n"].reindex(frame.index, fill_value=0)
        frame["simulated"] = given.groupby("item")["simulated"].any().reindex(frame.index, fill_value=False)
        frame["majority"], frame["majority_share"] = majority["label"], majority["share"]
        frame["dawid_skene"], frame["dawid_skene_probability"] = estimated["label"], estimated["probability"]
    frame["adjudicated"] = decisions["adjudicated"].map(criterion.value_of)
    frame[list(OF_DECISION)] = decisions[list(OF_DECISION)]
    return frame.assign(question=criterion.code, place=place).reset_index(names="pk")


def _decisions(label_project: LabelProject) -> pd.DataFrame:
    latest = (
        Decision.objects.filter(label_project=label_project)
        .order_by("item", "question", "-pk")
        .distinct("item", "question")
        .values_list("item", "question", "value", "note", "by__username", "at")
    )
    rows = [(*row, at.isoformat()) for *row, at in latest]
    return pd.DataFrame.from_records(rows, columns=["pk", "question", "adjudicated", *OF_DECISION])


def _open_decisions(decided: pd.DataFrame, asked: list[Criterion]) -> pd.DataFrame:
    """Decisions on questions without fixed options, for which nothing else can be computed."""
    others = decided[~decided["question"].isin([criterion.question for criterion in asked])]
    return others.assign(place=len(asked), simulated=False)
