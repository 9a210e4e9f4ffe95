"""What a reader must know before any number: who, which items, under which conditions, and what was left out."""

import pandas as pd

from evaluation.sections.comparison import Comparison
from evaluation.sections.shape import Column, Row, Section, Table
from llm.models import Call

PEOPLE = (
    Column("kind", "People"),
    Column("country", "Country"),
    Column("persons", "People", "count", "n"),
    Column("answers", "Answers", "count", "n"),
)
MODELS = (
    Column("model", "Model"),
    Column("prompt", "Prompt"),
    Column("temperature", "Temperature"),
    Column("personas", "Answers as"),
    Column("items", "Items", "count", "n"),
    Column("answers", "Answers", "count", "n"),
)
ITEMS = (
    Column("question", "Question"),
    Column("items", "In the dataset", "count", "items"),
    Column("people", "Answered by people", "count", "items"),
    Column("models", "Answered by a model", "count", "items"),
    Column("both", "Compared", "count", "items"),
)


def what_was_compared(comparison: Comparison) -> Section:
    """Sentences about simulated people and demo models first, then three tables of counts."""
    return Section(
        code="what_was_compared",
        title="What was compared",
        paragraphs=(*_warnings(comparison), *_scope(comparison), *_left_out(comparison)),
        tables=(_items(comparison), _people(comparison), _models(comparison)),
    )


def _warnings(comparison: Comparison) -> list[str]:
    persons = comparison.frames.persons
    counts = persons.groupby("simulated")["persons"].sum()
    simulated, real = int(counts.get(True, 0)), int(counts.get(False, 0))
    said = []
    if simulated and not real:
        said.append(
            f"The people in this report are simulated: bots gave all answers of its {simulated} participants, so its "
            "numbers say nothing about real people."
        )
    elif simulated:
        said.append(
            f"This report pools {real} real with {simulated} simulated people: bots gave the answers of the simulated "
            "ones, so its numbers are not those of the real people alone."
        )
    models = comparison.frames.models
    demo = sorted(set(models.loc[models["demo_model"].astype(bool), "model"]))
    if demo:
        said.append(
            f"{' and '.join(demo)} {'are demo models' if len(demo) > 1 else 'is a demo model'}: tiny, and at chance as "
            "a judge. The numbers show that the path works, not how well language models align."
        )
    return said


def _scope(comparison: Comparison) -> list[str]:
    parameters, selection = comparison.parameters, comparison.selection
    newest = selection.instruments[0]
    asked = " ".join(f"{code}: “{newest.questionnaire[code].text}”" for code in parameters.questions)
    versions = comparison.frames.versions
    used = sorted(set(versions["version"]))
    kinds = " and ".join(f"{kind}s" for kind in parameters.kinds)
    chosen = ", ".join(parameters.models) or "every model that answered"
    which = {"all": "real and simulated", "real": "real only", "simulated": "simulated only"}[parameters.people]
    return [
        f"Dataset {selection.dataset.name}, instrument {newest.title}"
        f"{f' (answers to version {_listed(used)})' if used else ''}. Questions: {asked} "
        f"The option “{parameters.option}” counts as culture, every other option as the preference.",
        f"People: {kinds}, {which}. Models: {chosen}. Superseded answers do not count; all orders of the options are "
        "taken together.",
    ]


def _left_out(comparison: Comparison) -> list[str]:
    calls = comparison.frames.calls
    if calls.empty:
        return ["No model call was left out."]
    words = dict(Call.Status.choices)
    parts = [f"{row.n} {words[row.status].lower()} ({row.model})" for row in calls.itertuples()]
    return [f"Model calls that gave no answer and are left out, never guessed: {', '.join(parts)}."]


def _items(comparison: Comparison) -> Table:
    frames, rows = comparison.frames, []
    for question in comparison.questions:
        people = set(frames.people.loc[frames.people["question"] == question, "item"])
        models = set(frames.models.loc[frames.models["question"] == question, "item"])
        counts = {"people": len(people), "models": len(models), "both": len(people & models)}
        rows.append(Row({"question": question, "items": len(frames.items), **counts}))
    caption = "Items without answers of people or of a model have no part in alignment."
    return Table("items", "Items", caption, ITEMS, tuple(rows))


def _people(comparison: Comparison) -> Table:
    rows = tuple(
        Row(
            {
                "kind": str(row.kind).capitalize(),
                "country": row.country or "Not stated",
                "persons": int(row.persons),
                "answers": int(row.n),
            },
            marks=("simulated" if row.simulated else "human",),
        )
        for row in comparison.frames.persons.itertuples()
    )
    return Table("people", "People", "People with at least one answer to these questions.", PEOPLE, rows)


def _models(comparison: Comparison) -> Table:
    models = comparison.frames.models
    keys = ["model", "endpoint", "demo_model", "prompt", "temperature"]
    rows = tuple(
        Row(
            {
                "model": key[0],
                "prompt": key[3] or "not recorded",
                "temperature": key[4] or "not recorded",
                "personas": _personas(answers),
                "items": int(answers["item"].nunique()),
                "answers": int(answers["n"].sum()),
            },
            marks=("demo-model" if key[2] else "model",),
        )
        for key, answers in models.groupby(keys, sort=True)
    )
    return Table("models", "Models", "Answers of models to these questions, by prompt and temperature.", MODELS, rows)


def _personas(answers: pd.DataFrame) -> str:
    named = sorted(set(answers.loc[answers["persona"], "country"]) - {""})
    parts = [] if answers["persona"].all() else ["no persona"]
    if answers["persona"].any():
        parts.append(f"personas of {_listed(named)}" if named else "personas without a country")
    return "; ".join(parts)


def _listed(values: list[object]) -> str:
    return ", ".join(str(value) for value in values)
