"""The form in which a draft is edited."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from pydantic import ValidationError

from materials.field_lines import HELP, read_field_lines
from materials.models import Dataset, Instrument
from materials.questions import QuestionError, parse_questions
from projects.form_sections import Section, sections_of
from projects.models import Project
from studies.design import Design, DesignError, Texts
from studies.design_examples import EXAMPLES
from studies.design_lines import read_groups, read_names, read_numbers, read_quotas, read_screening, typed_rules
from studies.filters import parse_filters
from studies.form_fields import JsonField, MarkdownField, ReadField
from studies.forms import offer_materials
from studies.models import Study
from studies.translating import parse_translations

TEXTS = tuple(Texts.model_fields)
ENDS = TEXTS[4:]  # what is said at each end, which may have a code
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
    consent = MarkdownField(rows=8, required=True)
    instructions = MarkdownField(rows=6)
    contact = forms.CharField(
        required=False, max_length=200, help_text="Whom to ask, and who deletes answers on request."
    )
    debrief = MarkdownField(label="Debriefing, the last page before the end")
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
            self.fields[end] = MarkdownField(label=label)
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
        empty: tuple[Any, ...] = (None, "", [], {})
        given = {name: self.cleaned_data[name] for name in Design.model_fields if name in self.cleaned_data}
        defaults = {name: field.default for name, field in Design.model_fields.items()}
        design = {name: value for name, value in given.items() if value not in empty and value != defaults[name]}
        return design | {"item_template": {"item_fields": self.cleaned_data.get("item_template", [])}}

    def clean(self) -> dict[str, Any]:
        self._type_rules()
        self._check("demographics", lambda data: data == [] or parse_questions(data))
        self._check("translations", parse_translations)
        self._check("filters", parse_filters)
        self._check_design()
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

    def _check_design(self) -> None:
        """Faults at their fields but for those that are wrong already; at the top where fields do not fit together."""
        wrong = set(self.errors)
        try:
            Design.model_validate(self._design())
        except ValidationError as error:
            for fault in error.errors():
                name, places = str(fault["loc"][0]) if fault["loc"] else None, fault["loc"][1:]
                place = f"At {' > '.join(map(str, places))}: " if places and name != "item_template" else ""
                if name not in wrong and (name or not wrong):
                    self.add_error(name, f"{place}{fault['msg'].removeprefix('Value error, ')}.")

    def add_saved_meanwhile(self, saved: Mapping[str, Any]) -> None:
        """Name what somebody else has saved at each field that differs from what is in this valid form."""
        theirs = DraftForm(saved, project=self.project)
        theirs.is_valid()
        mine = self.cleaned_data
        for name in [name for name in mine if name != "seen" and mine[name] != theirs.cleaned_data.get(name)]:
            self.add_error(name, f"Somebody else saved here meanwhile: {theirs[name].value() or 'nothing'}")
