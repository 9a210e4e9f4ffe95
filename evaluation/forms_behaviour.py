"""The form that asks for a behaviour report."""

from collections.abc import Iterator
from typing import Any

from django import forms

from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.forms import ModelForm, optional_column
from evaluation.selection import columns
from materials.questions import option_codes
from projects.models import Project

_DEFAULTS = BehaviourParameters.model_fields
_ROWS = {"rows": 3}


def _lines(label: str, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs=_ROWS)
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text, max_length=10_000)


class BehaviourForm(ModelForm):
    """What is compared, one comparison a line."""

    field_order = (
        *("title", "dataset", "instrument", "questions", "culture", "preference", "models", "factors"),
        *("base_instruct", "maps", "contrasts", "preferences", "rules", "deviance", "unit"),
    )

    questions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, help_text="Questions that models decided; each is counted on its own."
    )
    culture = forms.ChoiceField(label="Option that follows the culture")
    preference = forms.ChoiceField(
        label="Option that allows the preference", help_text="Any other answer counts as no decision."
    )
    factors = _lines("Factors", "One a line, with the baseline level behind a colon, such as cond_prompt: plain v1.")
    base_instruct = _lines("Base and instruct models", "One pair a line: base | instruct.")
    maps = _lines("Heat maps", "One a line: a field of the items, or two that are crossed, such as item_a | item_b.")
    contrasts = _lines("Contrasts", "One a line: item_actor_age: younger | older is younger minus older.")
    preferences = optional_column(
        label="Kind of preference", help_text="The items' field with the kind, or with the text that the rules read."
    )
    rules = _lines("Rules for kinds", "One kind a line, with keywords: health: mask | diet.")
    deviance = _lines("Terms of the regression", "One a line; an interaction as attr_model:item_relation.")
    unit = optional_column(
        label="Items made from the same",
        help_text="The items' field that names what several items come from; they are drawn together for intervals.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        named = columns(project)
        options = [(code, code) for code in dict.fromkeys(self._option_codes())]
        self._offer("questions", self._codes("choice"))
        for name in ("culture", "preference"):
            self._offer(name, options)
            self.fields[name].initial = _DEFAULTS[name].default
        for name in ("preferences", "unit"):
            self._offer_columns(name, named["item"])
        known = ", ".join([*named["cond"], *named["attr"]]) or "none yet"
        self.fields["factors"].help_text = f"{self.fields['factors'].help_text} There are: {known}."

    def clean_factors(self) -> list[dict[str, str]]:
        return [{"name": name, "baseline": baseline} for name, baseline in self._named("factors")]

    def clean_base_instruct(self) -> list[list[str]]:
        pairs = self._split("base_instruct")
        if any(len(pair) != 2 for pair in pairs):
            raise forms.ValidationError("Write each pair as base | instruct, on a line of its own.")
        return pairs

    def clean_maps(self) -> list[list[str]]:
        maps = self._split("maps")
        if any(len(fields) > 2 for fields in maps):
            raise forms.ValidationError("A heat map has one field or two, on a line of its own.")
        return maps

    def clean_contrasts(self) -> list[dict[str, str]]:
        found = []
        for name, levels in self._named("contrasts"):
            plus, bar, minus = (part.strip() for part in levels.partition("|"))
            if not bar or not plus or not minus:
                raise forms.ValidationError(
                    "Write each contrast as field: one level | the other, on a line of its own."
                )
            found.append({"name": name, "plus": plus, "minus": minus})
        return found

    def clean_rules(self) -> dict[str, list[str]]:
        rules = {name: _parts(keywords) for name, keywords in self._named("rules")}
        if not all(rules.values()):
            raise forms.ValidationError("Write each kind with its keywords, such as health: mask | diet.")
        return rules

    def clean_deviance(self) -> list[str]:
        return [line for (line,) in self._split("deviance")]

    def _split(self, name: str) -> list[list[str]]:
        return [_parts(line) for line in self._of(name)]

    def _named(self, name: str) -> Iterator[tuple[str, str]]:
        for line in self._of(name):
            first, _, rest = line.partition(":")
            yield first.strip(), rest.strip()

    def _of(self, name: str) -> list[str]:
        return [line.strip() for line in self.cleaned_data[name].splitlines() if line.strip()]

    def _option_codes(self) -> Iterator[str]:
        for question in self._questions:
            if question.kind == "choice":
                yield from option_codes(question)


def _parts(line: str) -> list[str]:
    return [part.strip() for part in line.split("|") if part.strip()]
