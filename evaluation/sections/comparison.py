"""Who is compared with whom: the frames of a report, cut into settings and items frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pandas as pd

from evaluation.figures import Mark
from evaluation.frames import Frames
from evaluation.parameters import AlignmentParameters, Selection

Persona = Literal["none", "pooled", "country"]


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


_MODEL = ("model", "endpoint", "prompt", "temperature", "demo_model")


@dataclass(frozen=True)
class Comparison:
    """The data of one report and what it was asked."""

    frames: Frames
    selection: Selection

    @property
    def parameters(self) -> AlignmentParameters:
        return self.selection.parameters

    @property
    def questions(self) -> tuple[str, ...]:
        return self.parameters.questions

    @cached_property
    def people_marks(self) -> tuple[Mark, ...]:
        """Whether the people are real, simulated or both."""
        simulated = self.frames.persons["simulated"].astype(bool)
        real: tuple[Mark, ...] = () if simulated.all() else ("human",)
        return (*real, "simulated") if simulated.any() else real

    @property
    def people_mark(self) -> Mark:
        """The mark of the people in figures: simulated as soon as some of them are."""
        return "simulated" if "simulated" in self.people_marks else "human"

    @property
    def legend(self) -> str:
        """What outlined marks mean in this report, as a sentence; empty when no mark is outlined."""
        outlined = [
            *(["simulated people (warm)"] if "simulated" in self.people_marks else []),
            *(["demo models (cool)"] if self.frames.models["demo_model"].any() else []),
        ]
        return f"Outlined marks: {', '.join(outlined)}." if outlined else ""

    @property
    def caution(self) -> str:
        """The words that a figure itself carries about simulated people and demo models; empty when there are none."""
        people = {("simulated",): "Simulated people", ("human", "simulated"): "People partly simulated"}
        demo = "demo model" if self.frames.models["demo_model"].any() else ""
        words = ", ".join(part for part in (people.get(self.people_marks, ""), demo) if part)
        return words[:1].upper() + words[1:]

    def marked(self, *marks: Mark) -> dict[str, bool]:
        """The columns of a figure's row that say whose answers are in it."""
        return {"simulated": "simulated" in marks, "demo_model": "demo-model" in marks}

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
        others = [other for other in self.settings if other.model == setting.model]
        parts = [setting.model]
        if len({other.endpoint for other in others}) > 1:
            parts.append(f"at {setting.endpoint}")
        if len({other.prompt for other in others}) > 1:
            parts.append(f"({setting.prompt or 'prompt not recorded'})")
        if len({other.temperature for other in others}) > 1:
            parts.append(f"at temperature {setting.temperature or 'not recorded'}")
        return " ".join(parts)

    def line(self, setting: Setting) -> str:
        """The setting's words in figures; without the model's name where there is only one."""
        labels = {self.label(other) for other in self.settings}
        return setting.name if len(labels) == 1 else f"{self.label(setting)} · {setting.name}"

    def answers_of_model(self, question: str, setting: Setting) -> dict[str, str]:
        """Parameters of the responses page that show the model's answers in this setting."""
        shown = self._answers(question) | {"kind": "model", "attr_model": setting.model}
        # Imported answers need not say where they come from.
        shown |= {"attr_endpoint": setting.endpoint} if setting.endpoint else {}
        shown |= {"cond_prompt": setting.prompt} if setting.prompt else {}
        shown["attr_persona"] = "false" if setting.persona == "none" else "true"
        if setting.persona == "country":
            shown["attr_country"] = setting.countries[0]
        return shown

    def answers_of_people(self, question: str, country: str = "") -> dict[str, str]:
        """Parameters of the responses page that show the people's answers, of one country or of all."""
        kinds = self.parameters.kinds
        shown = self._answers(question) | ({"kind": kinds[0]} if len(kinds) == 1 else {})
        return shown | ({"attr_country": country} if country else {})

    def _answers(self, question: str) -> dict[str, str]:
        return {"dataset": self.parameters.dataset, "question": question}

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

    def _items(self, people: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
        sides = []
        for side, frame in (("human", people), ("model", models)):
            counts = frame.groupby("item")[["n", "n_culture"]].sum().reindex(self.frames.items, fill_value=0)
            sides.append(counts.rename(columns={"n": f"n_{side}", "n_culture": f"n_{side}_culture"}))
        return pd.concat(sides, axis=1).astype("int64").rename_axis("item").reset_index()
