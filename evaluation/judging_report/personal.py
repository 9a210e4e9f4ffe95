"""How often judges that know a person's preferences choose what that person chose."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaluation.figures import interval_dots
from evaluation.judging_report.judgments import Judging
from evaluation.judging_report.personal_scores import Figure as Which
from evaluation.judging_report.personal_scores import by_key, mean_accuracy
from evaluation.judging_report.preference_votes import voted_choices
from evaluation.judging_report.set_ups import WITH, SetUp, as_judgements, set_ups
from evaluation.metrics.ranking import repeated_runs
from evaluation.metrics.result import Estimate
from evaluation.sections.answerers import asked_models
from evaluation.sections.shape import Cell, Column, Figure, Row, Section, Table, estimate_cell, two_decimals

_JUDGE = Column("judge", "Judge", "name")
_AUTHOR = Column("author", "Preferences by", "name")
_PERSON = Column("person", "Labels of", "name")
_PAIRS = Column("pairs", "Pairs", "count", "n")
_FIGURES = (
    Column("accuracy", "Accuracy", "estimate", "0 to 1"),
    Column("baseline", "Without preferences", "estimate", "0 to 1"),
    Column("gain", "Gain", "estimate", "−1 to 1"),
)
BY_TOPIC = (
    _JUDGE, _AUTHOR, Column("topic", "Topic", "name"), Column("people", "People", "count", "n"), _PAIRS, *_FIGURES,
)  # fmt: skip
BY_PERSON = (_JUDGE, _AUTHOR, _PERSON, Column("topic", "Topic", "name"), _PAIRS, *_FIGURES)
SELECTION = (
    _JUDGE,
    _AUTHOR,
    _PERSON,
    Column("topic", "Topic", "name"),
    Column("preferences", "Preferences", "count", "n"),
    Column("searched", "Subsets tried", "count", "n"),
    Column("dev_rows", "Dev verdicts", "count", "n"),
    Column("dev_right", "Right in them", "count", "n"),
    Column("best", "Best subsets", "count", "n"),
    Column("smallest", "In the smallest", "count", "n"),
)
RUNS = (
    _JUDGE, _AUTHOR, Column("runs", "Runs", "count", "n"), Column("mean", "Mean accuracy", "estimate", "0 to 1"),
    Column("sd", "Standard deviation", "estimate"),
)  # fmt: skip
CROSSED = (
    _JUDGE, _AUTHOR, _PERSON, Column("source", "Preferences on", "name"), Column("target", "Pairs on", "name"), _PAIRS,
    _FIGURES[0],
)  # fmt: skip
_WITH_AND_WITHOUT: tuple[tuple[Which, str], ...] = (("accuracy", "with"), ("baseline", "without"))
ALL_TOPICS = "Mean of topics"
PARAGRAPHS = (
    "A judge was told in words what a person prefers, and decided that person's pairs in both orders. Of all subsets "
    "of the person's preferences on a topic those are selected whose majority is right most often on dev pairs. "
    "Accuracy is that on test pairs, against what this same person chose, as the mean over all best subsets. Without "
    "preferences is the same model on the same pairs, told of nobody, and the gain is what lies between.",
    "Means weigh the people of a topic alike, and topics alike. Brackets are 95 % bootstrap intervals over pairs "
    "({resamples} resamples, seed {seed}), each drawn with both orders and all its people. They say nothing about "
    "other people, and a gain does not tell whether the preferences or only more words in the prompt made it.",
)
REPEATED = (
    "Runs of one judge with preferences by one author are beside each other; their mean has Student's t interval."
)


def personal(judging: Judging) -> Section | None:
    """None when nobody's preferences were given to a judge."""
    found = list(set_ups(judging))
    if not found:
        return None
    numbers = judging.parameters.model_dump(include={"resamples", "seed"})
    several = len({(one.judge, one.author) for one in found}) < len(found)
    every_pair, each_person = "n counts pairs, whoever labelled them.", "Each row is one person's."
    smallest = "The smallest best subset is the first of those with fewest preferences."
    tables = [
        Table("personal_topics", "Accuracy by topic", every_pair, BY_TOPIC, _topics(judging, found)),
        Table("personal_people", "Accuracy by person and topic", each_person, BY_PERSON, _people(judging, found)),
        Table("selection", "Selected preferences", smallest, SELECTION, _selection(judging, found)),
    ]
    if several:
        tables.append(Table("personal_runs", "Runs", "Means over topics.", RUNS, _runs(judging, found)))
    if crossed := _crossed(judging):
        caption = "Pairs of one topic under the preferences selected for another: what holds of a person at large."
        tables.append(Table("crossed", "Preferences of another topic", caption, CROSSED, crossed))
    return Section(
        code="personal",
        title="Judges that know a person's preferences",
        paragraphs=(
            *(_finding(judging, one) for one in found),
            *(text.format(**numbers) for text in PARAGRAPHS),
            *([REPEATED] if several else []),
        ),
        tables=tuple(tables),
        figures=tuple(_figure(judging, one, number) for number, one in enumerate(found, start=1)),
    )


