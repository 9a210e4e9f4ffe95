"""What a reader must know before any number: which models and items, under what conditions, what was left out."""

from evaluation.behaviour_report.behaviour import Behaviour, words
from evaluation.behaviour_report.parameters import MODEL
from evaluation.sections.shape import Cell, Column, Row, Section, Table, estimate_cell

MODELS = (
    Column("question", "Question"),
    Column("model", "Model", "name"),
    Column("personas", "Personas"),
    Column("items", "Items", "count", "n"),
    Column("answers", "Answers", "count", "n"),
    Column("decisions", "Decisions", "count", "n"),
    Column("unknown_rate", "Unknown rate", "estimate", "0 to 1"),
)
CALLS = (
    Column("model", "Model", "name"),
    Column("status", "How the call stands"),
    Column("calls", "Calls", "count", "n"),
)


def sample(behaviour: Behaviour) -> Section:
    """Sentences about demo models first, then who answered how much, and the calls without an answer."""
    return Section(
        code="sample",
        title="What was compared",
        warnings=behaviour.who.warnings,
        paragraphs=(
            "This section shows whose answers the report rests on and which are left out. It cannot show whether the "
            "items or the prompts are like those that somebody else would have chosen.",
            *_scope(behaviour),
        ),
        tables=tuple(table for table in (_models(behaviour), _calls(behaviour)) if table.rows),
    )


def _scope(behaviour: Behaviour) -> list[str]:
    parameters, asked = behaviour.parameters, behaviour.data["asked"]
    questions = " ".join(f"{row.question}: “{row.text}”" for row in asked.itertuples())
    factors = ", ".join(map(words, parameters.factor_names)) or "none"
    left = behaviour.data["pooled"].to_dict("records")
    pooled = ", ".join(f"{words(row['column'])} ({row['levels']} levels)" for row in left)
    return [
        f"Dataset {behaviour.dataset}, instrument {asked['instrument'].iloc[0]}. Questions: {questions} "
        f"The option “{parameters.culture}” is to follow the culture, “{parameters.preference}” to allow the "
        "preference; every other answer is no decision. Rates are over decisions, the unknown rate over all answers.",
        f"Factors that make a configuration: {factors}. Taken together although they differ: {pooled or 'nothing'}. "
        "Personas of a model count as the model. Superseded answers do not count.",
        f"Brackets are 95 % bootstrap intervals over {behaviour.unit} ({parameters.resamples:,} resamples, seed "
        f"{parameters.seed}): they say how much a number depends on what was asked, not on the model's chance alone.",
    ]


def _models(behaviour: Behaviour) -> Table:
    by = ["question", MODEL]
    items = behaviour.data["by_item"].groupby(by)["units"].sum()
    decided = behaviour.counts("by_item").groupby(by)["n"].sum()
    personas = behaviour.data["models"].set_index("model")["personas"]
    rows = []
    for levels, unknown in behaviour.unknown_rates():
        question, model = levels["question"], levels[MODEL]
        cells: dict[str, Cell] = {
            "question": question,
            "model": model,
            "personas": str(personas[model]),
            "items": int(items[question, model]),
            "answers": unknown.n,
            "decisions": int(decided[question, model]),
            "unknown_rate": estimate_cell(unknown),
        }
        rows.append(Row(cells, (behaviour.mark(model),), behaviour.answers(question, model), unknown.n))
    caption = "Answers of models that were read; the answer to an item is no decision when it is another option."
    return Table("models", "Models", caption, MODELS, tuple(rows))


def _calls(behaviour: Behaviour) -> Table:
    rows = tuple(
        Row({"model": row["model"], "status": row["status"], "calls": row["n"]}, behaviour.marks([row["model"]]))
        for row in behaviour.data["calls"].to_dict("records")
    )
    caption = "Calls of jobs over this dataset that gave no answer, or none yet; they are left out, never guessed."
    return Table("calls", "Calls without an answer", caption, CALLS, rows)
