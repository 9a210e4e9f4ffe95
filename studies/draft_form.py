"""The form in which a draft is edited."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from pydantic import ValidationError

from materials.field_lines import HELP, read_field_lines
from materials.form_fields import MarkdownField, ReadField
from materials.lines import read_names
from materials.models import Dataset, Instrument
from materials.question_lines import typed_conditions
from materials.question_rows import QuestionRow, QuestionsField
from materials.rows import EMPTY, RowsField, posted, sentence_of
from projects.form_sections import Section, sections_of
from projects.models import Project
from studies.check_rows import CheckRow
from studies.design import Design, DesignError, Texts
from studies.design_lines import read_close, read_groups, read_numbers, read_quotas, read_screening, typed_rules
from studies.design_offers import ATTENTION, COMPREHENSION, FACTORS, FILTER_OFFERS, PEOPLE
from studies.design_rows import FactorRow, FilterRow
from studies.draft_values import json_text
from studies.filters import parse_filters
from studies.forms import offer_materials
from studies.models import Study

TEXTS = tuple(Texts.model_fields)
ENDS = TEXTS[4:]  # what is said at each end, which may have a code
RELATION = ("relation_attribute", "relation_field", "relation_close", "relation_name")
SECTIONS = (
    (
        "What is asked",
        "",
        ("name", "dataset", "instrument", "item_template", "items_each", "minutes", "questions", "groups", "asked_on"),
    ),
    (
        "Which items a person gets",
        "Every draw follows from the seed, so that it can be made again.",
        ("balance", *RELATION, "factors", "strata", "seed"),
    ),
    ("People", "Asked after consent, before the items.", ("demographics", "screening", "quotas")),
    ("Texts before the items", "In Markdown.", ("title", "consent", "instructions", "contact")),
    ("Texts at the end", "In Markdown. Each stands under the page's own heading, above the code.", TEXTS[3:]),
    ("Checks", "", ("comprehension", "tries", "attention_checks", "attention_limit")),
    (
        "Platform and codes",
        "Copy each code from the platform; it is shown when the session ends in this way.",
        ("platform", "confirm_platform_id", *(f"code_{end}" for end in ENDS)),
    ),
    ("Language", "Other languages have a page of their own: Languages.", ("language",)),
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
    relation_attribute = forms.CharField(
        label="Relation: question about the person",
        required=False,
        max_length=60,
        help_text="Its code. By this answer and a field of the item each item is same, close or far to the person.",
    )
    relation_field = forms.CharField(label="Relation: field of the item", required=False, max_length=200)
    relation_close = ReadField(
        read_close,
        empty={},
        label="Relation: what is close",
        help_text="An answer a line with what is close to it, for example “India: Nepal, Pakistan”.",
    )
    relation_name = forms.CharField(
        label="Relation: its name", required=False, max_length=60, help_text="relation when left out."
    )
    factors = RowsField(
        FactorRow, noun="Factor", offers=FACTORS, help_text="What varies between people or within a person."
    )
    strata = ReadField(
        read_names, empty=[], help_text="Codes of questions about people: places are dealt apart within their answers."
    )
    seed = forms.IntegerField(initial=1, min_value=-(2**53), max_value=2**53)
    demographics = QuestionsField(
        QuestionRow,
        noun="Question",
        offers=PEOPLE,
        label="Questions about the person",
        help_text="Each with its reason.",
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
    comprehension = RowsField(
        CheckRow,
        noun="Question",
        offers=COMPREHENSION,
        label="Comprehension check",
        help_text="Asked with the instructions; who fails the last try is asked to return.",
    )
    tries = forms.IntegerField(
        label="Tries at the comprehension check", min_value=1, max_value=10, initial=2, required=False
    )
    attention_checks = RowsField(
        CheckRow,
        noun="Check",
        offers=ATTENTION,
        help_text="Each says itself which answer to give, and stands between two items, at a place drawn by the seed.",
    )
    attention_limit = forms.IntegerField(
        label="Failed checks that fail a person", min_value=1, initial=1, required=False
    )
    platform = forms.ChoiceField(choices=Study.Platform.choices)
    confirm_platform_id = forms.BooleanField(label="Let people confirm their platform id", required=False)
    language = forms.CharField(
        label="Language of the texts and questions", max_length=20, help_text="A code such as en or pt-BR."
    )
    filters = RowsField(
        FilterRow, noun="Filter", offers=FILTER_OFFERS, help_text="In the order in which they are applied."
    )
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
            "filters": given["filters"],
        }

    def _design(self) -> dict[str, Any]:
        """What was given of it; what was left out has the design's own values."""
        asked = self.cleaned_data | {"relation": self._relation(), "comprehension": self._comprehension()}
        given = {name: asked[name] for name in Design.model_fields if name in asked}
        defaults = {name: field.default for name, field in Design.model_fields.items()}
        design = {name: value for name, value in given.items() if value not in EMPTY and value != defaults[name]}
        return design | {"item_template": {"item_fields": self.cleaned_data.get("item_template", [])}}

    def _relation(self) -> dict[str, Any]:
        given = {name.removeprefix("relation_"): self.cleaned_data.get(name) for name in RELATION}
        return {name: value for name, value in given.items() if value not in EMPTY}

    def _comprehension(self) -> dict[str, Any] | None:
        checks = self.cleaned_data.get("comprehension")
        if not checks:
            return None
        tries = self.cleaned_data.get("tries")
        return {
            "questions": list(typed_conditions([check["question"] for check in checks])),
            "expected": {check["question"]["code"]: check["expected"] for check in checks},
        } | ({"tries": tries} if tries else {})

    def clean_filters(self) -> list[dict[str, Any]]:
        filters: list[dict[str, Any]] = self.cleaned_data["filters"]
        try:
            parse_filters(filters)
        except DesignError as error:
            raise forms.ValidationError(str(error)) from error
        return filters

    def clean(self) -> dict[str, Any]:
        self._type_rules()
        self._check_design()
        return self.cleaned_data

    def _type_rules(self) -> None:
        asked = self.cleaned_data.get("demographics")
        questions = [question for question in asked if isinstance(question, dict)] if isinstance(asked, list) else []
        kinds = {str(question.get("code")): str(question.get("kind")) for question in questions}
        for name in {"screening", "quotas"} & self.cleaned_data.keys():
            self.cleaned_data[name] = list(typed_rules(self.cleaned_data[name], kinds))

    def _check_design(self) -> None:
        """Faults at their fields but for those that are wrong already; at the top where fields do not fit together."""
        wrong = set(self.errors)
        try:
            Design.model_validate(self._design())
        except ValidationError as error:
            for fault in error.errors():
                name, places = self._place_of(fault["loc"])
                place = f"At {' > '.join(places)}: " if places and name != "item_template" else ""
                if name not in wrong and (name or not wrong):
                    self.add_error(name, f"{place}{sentence_of(fault)}")

    def _place_of(self, loc: Sequence[str | int]) -> tuple[str | None, list[str]]:
        """The field that a place in the design belongs to, and where in it, counted from 1."""
        if not loc:
            return None, []
        parts = [str(part + 1) if isinstance(part, int) else part for part in loc]
        if loc[0] != "relation":
            return parts[0], parts[1:]
        return next((name for name in RELATION if name == "_".join(parts[:2])), RELATION[0]), []

    def add_saved_meanwhile(self, saved: Mapping[str, Any]) -> None:
        """Name what somebody else has saved at each field that differs from what is in this valid form."""
        theirs = DraftForm(posted(DraftForm(initial=saved, project=self.project)), project=self.project)
        theirs.is_valid()
        mine = self.cleaned_data
        for name in [name for name in mine if name != "seen" and mine[name] != theirs.cleaned_data.get(name)]:
            value = theirs.cleaned_data[name] if isinstance(self.fields[name], RowsField) else theirs[name].value()
            self.add_error(name, f"Somebody else saved here meanwhile: {json_text(value) or 'nothing'}")
