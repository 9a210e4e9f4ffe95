"""Answers counted in SQL, the only way in which they reach what computes a report.

The database groups and counts, so what arrives here grows with items, countries and conditions, not with answers.
Superseded answers never count. A missing attribute is the empty string.
"""

from collections.abc import Sequence

import pandas as pd
from django.db.models import Case, Count, IntegerField, Q, QuerySet, Subquery, When

from evaluation.answers import of_every_session, of_models, of_people
from evaluation.counting import COLUMNS, asked, calls_without_answer, columns_named, group, persons, text_column
from evaluation.parameters import AlignmentParameters
from evaluation.probable_answers import expected_answers
from evaluation.selection import Selection, select_alignment
from evaluation.study_filters import filtered
from llm.models import Call, Job
from projects.models import Project
from responses.models import Outcome, Response
from responses.querysets import same_occasion
from studies.filters import in_words

_CELL = ("country", "age_group", "gender")
_PEOPLE = ("question", "item", "kind", "simulated", *_CELL)
_PAIR = ("respondent", "personal", "norm", "n")
_FILTERS = ("study", "simulated", "filter", "came", "out", "stay", "why")
_MODELS = ("question", "item", "model", "endpoint", "demo_model", "prompt", "temperature", "persona", *_CELL)


def read_frames(project: Project, parameters: AlignmentParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.sections.comparison.Frames`, by name; raises ReportError as `select_alignment`.

    Ten queries or so, each grouped by the database; with quality filters two or three more for each study.
    """
    selection = select_alignment(project, parameters)
    people, models = of_people(selection), of_models(selection)
    calls = _calls(selection)
    if parameters.model_rates == "answers":
        by_models = _counted(models, _MODELS, selection)
    else:
        by_models = expected_answers(selection, columns_named(*_MODELS[1:]))
        calls = pd.concat([calls, _improbable(models, by_models)], ignore_index=True)
    return {
        "asked": asked(selection),
        "items": _items(selection),
        "people": _counted(people, _PEOPLE, selection),
        "models": by_models.assign(persona=by_models["persona"] == "true"),
        "relations": _relations(people, selection),
        "persons": persons(people, "kind", "simulated", "country"),
        "outcomes": _outcomes(of_every_session(selection)),
        "filters": _filters(selection),
        "pairs": _pairs(people, selection),
        "calls": calls,
        "versions": group(people | models, columns_named("kind", "version"), n=Count("pk")),
    }


def _items(selection: Selection[AlignmentParameters]) -> pd.DataFrame:
    items = list(selection.dataset.items.values_list("external_id", flat=True))
    return pd.DataFrame({"place": range(len(items)), "item": items})


def _counted(
    answers: QuerySet[Response], columns: Sequence[str], selection: Selection[AlignmentParameters]
) -> pd.DataFrame:
    culture = Count("pk", filter=Q(value=selection.parameters.option))
    return group(answers, columns_named(*columns), n=Count("pk"), n_culture=culture)


def _relations(people: QuerySet[Response], selection: Selection[AlignmentParameters]) -> pd.DataFrame:
    """Answers of people for which the condition says how the item stands to the person."""
    relation = text_column(selection.parameters.relation)
    related = people.alias(related=relation).exclude(related="")
    culture = Count("pk", filter=Q(value=selection.parameters.option))
    columns = {"relation": relation, **columns_named("question", "item", *_CELL)}
    return group(related, columns, n=Count("pk"), n_culture=culture)


def _improbable(models: QuerySet[Response], by_models: pd.DataFrame) -> pd.DataFrame:
    """The models' answers that are left out because no probabilities came with them, as `_calls`."""
    given = group(models, columns_named("model"), n=Count("pk")).set_index("model")["n"]
    left_out = given.sub(by_models.groupby("model")["n"].sum(), fill_value=0).astype("int64")
    rows = left_out[left_out > 0].rename_axis("model").reset_index(name="n")
    return rows.assign(status="without probabilities of the option")[["model", "status", "n"]]


def _outcomes(people: QuerySet[Response]) -> pd.DataFrame:
    outcomes, words = persons(people, "outcome"), dict(Outcome.choices)
    return outcomes.assign(words=[words.get(outcome, outcome).lower() for outcome in outcomes["outcome"]])


def _filters(selection: Selection[AlignmentParameters]) -> pd.DataFrame:
    """A row for each filter in its order: how many sessions came to it, were out and stay, and why they were out."""
    used = filtered(selection) if selection.parameters.sessions == "passed" else ()
    rows = [
        (
            str(study),
            simulated,
            in_words(row.filter),
            row.came,
            row.came - row.kept,
            row.kept,
            "; ".join(f"{n} {why}" for why, n in row.out.items()),
        )
        for study, simulated, found in used
        for row in found.rows
    ]
    return pd.DataFrame.from_records(rows, columns=_FILTERS)


def _pairs(people: QuerySet[Response], selection: Selection[AlignmentParameters]) -> pd.DataFrame:
    """Answers to the personal question that have one to the norm question by the same person on the same item."""
    parameters = selection.parameters
    culture = Case(When(value=parameters.option, then=1), default=0, output_field=IntegerField())
    norm = same_occasion(parameters.norm_question)
    answers = (
        people.filter(question=parameters.personal_question)
        .annotate(personal=culture, norm=Subquery(norm.annotate(chosen=culture).values("chosen")[:1]))
        .exclude(norm=None)
    )
    rows = answers.annotate(country_=COLUMNS["country"]).values_list("country_", "respondent_id", "personal", "norm")
    counted = rows.annotate(n=Count("pk")).order_by("country_", "respondent_id", "personal", "norm")
    return _numbered(pd.DataFrame.from_records(list(counted), columns=["country", *_PAIR]))


def _numbered(pairs: pd.DataFrame) -> pd.DataFrame:
    """With people numbered by their country and answers in place of ids, so that any database numbers them alike."""
    given = {
        str(respondent): rows.drop(columns="respondent").to_numpy().tolist()
        for respondent, rows in pairs.groupby("respondent")
    }
    numbers = {respondent: number for number, respondent in enumerate(sorted(given, key=given.__getitem__))}
    return pairs.assign(respondent=pairs["respondent"].astype(str).map(numbers)).sort_values(
        ["country", *_PAIR[:3]], ignore_index=True
    )


def _calls(selection: Selection[AlignmentParameters]) -> pd.DataFrame:
    """Calls of this dataset and instrument that ended without an answer, or have not ended, by model and status."""
    asked = Q(question_codes=[])
    for code in selection.questions:
        asked |= Q(question_codes__contains=code)
    jobs = Job.objects.filter(
        asked, project=selection.project, dataset=selection.dataset, instrument__in=selection.instruments
    )
    if selection.parameters.models:
        jobs = jobs.filter(endpoint__model__in=selection.parameters.models)
    found = calls_without_answer(Call.objects.filter(job__in=jobs), jobs)
    return found.assign(status=[Call.Status(status).label.lower() for status in found["status"]])
