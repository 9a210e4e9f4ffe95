"""Reactions counted in SQL, the only way in which they reach a report on them.

What arrives grows with posts, tones and conditions, not with answers.
"""

import pandas as pd
from django.db.models import Count, Expression, F, QuerySet, Value

from evaluation.answers import of_models, of_people
from evaluation.counting import asked, columns_named, group, persons, text_column
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.reactions_report.selecting import KEYPHRASE_FIELDS, select_reactions
from evaluation.selection import Selection
from materials.models import Item
from projects.models import Project
from responses.models import Response

Columns = dict[str, Expression | F]


def read_frames(project: Project, parameters: ReactionsParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.reactions_report.reactions.Reactions`, by name. Seven queries, each grouped by the
    database."""
    selection = select_reactions(project, parameters)
    people, models = of_people(selection), _simulated(selection)
    observed, simulated = _where(parameters), _where(parameters) | _who(parameters)
    return {
        "asked": asked(selection),
        "persons": persons(people, "kind", "simulated"),
        "observed_tones": _tones(people, observed, parameters),
        "observed_attitudes": _attitudes(people, observed, parameters),
        "simulated_tones": _tones(models, simulated, parameters),
        "simulated_attitudes": _attitudes(models, simulated, parameters),
        "studied": _studied(people, parameters),
        "keyphrases": _keyphrases(project, parameters),
    }


def _simulated(selection: Selection[ReactionsParameters]) -> QuerySet[Response]:
    """Answers that models gave as themselves, blind or informed."""
    parameters = selection.parameters
    named = of_models(selection).alias(level=text_column(parameters.condition), persona=text_column("attr_persona"))
    return named.filter(level__in=[parameters.blind, parameters.informed]).exclude(persona="true")


def _where(parameters: ReactionsParameters) -> Columns:
    post = text_column(parameters.post) if parameters.post else F("item__external_id")
    return {"post": post, "community": text_column(parameters.community)}


def _who(parameters: ReactionsParameters) -> Columns:
    """The model; without its prompt where different prompts make it blind or informed."""
    prompt = {"prompt": Value("")} if parameters.condition == "cond_prompt" else {}
    named = columns_named("model", "endpoint", "demo_model", "prompt", "temperature")
    return named | prompt | {"level": text_column(parameters.condition)}


def _tones(answers: QuerySet[Response], columns: Columns, parameters: ReactionsParameters) -> pd.DataFrame:
    """A row for each post and tone, with the number of reactions that have it."""
    counted = group(answers.filter(question=parameters.tone), columns | {"value": F("value")}, n=Count("pk"))
    values = counted.pop("value").map(lambda value: value if isinstance(value, list) else [value])
    return _summed(counted.assign(tone=values).explode("tone", ignore_index=True).dropna())


def _attitudes(answers: QuerySet[Response], columns: Columns, parameters: ReactionsParameters) -> pd.DataFrame:
    """A row for each post and attitude, with the number of reactions that have it; without options that stand
    nowhere."""
    counted = group(answers.filter(question=parameters.attitude), columns | {"value": F("value")}, n=Count("pk"))
    attitudes = [parameters.attitudes.get(v) if isinstance(v, str) else float(v) for v in counted.pop("value")]
    return _summed(counted.assign(attitude=pd.Series(attitudes, dtype="float64")).dropna())


def _summed(counted: pd.DataFrame) -> pd.DataFrame:
    keys = [name for name in counted.columns if name != "n"]
    return counted.groupby(keys)["n"].sum().reset_index()


def _studied(people: QuerySet[Response], parameters: ReactionsParameters) -> pd.DataFrame:
    """A row for each community with its topic and place; none where they are not known."""
    columns = {name: text_column(getattr(parameters, name)) for name in ("community", "topic", "place")}
    answers = people if parameters.joint else people.none()
    return group(answers, columns, posts=Count(_where(parameters)["post"], distinct=True))


def _keyphrases(project: Project, parameters: ReactionsParameters) -> pd.DataFrame:
    """A row for all keyphrases with the same numbers, and how many they are."""
    items = Item.objects.filter(dataset__project=project, dataset__slug=parameters.keyphrases)
    columns = {name: text_column(f"item_{name}", item="") for name in KEYPHRASE_FIELDS}
    numbers = dict.fromkeys(KEYPHRASE_FIELDS[:-1], "float64")
    return group(items, columns, n=Count("pk")).astype(numbers)
