"""The form in which a draft is edited: what a study is made of, as texts that people type."""

import json
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from pydantic import ValidationError

from materials.field_lines import HELP, read_field_lines, write_field_lines
from materials.models import Dataset, Instrument
from materials.question_file import read_json
from materials.questions import QuestionError, parse_questions
from projects.form_sections import Section, sections_of
from projects.models import Project
from studies.design import Design, DesignError, Texts
from studies.design_examples import EXAMPLES
from studies.design_lines import (
    read_groups,
    read_names,
    read_numbers,
    read_quotas,
    read_screening,
    typed_rules,
    write_groups,
    write_names,
    write_numbers,
    write_quotas,
    write_screening,
)
from studies.filters import parse_filters
from studies.models import Study
from studies.translating import parse_translations

TEXTS = tuple(Texts.model_fields)
ENDS = TEXTS[4:]  # what is said at each end, which may have a code
LONGEST_LINE = 100  # of JSON, which is indented where it is longer
SECTIONS = (
    (
        "What is asked",
        "",
        ("name", "dataset", "instrument", "item_template", "items_each", "minutes", "questions", "groups", "asked_on"),
    ),
    (
        "Which items a person gets",
        "Every draw follows from the seed, so that it can be made again.",
        ("balance", "relation", "factors", "strata", "seed"),
    ),
    ("People", "Asked after consent, before the items.", ("demographics", "screening", "quotas")),
    ("Texts before the items", "In Markdown.", ("title", "consent", "instructions", "contact")),
    ("Texts at the end", "In Markdown. Each stands under the page's own heading, above the code.", TEXTS[3:]),
    ("Checks", "", ("comprehension", "attention_checks", "attention_limit")),
    (
        "Platform and codes",
        "Copy each code from the platform; it is shown when the session ends in this way.",
        ("platform", "confirm_platform_id", *(f"code_{end}" for end in ENDS)),
    ),
    ("Languages", "", ("language", "translations")),
    ("Filters", "They say in advance whose answers an analysis uses; nobody's answers are deleted.", ("filters",)),
)
OPEN_AT_FIRST = 1  # of the sections


class ReadField(forms.CharField):
    """A text that `read` makes data of, or a ValueError with what is wrong; `empty` where nothing is typed."""

    def __init__(self, read: Callable[[str], Any], *, empty: Any, rows: int = 2, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows})
        super().__init__(**{"widget": widget, "required": False} | kwargs)
        self.read, self.empty = read, empty

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return self.empty
        try:
            data = self.read(text)
        except ValueError as error:
            raise forms.ValidationError(list(getattr(error, "faults", (str(error),)))) from error
        if "\\u0000" in json.dumps(data).replace("\\\\", ""):
            raise forms.ValidationError("It holds a NUL character, which cannot be stored; remove it.")
        return data


class JsonField(ReadField):
    """A text of JSON, with an example to begin from."""

    def __init__(self, empty: Any, *, rows: int = 4, example: str = "", **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "class": "code-field", "spellcheck": "false"})
        super().__init__(read_json, empty=empty, widget=widget, **kwargs)
        self.example = example


def markdown_field(rows: int = 3, **kwargs: Any) -> forms.CharField:
    return forms.CharField(widget=forms.Textarea(attrs={"rows": rows}), **{"required": False} | kwargs)


def offer_materials(form: forms.Form, project: Project) -> None:
    """Let people choose among the project's datasets and instruments."""
    form.fields["dataset"].queryset = project.datasets.order_by("name")  # type: ignore[attr-defined]
    form.fields["instrument"].queryset = project.instruments.order_by("name", "-version")  # type: ignore[attr-defined]


