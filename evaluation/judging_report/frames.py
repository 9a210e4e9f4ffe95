"""Labels and judgments counted in SQL, the only way in which they reach a report on judges.

What arrives grows with pairs, conditions and samples: preferences that vote are counted together.
"""

import pandas as pd
from django.db.models import Count, F, QuerySet

from evaluation.answers import of_people
from evaluation.counting import asked, columns_named, group, persons, text_column
from evaluation.judging_report.counted_judgments import ORDER, count_judgments, shown
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.judging_report.personal_frames import read_personal, read_verdicts
from evaluation.judging_report.selecting import select_judging
from evaluation.selection import Selection
from materials.models import Item
from projects.models import Project
from responses.models import Response


def read_frames(project: Project, parameters: JudgingParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.judging_report.judgments.Judging`, by name.

    Six queries, each grouped by the database, and two for each dataset of pairs under preferences.
    """
    selection = select_judging(project, parameters)
    people = of_people(selection)
    labels, names = _numbered(_labels(people, parameters.question))
    return {
        "asked": asked(selection),
        "items": _items(selection),
        "labels": labels,
        "persons": persons(people, "kind", "simulated"),
        "judgments": count_judgments(selection, names),
        "personal": read_personal(selection, names),
        "verdicts": read_verdicts(selection),
    }


def _items(selection: Selection[JudgingParameters]) -> pd.DataFrame:
    parameters = selection.parameters
    fields = {name: getattr(parameters, name) for name in ("topic", "first_author", "second_author")}
    texts = {f"{name}_": text_column(field, item="") for name, field in fields.items()}
    rows = Item.objects.filter(dataset=selection.dataset).annotate(**texts).values_list("external_id", *texts)
    return pd.DataFrame.from_records(list(rows), columns=["item", *fields]).reset_index(names="place")


def _labels(people: QuerySet[Response], question: str) -> pd.DataFrame:
    columns = columns_named("item", "simulated") | {"key": F("respondent__key"), "order": ORDER, "value": F("value")}
    labels = group(people, columns, n=Count("pk"))
    return labels.assign(shown=shown(labels.pop("order"), question))


def _numbered(labels: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """The labels with people numbered by their answers in place of keys, and their names by key: the same in any
    database with these answers."""
    given = {key: rows.drop(columns="key").to_numpy().tolist() for key, rows in labels.groupby("key")}
    names = {str(key): f"Person {n}" for n, key in enumerate(sorted(given, key=given.__getitem__), start=1)}
    keys = labels.pop("key")
    numbered = labels.assign(person=keys.map(names)).sort_values(["item", "person", "shown", "value"])
    return numbered.reset_index(drop=True), names