def name_of(judging: Judging, one: SetUp) -> str:
    """The judge in figures, and in tables that hold others."""
    return f"{judging.label(one.judge)} ({WITH}{f' by {one.author}' if one.author else ''})"


def _finding(judging: Judging, one: SetUp) -> str:
    with_, without, gain = (_estimate(judging, one.rows, of) for of in ("accuracy", "baseline", "gain"))
    words = f"{judging.label(one.judge)} with preferences by {one.author or 'an author not recorded'} chooses what the "
    words += f"person chose in {_in_words(with_)} of its choices"
    return words + (f", without them in {_in_words(without)}: a gain of {_in_words(gain)}." if gain.defined else ".")


def _in_words(estimate: Estimate) -> str:
    interval = f" [{two_decimals(estimate.low)}, {two_decimals(estimate.high)}]" if not np.isnan(estimate.low) else ""
    return f"{two_decimals(estimate.value)}{interval}"


def _estimate(judging: Judging, rows: pd.DataFrame, of: Which) -> Estimate:
    parameters = judging.parameters
    return mean_accuracy(rows, of, n_resamples=parameters.resamples, seed=parameters.seed)


def _figures(judging: Judging, rows: pd.DataFrame) -> dict[str, Cell]:
    names: tuple[Which, ...] = ("accuracy", "baseline", "gain")
    return {"pairs": rows["pair"].nunique(), **{of: estimate_cell(_estimate(judging, rows, of)) for of in names}}


