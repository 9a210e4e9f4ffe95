"""The form of a job."""

from itertools import product
from typing import Any

from django import forms

from llm.models import Job
from llm.querysets import known_countries
from projects.models import Project

AGE_GROUPS = [("younger", "Younger"), ("older", "Older")]
MATERIALS = ("dataset", "instrument", "prompt", "endpoint")
GENDERS = [("female", "Female"), ("male", "Male")]


class JobForm(forms.ModelForm):
    """A job's plan. Personas are every combination of the ticked countries, age groups and genders."""

    question_codes = forms.MultipleChoiceField(
        label="Questions",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Without a tick all questions of the instrument are asked.",
        error_messages={"invalid_choice": "The instrument has no question %(value)s."},
    )
    alone = forms.BooleanField(label="Without persona", required=False, initial=True)
    countries = forms.MultipleChoiceField(
        label="Personas from", required=False, widget=forms.CheckboxSelectMultiple, help_text="Countries in the data."
    )
    age_groups = forms.MultipleChoiceField(
        label="Age groups of the personas", required=False, choices=AGE_GROUPS, widget=forms.CheckboxSelectMultiple
    )
    genders = forms.MultipleChoiceField(
        label="Genders of the personas", required=False, choices=GENDERS, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = Job
        fields = [
            "name", "kind", "dataset", "instrument", "prompt", "endpoint", "max_items", "samples", "temperature",
            "max_tokens", "seed",
        ]  # fmt: skip
        labels = {
            "max_items": "Items at most",
            "samples": "Answers to each question",
            "max_tokens": "Tokens an answer at most",
        }
        help_texts = {
            "samples": "More than one needs a temperature above 0 to differ.",
            "temperature": "At 0 an equal request is asked once, and its answer reused and marked.",
            "seed": "Draws the order of options.",
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in MATERIALS:
            self.fields[name].queryset = self.fields[name].queryset.filter(project=project)  # type: ignore[attr-defined]
        self.fields["question_codes"].choices = self._questions(project)  # type: ignore[attr-defined]
        self.fields["countries"].choices = [(name, name) for name in known_countries(project)]  # type: ignore[attr-defined]
        limits = {"max_items": (1, None), "samples": (1, 1000), "temperature": (0, 2), "max_tokens": (1, 100_000)}
        for name, (lowest, highest) in limits.items():
            self.fields[name] = bounded(self.fields[name], lowest, highest)
        self.missing = [
            name
            for name in MATERIALS
            if not self.fields[name].queryset.exists()  # type: ignore[attr-defined]
        ]
        last = ["question_codes", "prompt", "endpoint", "alone", "countries", "age_groups", "genders"]
        self.order_fields(["name", "kind", "dataset", "instrument", *last])

    def _post_clean(self) -> None:
        """The service makes the job, after its own checks."""

    def _questions(self, project: Project) -> list[tuple[str, str]]:
        """Code and text of each question of the instrument that is chosen, or the only one."""
        chosen = str((self.data if self.is_bound else self.initial).get("instrument", ""))
        instruments = list(project.instruments.all())
        found = [one for one in instruments if str(one.pk) == chosen] or (instruments if len(instruments) == 1 else [])
        return [(one.code, one.text) for one in found[0].questionnaire.questions] if found else []

    def personas(self) -> list[dict[str, str]]:
        """The personas as attributes, in the order of the form; {} is none."""
        ticked = {name: self.cleaned_data[name] for name in ("countries", "age_groups", "genders")}
        attributes = [
            [(attribute, value) for value in ticked[name]]
            for name, attribute in (("countries", "country"), ("age_groups", "age_group"), ("genders", "gender"))
            if ticked[name]
        ]
        combined = [dict(pairs) for pairs in product(*attributes)] if attributes else []
        return ([{}] if self.cleaned_data["alone"] else []) + combined

    def plan(self) -> dict[str, Any]:
        """The arguments of plan_job."""
        own = {"alone", "countries", "age_groups", "genders"}
        return {name: value for name, value in self.cleaned_data.items() if name not in own} | {
            "personas": self.personas()
        }


def bounded(field: Any, lowest: float, highest: float | None = None) -> Any:
    """The same number field with bounds, in the page and in the check."""
    return type(field)(
        label=field.label,
        help_text=field.help_text,
        required=field.required,
        initial=field.initial,
        min_value=lowest,
        max_value=highest,
    )