class DraftForm(forms.Form):
    """`study_fields` are, once it is valid, the fields of the model. Every fault is at the field it is in."""

    name = forms.CharField(max_length=200, help_text="What researchers call it.")
    dataset = forms.ModelChoiceField(queryset=Dataset.objects.none(), empty_label=None)
    instrument = forms.ModelChoiceField(queryset=Instrument.objects.none(), empty_label=None)
    item_template = ReadField(
        read_field_lines, empty=[], rows=4, required=True, label="Fields of the item to show", help_text=HELP
    )
    items_each = forms.IntegerField(label="Items a person", min_value=1, max_value=1000)
    minutes = forms.IntegerField(label="Minutes it takes", min_value=1, max_value=600, help_text="Told before consent.")
    questions = ReadField(
        read_names, empty=[], help_text="Codes of the instrument's questions, with commas. Empty asks all of them."
    )
    groups = ReadField(
        read_groups,
        empty=[],
        label="Pages of an item",
        help_text="A page a line, with the codes of its questions. Empty puts all of them on one page.",
    )
    asked_on = ReadField(
        read_numbers,
        empty={},
        label="Asked about some items only",
        help_text="A question a line with the number of a person's items, for example “why: 2”.",
    )
    balance = ReadField(
        read_names,
        empty=[],
        label="Even within a person",
        help_text="Fields of the items, or the name of the relation, with commas; the first counts most.",
    )
    relation = JsonField(
        None, example=EXAMPLES["relation"], help_text="How an item stands to the person: same, close or far."
    )
    factors = JsonField([], example=EXAMPLES["factors"], help_text="What varies between people or within a person.")
    strata = ReadField(
        read_names, empty=[], help_text="Codes of questions about people: places are dealt apart within their answers."
    )
    seed = forms.IntegerField(initial=1, min_value=-(2**53), max_value=2**53)
    demographics = JsonField(
        [],
        rows=8,
        label="Questions about the person",
        example=EXAMPLES["demographics"],
        help_text="In the format of instruments; each with its reason.",
    )
    screening = ReadField(
        read_screening,
        empty=[],
        label="Who may go on",
        help_text="A question a line with the codes of the answers, for example “country: India, Nepal”.",
    )
    quotas = ReadField(
        read_quotas,
        empty=[],
        help_text="So many people a line, for example “country = India: 40”; a number alone counts everybody.",
    )
    title = forms.CharField(max_length=200, help_text="What participants call it.")
    consent = markdown_field(8, required=True)
    instructions = markdown_field(6)
    contact = forms.CharField(
        required=False, max_length=200, help_text="Whom to ask, and who deletes answers on request."
    )
    debrief = markdown_field(label="Debriefing, the last page before the end")
    comprehension = JsonField(
        None, label="Comprehension check", example=EXAMPLES["comprehension"], help_text="Asked with the instructions."
    )
    attention_checks = JsonField(
        [],
        example=EXAMPLES["attention_checks"],
        help_text="Each stands between two items, at a place drawn by the seed.",
    )
    attention_limit = forms.IntegerField(
        label="Failed checks that fail a person", min_value=1, initial=1, required=False
    )
    platform = forms.ChoiceField(choices=Study.Platform.choices)
    confirm_platform_id = forms.BooleanField(label="Let people confirm their platform id", required=False)
    language = forms.CharField(
        label="Language of the texts and questions", max_length=20, help_text="A code such as en or pt-BR."
    )
    translations = JsonField(
        {},
        rows=8,
        example=EXAMPLES["translations"],
        help_text="By language: texts, questions, fields of the item, headings and levels.",
    )
    filters = JsonField([], rows=8, example=EXAMPLES["filters"], help_text="In the order in which they are applied.")
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        for end in ENDS:
            label = end.replace("_", " ").capitalize()
            self.fields[end] = markdown_field(label=label)
            self.fields[f"code_{end}"] = forms.CharField(label=f"Code: {label}", required=False, max_length=60)
        offer_materials(self, project)

    def sections(self) -> list[Section]:
        return sections_of(self, SECTIONS)

    @property
    def study_fields(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {name: given[name] for name in ("name", "dataset", "instrument", "platform", "demographics")} | {
            "texts": {name: given[name] for name in TEXTS if given[name]},
            "design": self._design(),
            "completion_codes": {end: given[f"code_{end}"] for end in ENDS if given[f"code_{end}"]},
            "translations": given["translations"],
            "filters": given["filters"],
        }

    def _design(self) -> dict[str, Any]:
        """What was given of it; what was left out has the design's own values."""
        empty = (None, "", [], {})
        given = {name: self.cleaned_data[name] for name in Design.model_fields if name in self.cleaned_data}
        defaults = {name: field.default for name, field in Design.model_fields.items()}
        design = {name: value for name, value in given.items() if value not in empty and value != defaults[name]}
        return design | {"item_template": {"item_fields": self.cleaned_data.get("item_template", [])}}

    def clean(self) -> dict[str, Any]:
        self._type_rules()
        self._check("demographics", lambda data: parse_questions(data) if data else None)
        self._check("translations", parse_translations)
        self._check("filters", parse_filters)
        try:
            Design.model_validate(self._design())
        except ValidationError as error:
            for fault in error.errors():
                self._add_design_fault(*fault["loc"], sentence=fault["msg"])
        return self.cleaned_data

    def _type_rules(self) -> None:
        asked = self.cleaned_data.get("demographics")
        questions = [question for question in asked if isinstance(question, dict)] if isinstance(asked, list) else []
        kinds = {str(question.get("code")): str(question.get("kind")) for question in questions}
        for name in {"screening", "quotas"} & self.cleaned_data.keys():
            self.cleaned_data[name] = list(typed_rules(self.cleaned_data[name], kinds))

    def _check(self, name: str, parse: Callable[[Any], Any]) -> None:
        if name not in self.cleaned_data:
            return
        try:
            parse(self.cleaned_data[name])
        except (QuestionError, DesignError) as error:
            self.add_error(name, list(getattr(error, "faults", (str(error),))))

    def _add_design_fault(self, name: Any = "", *places: Any, sentence: str) -> None:
        """At its field; none where that has a fault of its own, and at the top where the fields do not fit together."""
        place = f"At {' > '.join(str(part) for part in places)}: " if places and name != "item_template" else ""
        words = f"{place}{sentence.removeprefix('Value error, ')}."
        if name in self.fields and not self.has_error(name):
            self.add_error(name, words)
        elif not name and not self.errors:
            self.add_error(None, words)

    def add_saved_meanwhile(self, saved: Mapping[str, Any]) -> None:
        """Name what somebody else has saved at each field that differs from what is in this valid form."""
        theirs = DraftForm(saved, project=self.project)
        theirs.is_valid()
        mine = self.cleaned_data
        for name in [name for name in mine if name != "seen" and mine[name] != theirs.cleaned_data.get(name)]:
            self.add_error(name, f"Somebody else saved here meanwhile: {theirs[name].value() or 'nothing'}")


def form_values(study: Study) -> dict[str, Any]:
    """What the form holds of a draft, as it stands in the fields."""
    design: dict[str, Any] = study.design
    lines: dict[str, Callable[[Any], str]] = {
        "questions": write_names,
        "groups": write_groups,
        "asked_on": write_numbers,
        "balance": write_names,
        "strata": write_names,
        "screening": write_screening,
        "quotas": write_quotas,
    }
    values: dict[str, Any] = {"language": "en", "seed": 0, "attention_limit": 1} | {
        name: lines[name](value) if name in lines else json_text(value) for name, value in design.items()
    }
    return values | {
        "name": study.name,
        "dataset": study.dataset_id,
        "instrument": study.instrument_id,
        "platform": study.platform,
        "item_template": write_field_lines(design["item_template"]["item_fields"]),
        "demographics": json_text(study.demographics),
        "translations": json_text(study.translations),
        "filters": json_text(study.filters),
        **study.texts,
        **{f"code_{outcome}": code for outcome, code in study.completion_codes.items()},
    }


def json_text(value: Any) -> Any:
    """Lists and objects as somebody would write them, nothing for empty ones; any other value as it is."""
    if not isinstance(value, list | dict):
        return value
    if isinstance(value, list) and value:
        entries = ",\n".join(textwrap.indent(_entry(entry), "  ") for entry in value)
        return f"[\n{entries}\n]"
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def _entry(entry: Any) -> str:
    line = json.dumps(entry, ensure_ascii=False)
    return line if len(line) <= LONGEST_LINE else json.dumps(entry, indent=2, ensure_ascii=False)


class NewStudyForm(forms.Form):
    """What a draft is begun with."""

    name = forms.CharField(
        max_length=200, help_text="What researchers call it; participants see a title, which is this at first."
    )
    dataset = forms.ModelChoiceField(queryset=Dataset.objects.none(), empty_label=None)
    instrument = forms.ModelChoiceField(queryset=Instrument.objects.none(), empty_label=None)
    platform = forms.ChoiceField(choices=Study.Platform.choices, help_text="Who sends people and pays them.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_materials(self, project)


class StudyFileForm(forms.Form):
    """`study` is cleaned to the data of the file."""

    study = JsonField(
        {},
        rows=12,
        required=True,
        label="The file's text",
        help_text="JSON as “Download as a file” on a study's page gives it.",
    )


class PreregistrationForm(forms.Form):
    planned_report = forms.CharField(
        label="Planned report",
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="Hypotheses, comparisons, measures, how many people, and what would change your mind.",
    )
