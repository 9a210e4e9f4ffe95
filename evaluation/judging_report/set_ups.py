"""Judges with the preferences they were given: what was selected on dev pairs, and how it did on test pairs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluation.judging_report.judgments import COUNTS, FIRST, NOBODY, SECOND, Judging
from evaluation.judging_report.personal_scores import Chosen, Key, choose, personal_choices, rated
from evaluation.judging_report.preference_votes import COLUMNS
from evaluation.sections.answerers import AskedModel, asked_models

WITH = "with preferences"


@dataclass(frozen=True, slots=True)
class SetUp:
    """One run of a judge under preferences by one author, whose name is empty where it is not recorded.

    `rows` are those of `personal_scores.rated` with `plain`, the share of right verdicts of the same model on the same
    pair and order without preferences. `choices` are of the smallest best subsets, `counts` of all verdicts.
    """

    judge: AskedModel
    author: str
    chosen: dict[Key, Chosen]
    rows: pd.DataFrame
    choices: pd.DataFrame
    counts: pd.Series


def set_ups(judging: Judging) -> Iterator[SetUp]:
    """The set-ups whose judge decided dev and test pairs, in the order of judges, authors and runs."""
    personal, penalty = judging.personal, judging.parameters.difference_penalty
    dev, test = (personal[personal["part"] == part] for part in ("dev", "test"))
    for judge in asked_models(test):
        plain = _plain(judging, judge)
        own = {part: judge.of(rows) for part, rows in (("dev", dev), ("test", test))}
        for (author, run, sample), tested in own["test"].groupby(["author", "run", "sample"]):
            same_run = (own["dev"][["author", "run", "sample"]] == [author, run, sample]).all(axis=1)
            if not same_run.any():
                continue
            chosen = choose(as_judgements(own["dev"][same_run]), difference_penalty=penalty)
            judged = as_judgements(tested)
            if (rows := rated(judged, chosen)).empty:
                continue
            rows = with_plain(rows, tested, plain)
            yield SetUp(judge, str(author), chosen, rows, personal_choices(judged, chosen), tested[COUNTS].sum())


def as_judgements(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of `Judging.personal` as a judgements frame."""
    chose = np.select([rows["n_first"] > rows["n_second"], rows["n_second"] > rows["n_first"]], [FIRST, SECOND], "")
    letter = pd.Series(np.where(chose == rows["shown"], "A", "B"), index=rows.index).where(chose != "")
    frame = rows.rename(columns={"person": "annotator"})
    frame = frame.assign(right_first=rows["shown"] == rows["human"], choice=letter, missing=False)
    return frame[list(COLUMNS)]


def with_plain(rows: pd.DataFrame, tested: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """The rated rows with `plain` from counts by pair and response in front."""
    human = tested.drop_duplicates(["person", "pair"]).set_index(["person", "pair"])["human"]
    said = human.loc[pd.MultiIndex.from_frame(rows[["annotator", "pair"]])].to_numpy()
    other = np.where(said == FIRST, SECOND, FIRST)
    shown = np.where(rows["right_first"].astype(bool), said, other)
    counts = plain.reindex(pd.MultiIndex.from_arrays([rows["pair"], shown])).reset_index(drop=True)
    right = counts["n_first"].where(said == FIRST, counts["n_second"])
    return rows.assign(plain=(right / counts[COUNTS].sum(axis=1, min_count=1)).to_numpy())


def _plain(judging: Judging, judge: AskedModel) -> pd.DataFrame:
    """Counted verdicts of the same model at the same endpoint without preferences, by pair and response in front."""
    rows = judging.judgments
    own = (rows["model"] == judge.model) & (rows["endpoint"] == judge.endpoint) & (rows["person"] == NOBODY)
    return rows[own].groupby(["item", "shown"])[COUNTS].sum()
