"""The reactions of one report, cut into splits of posts, as the metrics of tones and attitudes take them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

import numpy as np
import pandas as pd

from evaluation.metrics.attitude_deltas import paired_attitudes
from evaluation.metrics.attitudes import post_attitudes
from evaluation.metrics.tones import scored_tones
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.sections.answerers import Answerers, AskedModel, asked_models, label_among

ALL = "All posts"
CEILING = "Human ceiling"
# A reaction that is set against the others of a post that was chosen for their mean tends away from them.
WHY_ALL_POSTS = "It is of all posts, because the splits follow from the very reactions that it compares."


class Resampling(TypedDict):
    """What metrics take to draw their intervals."""

    n_resamples: int
    seed: int


@dataclass(frozen=True)
class Reactions:
    """The data of one report, by name, and what it was asked.

    `asked`: the questions in words. `persons`: how many people gave how many answers. `observed_tones` and
    `observed_attitudes`: how many (`n`) reactions to a `post` of a `community` have a `tone`, or an `attitude` from -1
    to 1. `simulated_tones` and `simulated_attitudes`: the same by model and `level`, blind or informed. `studied`: each
    `community` with its `topic`, its `place` and how many `posts` it has. `keyphrases`: how many (`n`) have a
    `salience`, `frequency` and `sparsity`, and whether they were `chosen`.
    """

    asked: pd.DataFrame
    persons: pd.DataFrame
    observed_tones: pd.DataFrame
    observed_attitudes: pd.DataFrame
    simulated_tones: pd.DataFrame
    simulated_attitudes: pd.DataFrame
    studied: pd.DataFrame
    keyphrases: pd.DataFrame
    parameters: ReactionsParameters

    @cached_property
    def who(self) -> Answerers:
        """Marks, words and warnings of the people and models."""
        return Answerers(self.persons, self.simulated_tones)

    @cached_property
    def models(self) -> tuple[AskedModel, ...]:
        return asked_models(self.simulated_tones)

    @property
    def resampling(self) -> Resampling:
        return {"n_resamples": self.parameters.resamples, "seed": self.parameters.seed}

    @property
    def levels(self) -> tuple[str, str]:
        """Blind and informed, by their names."""
        return self.parameters.blind, self.parameters.informed

    def label(self, model: AskedModel) -> str:
        return label_among(model, self.models)

    @cached_property
    def communities(self) -> pd.Series:
        """The community of each post; empty without communities."""
        posts = self.observed_tones.drop_duplicates("post").set_index("post")["community"]
        return posts[posts != ""]

    @cached_property
    def splits(self) -> Mapping[str, pd.Index]:
        """Posts by name of the split: all, and those whose observed attitudes are negative on average, or not."""
        rows = self.observed_attitudes
        sums = (rows["attitude"] * rows["n"]).groupby(rows["post"]).sum() / rows.groupby("post")["n"].sum()
        posts = pd.Index(pd.unique(pd.concat([self.observed_tones["post"], rows["post"]])))
        return {ALL: posts, "Negative": sums.index[sums < 0], "Not negative": sums.index[sums >= 0]}

    def of(self, counted: pd.DataFrame, posts: pd.Index) -> pd.DataFrame:
        """Of counted tones or attitudes those of these posts, a row for each reaction."""
        return _spread(counted[counted["post"].isin(posts)])

    def tones(self, model: AskedModel, level: str, posts: pd.Index) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Observed and simulated tones of these posts, a row for each reaction."""
        return self._sides(self.observed_tones, self.simulated_tones, model, level, posts)

    def attitudes(self, model: AskedModel, level: str, posts: pd.Index) -> pd.DataFrame:
        """The posts frame of `evaluation.metrics.attitudes` for these posts."""
        return post_attitudes(*self._sides(self.observed_attitudes, self.simulated_attitudes, model, level, posts))

    def pairs(self, model: AskedModel, posts: pd.Index) -> pd.DataFrame:
        """The paired frame of `evaluation.metrics.attitude_deltas` for these posts."""
        blind, informed = (self.attitudes(model, level, posts) for level in self.levels)
        return paired_attitudes(blind, informed)

    def matches(self, model: AskedModel, level: str, posts: pd.Index) -> pd.Series:
        """For each of these posts with both sides, 1 where a simulated tone is one of the observed ones, or 0."""
        own, other = scored_tones(*self.tones(model, level, posts))
        matched = other.merge(own.drop_duplicates(), on=["post", "tone"])["post"].unique()
        scored = pd.Index(other["post"].unique())
        return pd.Series(scored.isin(matched).astype(float), index=scored)

    def paired_matches(self, model: AskedModel, posts: pd.Index) -> pd.DataFrame:
        """The same blind and informed, of posts that were simulated both ways, with their community where known."""
        columns = {f"match_{name}": self.matches(model, level, posts) for name, level in self._named_levels.items()}
        both = pd.DataFrame(columns).dropna()
        return both.assign(community=self.communities.reindex(both.index))

    def clusters(self, posts: pd.Series) -> pd.Series:
        """What is drawn together: the community of each post, or the post itself where it has none."""
        return posts.map(self.communities).fillna(posts) if len(self.communities) else posts

    @property
    def clustered(self) -> str:
        """What is drawn together, in words."""
        return "communities" if len(self.communities) else "posts"

    @property
    def _named_levels(self) -> Mapping[str, str]:
        return {"blind": self.parameters.blind, "informed": self.parameters.informed}

    def _sides(
        self, observed: pd.DataFrame, simulated: pd.DataFrame, model: AskedModel, level: str, posts: pd.Index
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        of_level = model.of(simulated)
        of_level = of_level[of_level["level"] == level]
        return self.of(observed, posts), self.of(of_level, posts)

    @property
    def source(self) -> str:
        """Whose answers the report shows, for figures that travel alone."""
        asked, models = self.asked.iloc[0], ", ".join(map(self.label, self.models)) or "none"
        return " ".join(
            [
                f"Dataset {asked['dataset']}, instrument {asked['instrument']}; {len(self.splits[ALL])} posts. "
                f"Models: {models}.",
                *self.who.warnings,
            ]
        )


def _spread(counted: pd.DataFrame) -> pd.DataFrame:
    """A row for each reaction."""
    return counted.loc[np.repeat(counted.index, counted["n"])].reset_index(drop=True)