def _by_topic(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from ((str(topic) or "Not stated", own) for topic, own in rows.groupby("topic"))
    if rows["topic"].nunique() > 1:
        yield ALL_TOPICS, rows


def _topics(judging: Judging, found: Sequence[SetUp]) -> tuple[Row, ...]:
    of_judges = [
        _row(judging, one, {"topic": topic, "people": own["annotator"].nunique(), **_figures(judging, own)}, own)
        for one in found
        for topic, own in _by_topic(one.rows)
    ]
    return (*of_judges, *_others(judging, found))


def _row(judging: Judging, one: SetUp, cells: dict[str, Cell], rows: pd.DataFrame) -> Row:
    people = rows["annotator"].unique()
    marks = dict.fromkeys(mark for person in people for mark in judging.marks_of(person))
    who = {"judge": judging.label(one.judge), "author": one.author or "not recorded"}
    return Row({**who, **cells}, marks=(*marks, one.judge.mark), n_people=len(people))


def _people(judging: Judging, found: Sequence[SetUp]) -> tuple[Row, ...]:
    return tuple(
        _row(judging, one, {"person": person, "topic": topic or "Not stated", **_figures(judging, own)}, own)
        for one in found
        for (person, topic), own in by_key(one.rows)
    )


def _selection(judging: Judging, found: Sequence[SetUp]) -> tuple[Row, ...]:
    return tuple(
        Row(
            {
                "judge": judging.label(one.judge),
                "author": one.author or "not recorded",
                "person": person,
                "topic": topic or "Not stated",
                "preferences": len(chosen.preferences),
                "searched": 2 ** len(chosen.preferences) - 1,
                "dev_rows": chosen.dev_rows,
                "dev_right": chosen.dev_right,
                "best": len(chosen.subsets),
                "smallest": len(chosen.one),
            },
            marks=(*judging.marks_of(person), one.judge.mark),
            n_people=1,
        )
        for one in found
        for (person, topic), chosen in one.chosen.items()
    )


def _others(judging: Judging, found: Sequence[SetUp]) -> Iterator[Row]:
    """Judges that were asked elsewhere, on the test pairs of the last run."""
    pairs = found[-1].rows[["annotator", "topic", "pair"]].drop_duplicates()
    human = judging.chosen.set_index(["item", "person"])["value"]
    for judge, verdicts in judging.verdicts.groupby("judge"):
        rows = pairs.merge(verdicts, on="pair")
        said = human.reindex(pd.MultiIndex.from_frame(rows[["pair", "annotator"]])).to_numpy()
        rows = rows.assign(right=(rows["chose"] == said).astype(float), voted=1.0, plain=np.nan)
        for topic, own in _by_topic(rows):
            cells: dict[str, Cell] = {"judge": str(judge), "author": "asked elsewhere", "topic": topic}
            cells |= {"people": own["annotator"].nunique(), **_figures(judging, own)}
            yield Row(cells, marks=(*judging.who.people_marks, "model"), n_people=own["annotator"].nunique())


def _runs(judging: Judging, found: Sequence[SetUp]) -> tuple[Row, ...]:
    rows = []
    for judge, author in dict.fromkeys((one.judge, one.author) for one in found):
        own = [one for one in found if (one.judge, one.author) == (judge, author)]
        values = [_estimate(judging, one.rows, "accuracy").value for one in own if len(one.rows)]
        runs = repeated_runs(values)
        cells: dict[str, Cell] = {
            "judge": judging.label(judge),
            "author": author or "not recorded",
            "runs": len(values),
        }
        spread = Estimate(runs.sd, len(values)) if len(values) > 1 else Estimate.undefined("it takes two runs")
        cells |= {"mean": estimate_cell(runs.mean), "sd": estimate_cell(spread)}
        rows.append(Row(cells, marks=(*judging.who.people_marks, judge.mark), n_people=judging.who.n_people))
    return tuple(rows)


def _crossed(judging: Judging) -> tuple[Row, ...]:
    personal, keys = judging.personal, ["author", "person", "preference_topic", "topic"]
    crossed = personal[personal["part"] == "crossed"]
    rows = []
    for judge in asked_models(crossed):
        for key, own in judge.of(crossed).groupby(keys):
            author, person, source, target = (str(name) or "not recorded" for name in key)
            voted = _voted(as_judgements(own))
            cells: dict[str, Cell] = {"judge": judging.label(judge), "author": author, "person": person}
            cells |= {"source": source, "target": target, "pairs": voted["pair"].nunique()}
            cells |= {"accuracy": estimate_cell(_estimate(judging, voted, "accuracy"))}
            rows.append(Row(cells, marks=(*judging.marks_of(person), judge.mark), n_people=1))
    return tuple(rows)


def _voted(frame: pd.DataFrame) -> pd.DataFrame:
    """The majority of all preferences in a judgements frame of one person and topic, as rows of `mean_accuracy`."""
    choices = voted_choices(frame, sorted(frame["preference"].unique())).rename(columns={"item": "pair"})
    right = (choices["choice"] == "A") == (choices["right_first"] == 1)
    return choices.assign(right=right.astype(float), voted=1.0, plain=np.nan, annotator="", topic="")


def _figure(judging: Judging, one: SetUp, number: int) -> Figure:
    dots: list[dict[str, Any]] = []
    lines = [(topic, own) for topic, own in _by_topic(one.rows)]
    for topic, own in lines:
        people = own["annotator"].unique()
        marks = {mark for person in people for mark in judging.marks_of(person)} | {one.judge.mark}
        for of, words in _WITH_AND_WITHOUT:
            estimate = _estimate(judging, own, of)
            if estimate.defined:
                who = {"who": topic, "question": words, "mark": one.judge.mark, "people": len(people)}
                label = f"{words} {two_decimals(estimate.value)}"
                dots.append({**who, "label": label, **estimate_cell(estimate), **judging.who.marked(*marks)})
    return Figure(
        code=f"personal_{number}",
        title=f"How often {name_of(judging, one)} chooses what a person chose",
        caption="Right choices over both orders of test pairs with the selected preferences and without any, with 95 % "
        f"bootstrap interval over pairs; n counts choices. {judging.who.legend}".rstrip(),
        source=judging.source,
        spec=interval_dots(
            dots,
            who=[topic for topic, _ in lines],
            x_title="Accuracy in both orders",
            domain=(0, 1),
            caution=judging.who.caution,
        ),
    )
