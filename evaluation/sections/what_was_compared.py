"""What a reader must know before any number: who, which items, under which conditions, and what was left out."""

import pandas as pd

from evaluation.sections.comparison import Comparison
from evaluation.sections.shape import Column, Row, Section, Table

PEOPLE = (
    Column("kind", "Answers by"),
    Column("country", "Country", "name"),
    Column("persons", "People", "count", "n"),
    Column("answers", "Answers", "count", "n"),
)
MODELS = (
    Column("model", "Model", "name"),
    Column("prompt", "Prompt"),
    Column("temperature", "Temperature"),
    Column("personas", "Answers as", "wide"),
    Column("items", "Items", "count", "n"),
    Column("answers", "Answers", "count", "n"),
)
ITEMS = (
    Column("question", "Question"),
    Column("items", "Items in the dataset", "count", "n"),
    Column("people", "Answered by people", "count", "n"),
    Column("models", "Answered by a model", "count", "n"),
    Column("both", "Answered by both", "count", "n"),
)


MODEL_RATES = {
    "answers": "A model's rate on an item is the share of its answers, over all samples.",
    "probabilities": "A model's rate on an item is the mean probability of culture over its answers, from the log "
    "probabilities of their tokens: what the option had of what all options together had.",
}
FILTERS = (
    Column("study", "Study", "name"),
    Column("filter", "Filter", "wide"),
    Column("came", "Came", "count", "n"),
    Column("out", "Out", "count", "n"),
    Column("stay", "Stay", "count", "n"),
    Column("why", "Why out", "tally"),
)
OUTCOMES = (
    Column("outcome", "How the session stands", "name"),
    Column("persons", "People", "count", "n"),
    Column("answers", "Answers", "count", "n"),
    Column("counted", "In the report"),
)


def what_was_compared(comparison: Comparison) -> Section:
    """Sentences about simulated people and demo models first, then three tables of counts."""
    return Section(
        code="what_was_compared",
        title="What was compared",
        warnings=comparison.who.warnings,
        paragraphs=(*_scope(comparison), _sessions(comparison), _calls_left_out(comparison)),
        tables=(
            _items(comparison),
            *_filters(comparison),
            *_outcomes(comparison),
            _people(comparison),
            _models(comparison),
        ),
    )


def _scope(comparison: Comparison) -> list[str]:
    parameters = comparison.parameters
    asked = " ".join(f"{row['question']}: “{row['text']}”" for row in comparison.frames.asked.to_dict("records"))
    versions = comparison.frames.versions
    used = sorted(set(versions["version"]))
    kinds = " and ".join(f"{kind}s" for kind in parameters.kinds)
    chosen = ", ".join(parameters.models) or "every model that answered"
    which = {"all": "real and simulated", "real": "real only", "simulated": "simulated only"}[parameters.people]
    return [
        f"Dataset {comparison.dataset}, instrument {comparison.instrument}"
        f"{f' (answers to version {_listed(used)})' if used else ''}. Questions: {asked} "
        f"The option “{parameters.option}” counts as culture, every other option as the preference. "
        f"{MODEL_RATES[parameters.model_rates]}",
        f"People: {kinds}, {which}. Models: {chosen}. Superseded answers do not count; all orders of the options are "
        "taken together.",
    ]


def _sessions(comparison: Comparison) -> str:
    """Whose answers are out, or in, although their session is not a completed one."""
    if comparison.parameters.sessions == "passed":
        return (
            "Only sessions that pass the quality filters of their study are in; a table has what each filter left out."
        )
    others = not _not_completed(comparison).empty
    if comparison.parameters.sessions == "all":
        how_many = "a table has how many" if others else "there are none"
        return f"All sessions are in, also those not completed ({how_many})."
    if others:
        return "Only completed sessions are in; a table has how many people and answers are left out for that."
    return "Only completed sessions are in; nobody who answered is left out for that."


def _not_completed(comparison: Comparison) -> pd.DataFrame:
    outcomes = comparison.frames.outcomes
    return outcomes[~outcomes["outcome"].isin(["", "completed"])]


def _outcomes(comparison: Comparison) -> list[Table]:
    sessions = comparison.parameters.sessions
    counted = "yes" if sessions == "all" else "no"
    rows = tuple(
        Row(
            {
                "outcome": row["words"].capitalize(),
                "persons": row["persons"],
                "answers": row["n"],
                "counted": counted,
            },
            marks=comparison.who.people_marks,
        )
        for row in _not_completed(comparison).to_dict("records")
    )
    caption = "People who answered in a session that is not a completed one."
    return (
        [Table("outcomes", "Sessions not completed", caption, OUTCOMES, rows)] if rows and sessions != "passed" else []
    )


def _calls_left_out(comparison: Comparison) -> str:
    calls = comparison.frames.calls
    if calls.empty:
        return "No model call was left out."
    parts = [f"{row['n']} {row['status']} ({row['model']})" for row in calls.to_dict("records")]
    return f"Model calls that gave no answer and are left out, never guessed: {', '.join(parts)}."


def _items(comparison: Comparison) -> Table:
    frames, rows = comparison.frames, []
    for question in comparison.questions:
        people = set(frames.people.loc[frames.people["question"] == question, "item"])
        models = set(frames.models.loc[frames.models["question"] == question, "item"])
        counts = {"people": len(people), "models": len(models), "both": len(people & models)}
        rows.append(Row({"question": question, "items": len(frames.items), **counts}))
    caption = "Items without answers of people or of a model have no part in alignment."
    return Table("items", "Items", caption, ITEMS, tuple(rows))


def _filters(comparison: Comparison) -> list[Table]:
    rows = tuple(
        Row({column.key: row[column.key] for column in FILTERS}, marks=("simulated" if row["simulated"] else "human",))
        for row in comparison.frames.filters.to_dict("records")
    )
    caption = "The filters of each study in their order, with the sessions that came to each. Nothing is deleted."
    return [Table("filters", "Quality filters", caption, FILTERS, rows)] if rows else []


def _people(comparison: Comparison) -> Table:
    rows = tuple(
        Row(
            {
                "kind": row["kind"].capitalize(),
                "country": row["country"] or "Not stated",
                "persons": row["persons"],
                "answers": row["n"],
            },
            marks=("simulated" if row["simulated"] else "human",),
        )
        for row in comparison.frames.persons.to_dict("records")
    )
    return Table("people", "People", "People with at least one answer to these questions.", PEOPLE, rows)


def _models(comparison: Comparison) -> Table:
    models = comparison.frames.models
    keys = ["model", "endpoint", "demo_model", "prompt", "temperature"]
    rows = []
    for _, answers in models.groupby(keys, sort=True):
        first = answers.iloc[0]
        cells = {
            "model": first["model"],
            "prompt": first["prompt"] or "not recorded",
            "temperature": first["temperature"] or "not recorded",
            "personas": _personas(answers),
            "items": int(answers["item"].nunique()),
            "answers": int(answers["n"].sum()),
        }
        rows.append(Row(cells, marks=("demo-model" if first["demo_model"] else "model",)))
    return Table(
        "models", "Models", "Answers of models to these questions, by prompt and temperature.", MODELS, tuple(rows)
    )


def _personas(answers: pd.DataFrame) -> str:
    named = sorted(set(answers.loc[answers["persona"], "country"]) - {""})
    parts = [] if answers["persona"].all() else ["no persona"]
    if answers["persona"].any():
        parts.append(f"personas of {_listed(named)}" if named else "personas without a country")
    return "; ".join(parts)


def _listed(values: list[object]) -> str:
    return ", ".join(str(value) for value in values)
