"""The forms of the prompts' pages."""

from typing import Any

from django import forms

from llm.models import Prompt
from llm.prompting.prompt_preview import ATTRIBUTES, CONDITION, Choice
from llm.prompting.rendering import PromptError, check_template
from projects.models import Project

LINES_AROUND = 2
LINE_CHARACTERS = 200
SOURCE = {"class": "code-field", "spellcheck": "false"}
GROUPS = {
    "age_group": [("younger", "Younger"), ("older", "Older")],
    "gender": [("female", "Female"), ("male", "Male"), ("other", "Other"), ("undisclosed", "Undisclosed")],
}


class PromptForm(forms.Form):
    """A new version. `base` is the version that the text was made from, empty for none."""

    name = forms.SlugField(max_length=80, help_text="A name that is there gets a new version.")
    system = forms.CharField(required=False, widget=forms.Textarea(attrs=SOURCE | {"rows": 6}), strip=False)
    user = forms.CharField(
        widget=forms.Textarea(attrs=SOURCE | {"rows": 16}),
        strip=False,
        help_text="Jinja2. What the names hold stands below.",
    )
    base = forms.ModelChoiceField(queryset=Prompt.objects.none(), required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._project = project
        self.fields["base"].queryset = project.prompts.all()  # type: ignore[attr-defined]
        self.excerpts: dict[str, str] = {}  # by field: the lines around a fault

    def clean_system(self) -> str:
        return self._template("system")

    def clean_user(self) -> str:
        return self._template("user")

    def _template(self, name: str) -> str:
        source = str(self.cleaned_data[name]).replace("\r\n", "\n")
        try:
            check_template(source)
        except PromptError as error:
            if error.line:
                self.excerpts[name] = excerpt(source, error.line)
            raise forms.ValidationError(str(error)) from error
        return source

    def draft(self) -> Prompt:
        """The valid texts as a version that is not stored."""
        return Prompt(project=self._project, **{name: self.cleaned_data[name] for name in ("name", "system", "user")})

    def base_version(self) -> int:
        """The number of the version with this name that the author knows; 0 for none."""
        base: Prompt | None = self.cleaned_data["base"]
        return base.version if base and base.name == self.cleaned_data["name"] else 0


class PreviewForm(forms.Form):
    """What a prompt is shown with. Never bound: whatever the address says, the page shows something and says what."""

    dataset = forms.ChoiceField()
    item = forms.CharField(label="Item (its id)")
    instrument = forms.ChoiceField()
    order = forms.ChoiceField(label="Order of options", choices=[("written", "As written"), ("reversed", "Reversed")])
    country = forms.ChoiceField(label="Persona’s country")
    age_group = forms.ChoiceField(label="Age group")
    gender = forms.ChoiceField()

    def __init__(self, choice: Choice, countries: list[str] | None) -> None:
        """Without countries the prompt reads no persona."""
        super().__init__(initial=_shown(choice))
        options = {
            "dataset": [(dataset.pk, str(dataset)) for dataset in choice.datasets],
            "instrument": [(instrument.pk, str(instrument)) for instrument in choice.instruments],
            "country": [("", "none"), *((country, country) for country in countries or ())],
        }
        options |= {name: [("", "none"), *groups] for name, groups in GROUPS.items()}
        for name, choices in options.items():
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        for name in ATTRIBUTES if countries is None else ():
            del self.fields[name]
        if not choice.has_orders:
            del self.fields["order"]
        for factor, text in choice.given.items():
            levels = [(level, level) for level in choice.levels.get(factor, {})]
            name = CONDITION + factor
            if levels:
                self.fields[name] = forms.ChoiceField(label=name, choices=levels, initial=text)
            else:
                self.fields[name] = forms.CharField(label=name, initial=text)
        for field in self.fields.values():
            field.required = False  # the browser asks for nothing

    @property
    def stands_in(self) -> bool:
        """Whether a factor has no value, so that its name is shown."""
        return any(name.startswith(CONDITION) and not field.initial for name, field in self.fields.items())


def _shown(choice: Choice) -> dict[str, Any]:
    return choice.persona | {
        "dataset": choice.dataset and choice.dataset.pk,
        "instrument": choice.instrument and choice.instrument.pk,
        "item": choice.item and choice.item.external_id,
        "order": "reversed" if choice.reverse else "written",
    }


def excerpt(source: str, line: int) -> str:
    """The lines around this one, numbered, an arrow before it.

    >>> print(excerpt("a\\nb\\nc", 2))
        1  a
    →   2  b
        3  c
    """
    lines = source.split("\n")
    first, last = max(1, line - LINES_AROUND), min(len(lines), line + LINES_AROUND)
    return "\n".join(
        f"{'→' if n == line else ' '} {n:3}  {lines[n - 1][:LINE_CHARACTERS]}".rstrip() for n in range(first, last + 1)
    )
