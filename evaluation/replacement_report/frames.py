"""Labels of people and of models, the only way in which they reach a report on replacing annotators.

A row is one person's label of one item: who agrees with whom is what is asked. Labels of models are counted.
"""

import pandas as pd
from django.db.models import Count, F, TextField
from django.db.models.functions import Cast

from evaluation.answers import of_models, of_people
from evaluation.counting import asked, columns_named, group, persons
from evaluation.replacement_report.parameters import ReplacementParameters
from evaluation.replacement_report.selecting import select_replacement
from projects.models import Project

_MODEL = ("model", "endpoint", "demo_model", "prompt", "temperature", "persona")


def read_frames(project: Project, parameters: ReplacementParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.replacement_report.sections`, by name, in four queries."""
    selection = select_replacement(project, parameters)
    people, label = of_people(selection), {"label": Cast("value", TextField())}
    columns = columns_named("item") | {"respondent": F("respondent__key")}
    models = group(of_models(selection), columns_named("item", *_MODEL) | label, n=Count("pk"))
    return {
        "asked": asked(selection),
        "labels": _numbered(group(people, columns | label, n=Count("pk"))),
        "models": models[models["persona"] != "true"].drop(columns="persona").reset_index(drop=True),
        "persons": persons(people, "kind", "simulated"),
    }


def _numbered(labels: pd.DataFrame) -> pd.DataFrame:
    """With people numbered by their labels in place of keys, so that any database numbers them alike."""
    given = {key: rows.drop(columns="respondent").to_numpy().tolist() for key, rows in labels.groupby("respondent")}
    numbers = {str(key): n for n, key in enumerate(sorted(given, key=given.__getitem__), start=1)}
    people = labels.pop("respondent").map(numbers)
    return labels.assign(person=people).sort_values(["item", "person", "label"]).reset_index(drop=True)
