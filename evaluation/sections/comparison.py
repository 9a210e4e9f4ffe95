"""Who is compared with whom: the frames of a report, cut into settings and items frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pandas as pd

from evaluation.marks import Mark
from evaluation.metrics.ceiling import split_half_ceiling
from evaluation.metrics.result import Estimate
from evaluation.parameters import AlignmentParameters
from evaluation.sections.answerers import Answerers, label_among

Persona = Literal["none", "pooled", "country"]


@dataclass(frozen=True, slots=True)
class Frames:
    """Everything an alignment report is computed from.

    `asked`: `question` and its `text`, with names of `instrument` and `dataset`. `items`: external ids (`item`) with
    their `place` in the dataset. `people` and `models`: counts `n` and `n_culture` of answers by question, item and who
    answered under what. `persons`: how many people (`persons`) gave how many answers (`n`). `outcomes`: the same by how
    their session stands, also of the sessions that the report leaves out. `filters`: the funnel of the studies' quality
    filters, where the report uses them. `pairs`: per person (`respondent`, a number), how often (`n`) the personal and
    the norm question about one item were answered with culture (1) or not (0). `calls`: model calls by status that gave
    no answer. `versions`: instrument versions behind the answers, by kind of respondent. `relations`: as `people`, by
    how the item stands to the person, where the condition says it.
    """

    asked: pd.DataFrame
    items: pd.DataFrame
    people: pd.DataFrame
    models: pd.DataFrame
    relations: pd.DataFrame
    persons: pd.DataFrame
    outcomes: pd.DataFrame
    filters: pd.DataFrame
    pairs: pd.DataFrame
    calls: pd.DataFrame
    versions: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Setting:
    """A model with a prompt and a temperature, answering as itself, as all its personas, or as those of one country.

    `countries` are those of the people it is compared with; empty for everybody.
    """

    model: str
    endpoint: str
    prompt: str
    temperature: str
    demo_model: bool
    persona: Persona
    countries: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How the model answers, in words."""
        if self.persona == "none":
            return "No persona"
        return "All personas" if self.persona == "pooled" else f"As {self.countries[0]}"

    @property
    def mark(self) -> Mark:
        return "demo-model" if self.demo_model else "model"

    @property
    def against(self) -> str:
        """The people it is compared with, in words."""
        if not self.countries:
            return "Everybody"
        return self.countries[0] if self.persona == "country" else "The personas' countries"


_PEOPLE_MARK: Mapping[str, Mark] = {"real": "human", "simulated": "simulated"}
_MODEL = ("model", "endpoint", "prompt", "temperature", "demo_model")


