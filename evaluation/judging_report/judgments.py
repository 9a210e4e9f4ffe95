"""From counted judgments to what the metrics of judges take: labels of people, choices in both orders, battles.

A judgment is of one *unit*: a judge asked under one condition, but for the order, and in one sample. With preferences
that vote, all of them are one unit, and its choice is their majority.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluation.judging_report.parameters import JudgingParameters
from evaluation.marks import Mark
from evaluation.metrics.labels import majority_labels
from evaluation.metrics.ratings import ratings_matrix
from evaluation.metrics.votes import majority_votes
from evaluation.sections.answerers import Answerers, AskedModel, asked_models, label_among

FIRST, SECOND, TIE = "first", "second", "tie"
ANSWERS = (FIRST, SECOND, TIE)
NOBODY, STRANGER = "", "?"
COUNTS = ["n_first", "n_second", "n_tie", "n_unread"]
_UNIT = ["item", "person", "unit", "sample"]


@dataclass(frozen=True)
class Judging:
    """The data of one report, by name, and what it was asked.

    `asked`: the question in words, one row. `items`: each item with its `topic`, `first_author` and `second_author` in
    the dataset's order. `labels`: how often (`n`) which `person` (who may be `simulated`) chose which `value` of an
    item with which response `shown` in front. `persons`: how many people gave how many answers. `judgments`: for each
    item, judge, unit, sample and response in front, how many chose which (`n_first`, `n_second`, `n_tie`) or could not
    be read (`n_unread`); `person` is whose judgment it should be, STRANGER where nobody with that name answered.
    `personal`: the same of pairs under preferences, by `part` (dev, test, crossed or ranked) and `run`: with the
    `pair`, its `topic`, what the person chose (`human`), and the `preference` with its `preference_topic` and `author`.
    `verdicts`: the response that another `judge` `chose` of a `pair` with which one `shown` in front.
    """

    asked: pd.DataFrame
    items: pd.DataFrame
    labels: pd.DataFrame
    persons: pd.DataFrame
    judgments: pd.DataFrame
    personal: pd.DataFrame
    verdicts: pd.DataFrame
    parameters: JudgingParameters

    @cached_property
    def who(self) -> Answerers:
        """Marks, words and warnings of the people and judges."""
        return Answerers(self.persons, self._all_judgments)

    @cached_property
    def judges(self) -> tuple[AskedModel, ...]:
        return asked_models(self.judgments)

    def label(self, judge: AskedModel) -> str:
        return label_among(judge, asked_models(self._all_judgments))

    @property
    def _all_judgments(self) -> pd.DataFrame:
        return pd.concat([self.judgments, self.personal]) if len(self.personal) else self.judgments

    @cached_property
    def chosen(self) -> pd.DataFrame:
        """What each `person` chose (`value`) of each `item`: the answer they gave most often, no row for a tie."""
        counts = self.labels.groupby(["item", "person", "value"], as_index=False)["n"].sum()
        most = counts["n"] == counts.groupby(["item", "person"])["n"].transform("max")
        return counts[most].drop_duplicates(["item", "person"], keep=False).drop(columns="n")

    @cached_property
    def own_labels(self) -> pd.DataFrame:
        """The same as a table, a row for each item and a column for each person."""
        return ratings_matrix(self.chosen, item="item", rater="person", value="value")

    @cached_property
    def majority(self) -> pd.Series:
        """The people's label of each item; None where they are tied."""
        return majority_labels(self.own_labels, ANSWERS, ties="undefined")["label"]

    def marks_of(self, person: str) -> tuple[Mark, ...]:
        """Whether the person is simulated."""
        simulated = self.labels.loc[self.labels["person"] == person, "simulated"].any()
        return ("simulated",) if simulated else ("human",)

    def right(self, judgments: pd.DataFrame) -> pd.Series:
        """The right response of each judgment: what the person chose whose judgment it should be, or the majority."""
        own = self.chosen.set_index(["item", "person"])["value"]
        named = pd.MultiIndex.from_frame(judgments[["item", "person"]])
        of_person = own.reindex(named).set_axis(judgments.index)
        return of_person.where(judgments["person"] != NOBODY, judgments["item"].map(self.majority))

    def right_for(self, judgments: pd.DataFrame, person: str) -> pd.Series:
        """The same with what this person chose as right."""
        return judgments["item"].map(self.own_labels[person])

    @property
    def source(self) -> str:
        """Whose answers the report shows, for figures that travel alone."""
        asked, judges = self.asked.iloc[0], ", ".join(map(self.label, self.judges)) or "none"
        return " ".join(
            [
                f"Dataset {asked['dataset']}, instrument {asked['instrument']}, question {self.parameters.question}. "
                f"Judges: {judges}.",
                *self.who.warnings,
            ]
        )


