"""The form that asks for a behaviour report."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from django import forms

from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.forms import ModelForm, optional_column
from materials.questions import option_codes

_DEFAULTS = BehaviourParameters.model_fields
_ROWS = {"rows": 3}
_KINDS = ("cond", "attr", "item")  # of columns


def _lines(label: str, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs=_ROWS)
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text, max_length=10_000)


class BehaviourForm(ModelForm):
    """What is compared, one comparison a line."""

    field_order = (
        *("title", "questions", "culture", "preference", "models", "factors", "base_instruct", "maps", "contrasts"),
        *("preferences", "rules", "deviance", "unit"),
    )
    folded = ("preferences", "rules", "deviance", "unit", *ModelForm.folded)

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("questions", self._codes("choice"))
        for name in ("culture", "preference"):
            self._offer_option(name, _DEFAULTS[name].default)
        decided = {self.fields[name].initial for name in ("culture", "preference")}
        self.fields["questions"].initial = [q.code for q in self._asked("choice") if decided <= set(option_codes(q))]
        for name in ("preferences", "unit"):
            self._offer_columns(name, self.columns["item"])
        if len(self.material.models) < 2:
            del self.fields["base_instruct"]
        self._name("factors", self.columns["cond"] + self.columns["attr"])
        self._name("maps", self.columns["item"])

    def _name(self, field: str, columns: list[str]) -> None:
        """Say in the field's help which columns there are."""
        help_text = self.fields[field].help_text
        self.fields[field].help_text = f"{help_text} There are: {', '.join(columns) or 'none yet'}."

    def clean_factors(self) -> list[dict[str, str]]:
        named = list(self._named("factors"))
        _check_columns((name for name, _ in named), "cond", "attr")
        _check_once(name for name, _ in named)
        return [{"name": name, "baseline": baseline} for name, baseline in named]

    def clean_base_instruct(self) -> list[list[str]]:
        pairs = self._split("base_instruct")
        if any(len(pair) != 2 for pair in pairs):
            raise forms.ValidationError("Write each pair as base | instruct, on a line of its own.")
        _check_once(map(tuple, pairs))
        return pairs

    def clean_maps(self) -> list[list[str]]:
        maps = self._split("maps")
        if not all(1 <= len(fields) <= 2 for fields in maps):
            raise forms.ValidationError("A heat map has one field or two, on a line of its own.")
        _check_columns((name for fields in maps for name in fields), "item")
        _check_once(map(tuple, maps))
        return maps

    def clean_contrasts(self) -> list[dict[str, str]]:
        found = []
        for name, levels in self._named("contrasts"):
            plus, bar, minus = (part.strip() for part in levels.partition("|"))
            if not bar or not plus or not minus or plus == minus:
                raise forms.ValidationError(
                    "Write each contrast as field: one level | the other, on a line of its own."
                )
            found.append({"name": name, "plus": plus, "minus": minus})
        _check_columns((contrast["name"] for contrast in found), *_KINDS)
        _check_once(tuple(contrast.values()) for contrast in found)
        return found

    def clean_rules(self) -> list[dict[str, Any]]:
        rules = [{"name": name, "keywords": _parts(keywords)} for name, keywords in self._named("rules")]
        if not all(all(rule.values()) for rule in rules):
            raise forms.ValidationError("Write each kind with its keywords, such as health: mask | diet.")
        _check_once(rule["name"] for rule in rules)
        return rules

    def clean_deviance(self) -> list[str]:
        terms = [line.replace(" ", "") for line in self._of("deviance")]
        _check_columns((name for term in terms for name in term.split(":")), *_KINDS)
        _check_once(terms)
        return terms

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("culture") and given.get("culture") == given.get("preference"):
            self.add_error("preference", "Following the culture and allowing the preference are two different options.")
        if given.get("rules") and not given.get("preferences"):
            self.add_error("rules", "Choose the field whose text the rules read, under Kind of preference.")
        return given

    def _split(self, name: str) -> list[list[str]]:
        return [_parts(line) for line in self._of(name)]

    def _named(self, name: str) -> Iterator[tuple[str, str]]:
        for line in self._of(name):
            first, _, rest = line.partition(":")
            yield first.strip(), rest.strip()

    def _of(self, name: str) -> list[str]:
        return [line.strip() for line in self.cleaned_data[name].splitlines() if line.strip()]


def _parts(line: str) -> list[str]:
    return [part.strip() for part in line.split("|") if part.strip()]


def _check_columns(names: Iterable[str], *kinds: str) -> None:
    """Raise ValidationError at a name that is not one of these kinds of columns."""
    for name in names:
        kind, _, rest = name.partition("_")
        if kind not in kinds or not rest:
            starts = " or ".join(f"{kind}_" for kind in kinds)
            raise forms.ValidationError(f"“{name}” is not the name of a column here: it starts with {starts}.")


def _check_once(lines: Iterable[Any]) -> None:
    """Raise ValidationError where one comes again."""
    if any(n > 1 for n in Counter(lines).values()):
        raise forms.ValidationError("A line is there twice.")