@dataclass(frozen=True)
class Comparison:
    """The data of one report and what it was asked."""

    frames: Frames
    parameters: AlignmentParameters

    @property
    def questions(self) -> tuple[str, ...]:
        return self.parameters.questions

    @property
    def dataset(self) -> str:
        return str(self.frames.asked["dataset"].iloc[0])

    @property
    def instrument(self) -> str:
        return str(self.frames.asked["instrument"].iloc[0])

    @cached_property
    def who(self) -> Answerers:
        """Marks, words and warnings of the people and models."""
        return Answerers(self.frames.persons, self.frames.models)

    def n_people(self, countries: Sequence[str] = ()) -> int:
        """How many people of these countries, or of all, are in the report."""
        persons = self.frames.persons
        chosen = persons[persons["country"].isin(countries)] if countries else persons
        return int(chosen["persons"].sum())

    @property
    def models_in_words(self) -> str:
        """The names of all models, where tables and figures leave the only one out."""
        return ", ".join(dict.fromkeys(map(self.label, self.settings))) or "none"

    @property
    def source(self) -> str:
        """Whose answers the report shows, for figures that travel alone."""
        persons = int(self.frames.persons["persons"].sum())
        sessions = "completed sessions only" if self.parameters.sessions == "completed" else "all sessions"
        return " ".join(
            [
                f"Dataset {self.dataset}, instrument {self.instrument}; n = {persons} people, "
                f"{sessions}. Models: {self.models_in_words}.",
                *self.who.warnings,
            ]
        )

    @property
    def one_model(self) -> bool:
        """Whether a single label names all models, so that rows and marks need not repeat it."""
        return len({self.label(setting) for setting in self.settings}) == 1

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Each model, prompt and temperature: without persona, all personas, each country; everywhere in this order."""
        models = self.frames.models
        found: list[Setting] = []
        for key, answers in models.groupby(list(_MODEL), sort=True):
            model, endpoint, prompt, temperature, demo = key
            who = (str(model), str(endpoint), str(prompt), str(temperature), bool(demo))
            if not answers["persona"].all():
                found.append(Setting(*who, "none"))
            personas = answers[answers["persona"]]
            countries = tuple(sorted(set(personas["country"])))
            if len(personas):
                found.append(Setting(*who, "pooled", () if "" in countries else countries))
            found += [Setting(*who, "country", (country,)) for country in countries if country]
        return tuple(found)

    def label(self, setting: Setting) -> str:
        """The model's name, with endpoint, prompt and temperature where the name alone is ambiguous in this report."""
        return label_among(setting, self.settings)

    def line(self, setting: Setting) -> str:
        """The setting's words in figures; without the model's name where there is only one."""
        return setting.name if self.one_model else f"{self.label(setting)} · {setting.name}"

    def answers_of_model(self, question: str, setting: Setting) -> dict[str, str]:
        """Parameters of the responses page that show the model's answers in this setting, and no others.

        Empty where only answers with probabilities count, which that page does not tell apart.
        """
        if self.parameters.model_rates == "probabilities":
            return {}
        shown = self._answers(question) | {
            "kind": "model",
            "mark": setting.mark,
            "persona": "false" if setting.persona == "none" else "true",
            "attr_model": setting.model,
            "attr_endpoint": setting.endpoint,
            "cond_prompt": setting.prompt,
            "cond_temperature": setting.temperature,
        }
        return shown | ({"attr_country": setting.countries[0]} if setting.persona == "country" else {})

    def answers_of_people(self, question: str, country: str | None = None, *, also: str = "") -> dict[str, str]:
        """The same for the people: all of them, or those of one country ("" for those who stated none).

        With `also`, only answers of people who answered that question about the item, too. Empty where
        quality filters chose the sessions: what they choose may change, and the report does not.
        """
        parameters = self.parameters
        if parameters.sessions == "passed":
            return {}
        shown = self._answers(question)
        shown["kind"] = parameters.kinds[0] if len(set(parameters.kinds)) == 1 else "people"
        shown |= {} if parameters.people == "all" else {"mark": _PEOPLE_MARK[parameters.people]}
        shown |= {"sessions": "counted"} if parameters.sessions == "completed" else {}
        shown |= {"also": also} if also else {}
        return shown | ({} if country is None else {"attr_country": country})

    def _answers(self, question: str) -> dict[str, str]:
        parameters = self.parameters
        return {"dataset": parameters.dataset, "instrument_name": parameters.instrument, "question": question}

    def people(self, question: str, countries: Sequence[str] = ()) -> pd.DataFrame:
        """Rows of the people's frame about this question, of these countries or of all."""
        people = self.frames.people
        chosen = people["question"] == question
        return people[chosen & people["country"].isin(countries)] if countries else people[chosen]

    def model(self, question: str, setting: Setting) -> pd.DataFrame:
        """Rows of the models' frame about this question in this setting."""
        models = self.frames.models
        chosen = models["question"] == question
        for name in _MODEL:
            chosen &= models[name] == getattr(setting, name)
        chosen &= models["persona"] == (setting.persona != "none")
        if setting.persona == "country":
            chosen &= models["country"] == setting.countries[0]
        return models[chosen]

    def items(self, question: str, setting: Setting) -> pd.DataFrame:
        """The items frame of `evaluation.metrics.items`: every item of the dataset, counts 0 where nobody answered."""
        return self._items(self.people(question, setting.countries), self.model(question, setting))

    def people_items(self, question: str, countries: Sequence[str] = ()) -> pd.DataFrame:
        """An items frame with the people's counts alone."""
        return self._items(self.people(question, countries), self.frames.models.iloc[:0])

    def ceiling(self, items: pd.DataFrame) -> dict[str, Estimate]:
        """What people reach with people on these items, by `split_half_ceiling`.

        Kept, because it takes long and several sections set it beside numbers of the same items.
        """
        key, parameters = items[["n_human", "n_human_culture"]].to_numpy().tobytes(), self.parameters
        if key not in self._ceilings:
            self._ceilings[key] = split_half_ceiling(
                items, n_splits=parameters.splits, n_resamples=parameters.resamples, seed=parameters.seed
            )
        return self._ceilings[key]

    @cached_property
    def _ceilings(self) -> dict[bytes, dict[str, Estimate]]:
        return {}

    def _items(self, people: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
        sides, items = [], self.frames.items.sort_values("place")["item"]
        for side, frame in (("human", people), ("model", models)):
            counts = frame.groupby("item")[["n", "n_culture"]].sum().reindex(items, fill_value=0)
            counts = counts.astype({"n": "int64", "n_culture": "float64"})
            sides.append(counts.rename(columns={"n": f"n_{side}", "n_culture": f"n_{side}_culture"}))
        return pd.concat(sides, axis=1).rename_axis("item").reset_index()
