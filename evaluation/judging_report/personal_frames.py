"""Judgments of pairs under preferences, whose items say which pair, whose choice and which preference they are of.

Datasets of such items are what a protocol makes to ask a judge. The keys of people, also in ids of preferences, stay in
the database.
"""

from dataclasses import replace

import pandas as pd
from django.db.models import Expression

from evaluation.counting import text_column
from evaluation.judging_report.counted_judgments import by_name, count_judgments
from evaluation.judging_report.judgments import COUNTS, FIRST, NOBODY, SECOND
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.selection import Selection
from materials.models import Dataset, Item
from responses.querysets import text_of

_FIELDS = {
    "annotator": "annotator",
    "pair": "pair",
    "human": "human",
    "topic": "topic",
    "preference": "preference_id",
    "preference_topic": "preference_topic",
    "author": "preference_by",
}
_AUTHORS = ("first_author", "second_author")
_MODEL = ("model", "endpoint", "demo_model", "prompt", "temperature")
_KEYS = ["part", "run", "sample", "person", *list(_FIELDS)[1:], *_AUTHORS, *_MODEL, "shown"]
_WINNERS = {"1": FIRST, "2": SECOND, FIRST: FIRST, SECOND: SECOND}
_FRONT = {"winner_order_12": FIRST, "winner_order_21": SECOND}


def read_personal(selection: Selection[JudgingParameters], names: dict[str, str]) -> pd.DataFrame:
    """The frame `personal` of `evaluation.judging_report.judgments.Judging`, without people who are not in the report.

    `names` are people by the keys of their respondents.
    """
    found = [
        _judged(replace(selection, dataset=selection.project.datasets.get(slug=slug)), names).assign(part=part, run=run)
        for part, run, slug in selection.parameters.parts
    ]
    if not found:
        return pd.DataFrame(columns=[*_KEYS, *COUNTS])
    return pd.concat(found, ignore_index=True).groupby(_KEYS)[COUNTS].sum().reset_index()


def _judged(selection: Selection[JudgingParameters], names: dict[str, str]) -> pd.DataFrame:
    judgments = count_judgments(selection, {}).drop(columns=["person", "unit"])
    rows = judgments.merge(_items(selection), on="item").drop(columns="item")
    keys = rows.pop("annotator")
    # Behind its last slash an id numbers the preferences of one person and topic.
    rows = rows.assign(
        person=keys.map(by_name(names)).fillna(NOBODY), preference=rows["preference"].str.rpartition("/")[2]
    )
    return rows[(keys == "") | (rows["person"] != NOBODY)]


def _items(selection: Selection[JudgingParameters]) -> pd.DataFrame:
    parameters = selection.parameters
    texts: dict[str, Expression] = {f"{name}_": text_of("content", field) for name, field in _FIELDS.items()}
    texts |= {f"{name}_": text_column(getattr(parameters, name), item="") for name in _AUTHORS}
    rows = Item.objects.filter(dataset=selection.dataset).annotate(**texts).values_list("external_id", *texts)
    return pd.DataFrame.from_records(list(rows), columns=["item", *_FIELDS, *_AUTHORS])


def read_verdicts(selection: Selection[JudgingParameters]) -> pd.DataFrame:
    """The frame `verdicts` of `evaluation.judging_report.judgments.Judging`; an empty winner is none of both."""
    slug = selection.parameters.verdicts
    items = Item.objects.filter(dataset__in=Dataset.objects.filter(project=selection.project, slug=slug))
    rows = [
        (content["judge"], content["pair"], front, _WINNERS.get(str(content[column]), ""))
        for content in items.order_by("position").values_list("content", flat=True)
        for column, front in _FRONT.items()
        if column in content
    ]
    return pd.DataFrame(rows, columns=["judge", "pair", "shown", "chose"])