def choices(judgments: pd.DataFrame, right: pd.Series) -> pd.DataFrame:
    """The choices frame of `evaluation.metrics.preference`, with what the rows are of (`of`, the item, and `sample`).

    `right` has the right response of each judgment, first or second; judgments without one are left out. Verdicts that
    choose neither, or cannot be read, are wrong votes, and no choice where there is only one.
    """
    rows = _units(judgments.assign(right=right)[right.isin([FIRST, SECOND])], "right")
    ahead = (rows["shown"] == rows["right"]).to_numpy()
    n_right = np.where(rows["right"] == FIRST, rows["n_first"], rows["n_second"])
    voted = majority_votes(_votes(n_right, rows["n"].to_numpy() - n_right), ahead)["decision"]
    chose = (rows["n_first"] + rows["n_second"] > 0).to_numpy()
    return _as_choices(rows, ahead, voted.where(chose))


def in_both_orders(choices: pd.DataFrame) -> bool:
    """Whether any pair of a choices frame was asked in both orders."""
    return bool((choices.groupby("item")["right_first"].nunique() > 1).any())


def positions(judgments: pd.DataFrame) -> pd.DataFrame:
    """The choices frame of all judgments whatever is right: what it says of right and wrong means nothing.

    Only verdicts for one of the two responses vote.
    """
    rows = _units(judgments)
    ahead = (rows["shown"] == FIRST).to_numpy()
    voted = majority_votes(_votes(rows["n_first"].to_numpy(), rows["n_second"].to_numpy()), ahead)["decision"]
    return _as_choices(rows, ahead, voted)


def battles(judgments: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """The battles frame of `evaluation.metrics.ranking`, one for each unit and order that chose, or named a tie."""
    chosen = positions(judgments)
    first = np.where(chosen["choice"] == "A", chosen["right_first"] == 1, chosen["right_first"] == 0)
    tie = chosen["choice"].isna() & (chosen["n_tie"] > 0)
    winner = pd.Series(np.where(first, "left", "right")).where(chosen["choice"].notna()).mask(tie, "tie")
    return _between_authors(chosen["of"], winner, items)


def battles_of_people(chosen: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """The same from what each person chose, as `Judging.chosen` has it."""
    return _between_authors(chosen["item"], chosen["value"].map({FIRST: "left", SECOND: "right", TIE: "tie"}), items)


def _between_authors(item: pd.Series, winner: pd.Series, items: pd.DataFrame) -> pd.DataFrame:
    authors = items.set_index("item").loc[item, ["first_author", "second_author"]].set_axis(["left", "right"], axis=1)
    fought = authors.assign(winner=winner.to_numpy()).dropna()
    named = (fought["left"] != "") & (fought["right"] != "") & (fought["left"] != fought["right"])
    return fought[named].reset_index(drop=True)


def _units(judgments: pd.DataFrame, *also: str) -> pd.DataFrame:
    """A row for each unit and order, with `n` verdicts."""
    rows = judgments.groupby([*_UNIT, *also, "shown"], sort=True)[COUNTS].sum().reset_index()
    return rows.assign(n=rows[COUNTS].sum(axis=1))


def _votes(n_for: NDArray[np.int64], n_against: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counted votes as `majority_votes` takes them: 1, 0 or NaN for each of as many judges as voted at most."""
    place = np.arange(max(1, int((n_for + n_against).max(initial=0))))
    votes = np.where(place < n_for[:, None], 1.0, 0.0)
    votes[place >= (n_for + n_against)[:, None]] = np.nan
    return votes


def _as_choices(rows: pd.DataFrame, ahead: NDArray[np.bool_], choice: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": rows.groupby(_UNIT).ngroup(),
            "right_first": ahead.astype(int),
            "choice": choice.to_numpy(),
            "of": rows["item"],
            "sample": rows["sample"],
            "n_tie": rows["n_tie"],
        }
    )
