"""What a reader must know before any number: which pairs, who labelled and judged them, what is called right."""

from evaluation.judging_report.judgments import NOBODY, STRANGER, Judging
from evaluation.sections.answerers import AskedModel
from evaluation.sections.people_table import people_table
from evaluation.sections.shape import Column, Row, Section, Table

ITEMS = (
    Column("topic", "Topic", "name"),
    Column("items", "Pairs", "count", "n"),
    Column("labelled", "Labelled by people", "count", "n"),
    Column("tied", "Without a majority", "count", "n"),
    Column("judged", "Judged by a model", "count", "n"),
)
JUDGES = (
    Column("judge", "Judge", "name"),
    Column("prompt", "Prompt"),
    Column("temperature", "Temperature"),
    Column("people", "Judged as people", "count", "n"),
    Column("items", "Pairs", "count", "n"),
    Column("verdicts", "Verdicts", "count", "n"),
    Column("unread", "Not readable", "count", "n"),
)
ALL = "All"


def what_was_judged(judging: Judging) -> Section:
    """Warnings, what is compared with what, and counts of pairs and verdicts."""
    return Section(
        code="what_was_judged",
        title="What was judged",
        warnings=judging.who.warnings,
        paragraphs=(*_scope(judging), _right(judging), _votes(judging)),
        tables=(
            _items(judging),
            people_table(judging.persons, "People who labelled at least one pair."),
            _judges(judging),
        ),
    )


def _scope(judging: Judging) -> list[str]:
    asked, parameters = judging.asked.iloc[0], judging.parameters
    which = {"all": "real and simulated", "real": "real only", "simulated": "simulated only"}[parameters.people]
    kinds = " and ".join(f"{kind}s" for kind in parameters.kinds)
    return [
        f"Dataset {asked['dataset']}, instrument {asked['instrument']}. {parameters.question}: “{asked['text']}” Each "
        "pair holds two responses, and whoever answers chooses one of them. It says nothing on how good either is.",
        f"People: {kinds}, {which}. Superseded answers do not count.",
    ]


def _right(judging: Judging) -> str:
    strangers = int((judging.judgments["person"] == STRANGER).sum())
    if not judging.parameters.person:
        return "Right is what most people chose; pairs on which they are tied have no right response."
    unknown = f" {strangers:,} rows name somebody who labelled nothing, and are neither right nor wrong."
    return (
        "A judgment that should be a certain person's is right where it is what that person chose, any other where it "
        f"is what most people chose.{unknown if strangers else ''}"
    )


def _votes(judging: Judging) -> str:
    factor = judging.parameters.preferences
    if not factor:
        return "Every verdict stands alone. One that cannot be read, or names a tie, is not right."
    return (
        f"The preferences (levels of {factor}) under which a judge saw a pair in one order vote; a tie is decided for "
        "the response in front, so it is right in one order and wrong in the other. A verdict that cannot be read is a "
        "wrong vote."
    )


def _items(judging: Judging) -> Table:
    items, judged = judging.items, set(judging.judgments["item"])
    labels = judging.majority.reindex(items["item"])
    counted = items.assign(
        labelled=items["item"].isin(judging.own_labels.index),
        tied=items["item"].isin(judging.own_labels.index) & labels.isna().to_numpy(),
        judged=items["item"].isin(judged),
    )
    groups = [(str(topic) or "Not stated", rows) for topic, rows in counted.groupby("topic", sort=False)]
    if len(groups) > 1:
        groups.append((ALL, counted))
    shown = len(groups) > 1
    columns = ITEMS if shown else ITEMS[1:]
    rows = [
        Row(
            {"topic": topic, "items": len(of), **{name: int(of[name].sum()) for name in ("labelled", "tied", "judged")}}
        )
        for topic, of in (groups if shown else [(ALL, counted)])
    ]
    return Table("pairs", "Pairs", "Pairs of the dataset, by topic where it is stated.", columns, tuple(rows))


def _judges(judging: Judging) -> Table:
    rows = tuple(_judge(judging, judge) for judge in judging.judges)
    return Table("judges", "Judges", "Models that judged, with what they said.", JUDGES, rows)


def _judge(judging: Judging, judge: AskedModel) -> Row:
    given = judge.of(judging.judgments)
    verdicts = int(given[["n_first", "n_second", "n_tie"]].sum().sum())
    return Row(
        cells={
            "judge": judging.label(judge),
            "prompt": judge.prompt or "not recorded",
            "temperature": judge.temperature or "not recorded",
            "people": given.loc[~given["person"].isin([NOBODY, STRANGER]), "person"].nunique(),
            "items": given["item"].nunique(),
            "verdicts": verdicts,
            "unread": int(given["n_unread"].sum()),
        },
        marks=(judge.mark,),
        answers={
            "dataset": judging.parameters.dataset,
            "instrument_name": judging.parameters.instrument,
            "question": judging.parameters.question,
            "kind": "model",
            "mark": judge.mark,
            "attr_model": judge.model,
            "attr_endpoint": judge.endpoint,
            "cond_prompt": judge.prompt,
            "cond_temperature": judge.temperature,
        },
        n_answers=verdicts,
    )
