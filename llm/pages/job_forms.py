"""The form of a job."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from llm.models import Endpoint, Job, Prompt
from llm.planning.grid import GridError
from llm.planning.job_text import factors_text, filter_text, persona_parts, read_factors, read_filter, read_personas
from llm.planning.personas import crossed
from llm.querysets import known_countries, latest_prompts
from llm.reading.parsing import ANSWER_MODES
from projects.models import Project

AGE_GROUPS = [("younger", "Younger"), ("older", "Older")]
MATERIALS = ("dataset", "instrument", "prompts", "endpoints")
SEVERAL = ("prompts", "endpoints")
GENDERS = [("female", "Female"), ("male", "Male")]
PERSONA_BOXES = {"countries": "country", "age_groups": "age_group", "genders": "gender"}  # attributes by field
KINDS = [
    (Job.Kind.SIMULATE, "Simulate: answer as people would, as itself or as personas"),
    (Job.Kind.JUDGE, "Judge: say which of two texts is better"),
    (Job.Kind.ANNOTATE, "Annotate: label texts as annotators do"),
    (Job.Kind.GENERATE, "Generate: write texts, which can become the items of a dataset"),
]

BOUNDS: dict[str, tuple[float, float | None]] = {
    "max_items": (1, None), "samples": (1, 1000), "temperature": (0, 2), "top_p": (0.01, 1), "max_tokens": (1, 100_000),
    "conditions_per_item": (1, None), "max_parse_attempts": (1, 10), "max_attempts": (1, 100),
    "budget_calls": (1, None), "budget_tokens": (1, None), "budget_price": (0, None),
}  # fmt: skip
# The first ones stay open; the others open when they hold an error or something that is not the default.
OPEN_GROUPS = (
    ("what", "What is asked", ["name", "kind", "dataset", "instrument", "question_codes"]),
    ("which", "Of which model, in which words", ["endpoints", "prompts"]),
)
CLOSED_GROUPS = (
    ("who", "Personas", ["alone", *PERSONA_BOXES, "attributes"]),
    ("items", "Only some items", ["item_filter", "max_items", "items_drawn"]),
    ("conditions", "Factors, orders and samples", ["factors", "option_orders", "conditions_per_item", "samples"]),
    ("answers", "How answers are read", ["answer_mode", "answer_sentence", "logprobs", "max_parse_attempts"]),
    ("decoding", "Decoding", ["temperature", "top_p", "max_tokens", "seed"]),
    ("budget", "Budget and way of asking", ["budget_calls", "budget_tokens", "budget_price", "way", "max_attempts"]),
)


@dataclass(frozen=True)
class Group:
    """Some fields of the form under one title."""

    key: str
    title: str
    fields: list[BoundField]
    open: bool = True


class EndpointsField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj}, a demo model" if obj.demo_model else str(obj)


class JobForm(forms.ModelForm):
    """A job's plan. Personas are every combination of what is ticked and of the attributes in the lines."""

    kind = forms.ChoiceField(
        label="What it is for",
        choices=KINDS,
        widget=forms.RadioSelect,
        help_text="Says so in lists; what is asked is in the instrument and the prompt.",
    )

    question_codes = forms.MultipleChoiceField(
        label="Questions",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Without a tick all questions of the instrument are asked.",
        error_messages={"invalid_choice": "The instrument has no question %(value)s."},
    )
    alone = forms.BooleanField(label="Without persona", required=False, initial=True)
    countries = forms.MultipleChoiceField(
        label="Personas from",
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "short-choices"}),
        help_text="Countries of the people who answered, and of the last 2,000 items of each dataset.",
    )
    age_groups = forms.MultipleChoiceField(
        label="Age groups of the personas", required=False, choices=AGE_GROUPS, widget=forms.CheckboxSelectMultiple
    )
    genders = forms.MultipleChoiceField(
        label="Genders of the personas", required=False, choices=GENDERS, widget=forms.CheckboxSelectMultiple
    )
    attributes = forms.CharField(
        label="Further attributes of the personas",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One attribute a line with its values, like religion: Hindu | Muslim. Every combination of what is "
        "ticked and written is a persona. A prompt reads it as {{ persona.religion }}.",
    )
    endpoints = EndpointsField(
        queryset=Endpoint.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Several endpoints make a job each, with the same plan.",
    )
    prompts = forms.ModelMultipleChoiceField(
        queryset=Prompt.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Several prompts are asked side by side, as styles of asking.",
    )
    item_filter = forms.CharField(
        label="Only items with",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One field a line with the values to keep, like country: Brazil | India.",
    )
    factors = forms.CharField(
        label="Factors",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What varies: one factor a line with its levels, like config: C1 | C2. A level can have a text, like "
        "tone: kind = Be kind. | none =. A prompt reads it as {{ condition.config }}.",
    )
    answer_mode = forms.ChoiceField(label="Answers are read as", choices=ANSWER_MODES, initial="auto")

    class Meta:
        model = Job
        fields = [
            "name", "kind", "dataset", "instrument", "max_items", "items_drawn", "option_orders", "conditions_per_item",
            "samples", "temperature", "top_p", "max_tokens", "seed", "answer_sentence", "logprobs",
            "max_parse_attempts", "way", "max_attempts", "budget_calls", "budget_tokens", "budget_price",
        ]  # fmt: skip
        labels = {
            "max_items": "Items at most",
            "items_drawn": "Draw these items by the seed instead of taking the first ones",
            "option_orders": "Order of options",
            "conditions_per_item": "Conditions drawn for each item",
            "samples": "Samples",
            "top_p": "Top p",
            "max_tokens": "Tokens an answer at most",
            "answer_sentence": "The sentence",
            "logprobs": "Take the options' probabilities from the model's tokens, where the endpoint gives them",
            "max_parse_attempts": "Times to ask when the answer cannot be read",
            "way": "Way of asking",
            "max_attempts": "Tries of a call when the server or the network fails",
            "budget_calls": "Calls at most",
            "budget_tokens": "Tokens at most",
            "budget_price": "Price at most",
        }
        help_texts = {
            "conditions_per_item": "A condition is a combination of prompt, factors' levels, option order and persona. "
            "Empty asks each item under all of them; fewer are drawn by the seed, each equally often.",
            "samples": "How often each item is asked under the same condition. More than one needs a temperature above "
            "0 to differ.",
            "temperature": "At 0 an equal request is asked once, and its answer reused and marked.",
            "seed": "Draws the order of options, items and conditions.",
            "answer_sentence": "Only for a fixed sentence, like The final decision is Response {letter}.",
            "way": "A batch costs less and takes up to a day.",
            "budget_calls": "When one of these is reached the job pauses; it can be raised at any time.",
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        of_project = {"endpoints": project.endpoints, "prompts": project.prompts, "dataset": project.datasets}
        for name, rows in (of_project | {"instrument": project.instruments}).items():
            self.fields[name].queryset = rows.all()  # type: ignore[attr-defined]
        self.fields["question_codes"].choices = self._questions(project)  # type: ignore[attr-defined]
        self.fields["countries"].choices = [(name, name) for name in known_countries(project)]  # type: ignore[attr-defined]
        for name, (lowest, highest) in BOUNDS.items():
            self.fields[name] = bounded(self.fields[name], lowest, highest)
        self.missing = [
            name
            for name in MATERIALS
            if not self.fields[name].queryset.exists()  # type: ignore[attr-defined]
        ]
        if not self.is_bound and not kwargs.get("initial"):
            self._suggest()
        self._newest = set(latest_prompts(project).values_list("pk", flat=True))

    def _suggest(self) -> None:
        """The endpoint and the prompt that were made last; a dataset and an instrument where there is one only."""
        self.initial["kind"] = Job.Kind.SIMULATE
        for name in MATERIALS:
            newest = list(self.fields[name].queryset.order_by("-pk")[:2])  # type: ignore[attr-defined]
            if name in SEVERAL:
                self.initial[name] = newest[:1]
            elif len(newest) == 1:
                self.initial[name] = newest[0].pk

    def open_groups(self) -> list[Group]:
        return [Group(key, title, self._shown(names)) for key, title, names in OPEN_GROUPS]

    def closed_groups(self) -> list[Group]:
        return [
            Group(key, title, self._shown(names), open=any(self._needs_eyes(name) for name in names))
            for key, title, names in CLOSED_GROUPS
        ]

    def newest_prompts(self) -> list[Any]:
        """The checkbox of the newest version of each prompt."""
        return [box for box in self["prompts"] if box.data["value"].instance.pk in self._newest]

    def older_prompts(self) -> list[Any]:
        return [box for box in self["prompts"] if box.data["value"].instance.pk not in self._newest]

    @property
    def older_prompt_chosen(self) -> bool:
        return any(box.data["selected"] for box in self.older_prompts())

    def _shown(self, names: Iterable[str]) -> list[BoundField]:
        """The fields that have something to choose."""
        return [self[name] for name in names if getattr(self.fields[name], "choices", True)]

    def _needs_eyes(self, name: str) -> bool:
        field = self.fields[name]
        return name in self.errors or field.has_changed(field.initial, self[name].value())

    def clean_factors(self) -> list[dict[str, Any]]:
        return _read(read_factors, self.cleaned_data["factors"])

    def clean_item_filter(self) -> dict[str, list[str]]:
        return _read(read_filter, self.cleaned_data["item_filter"])

    def clean_attributes(self) -> dict[str, list[str]] | list[dict[str, Any]]:
        return _read(read_personas, self.cleaned_data["attributes"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if "attributes" in data:
            try:
                data["personas"] = self._personas(data)
            except ValueError as error:
                self.add_error("attributes", f"{error}.")
            else:
                if not data["personas"]:
                    self.add_error("alone", "Tick this, or choose personas: somebody has to answer.")
        return data

    def _post_clean(self) -> None:
        """The service makes the job, after its own checks."""

    def _questions(self, project: Project) -> list[tuple[str, str]]:
        """Code and text of each question of the instrument that is chosen, or the only one."""
        chosen = str((self.data if self.is_bound else self.initial).get("instrument", ""))
        instruments = list(project.instruments.all())
        found = [one for one in instruments if str(one.pk) == chosen] or (instruments if len(instruments) == 1 else [])
        return [(one.code, one.text) for one in found[0].questionnaire.questions] if found else []

    def _personas(self, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The personas as attributes, in the order of the form; {} is none. Raises ValueError."""
        ticked = {attribute: data[name] for name, attribute in PERSONA_BOXES.items() if data.get(name)}
        written = data["attributes"]
        if isinstance(written, list):
            if ticked:
                raise ValueError("A list of personas is complete; take the ticks away, or write lines instead")
            people = written
        else:
            if twice := ticked.keys() & written.keys():
                raise ValueError(f"{min(twice)} is ticked above and written here; keep one of them")
            people = crossed(ticked | written)
        return [{}, *people] if data.get("alone") else people

    def plan(self) -> dict[str, Any]:
        """The arguments of plan_series."""
        own = {"alone", "attributes", *PERSONA_BOXES}
        given = {name: value for name, value in self.cleaned_data.items() if name not in own}
        return given | {"kind": Job.Kind(given["kind"])}


def planned_as(jobs: Sequence[Job], countries: Sequence[str]) -> dict[str, Any]:
    """The form's fields as the jobs of a series were planned; `countries` are those that it lets tick."""
    job = jobs[0]
    copy = "" if job.status == Job.Status.PLANNED else "Copy of "
    name = job.name.removesuffix(f" ({job.endpoint.name})") if len({one.endpoint_id for one in jobs}) > 1 else job.name
    boxes = {"country": countries, "age_group": _codes(AGE_GROUPS), "gender": _codes(GENDERS)}
    alone, ticked, attributes = persona_parts(job.personas, boxes)
    return forms.model_to_dict(job, fields=JobForm.Meta.fields) | {
        "name": f"{copy}{name}"[:200],
        "endpoints": [one.endpoint_id for one in jobs],
        "prompts": [prompt.pk for prompt in job.prompt_list],
        "question_codes": job.question_codes,
        "answer_mode": job.answer_mode,
        "item_filter": filter_text(job.item_filter),
        "factors": factors_text(job.factors),
        "alone": alone,
        "attributes": attributes,
        **{name: ticked.get(attribute, []) for name, attribute in PERSONA_BOXES.items()},
    }


def _codes(choices: Iterable[tuple[str, str]]) -> list[str]:
    return [code for code, _ in choices]


def _read(reader: Callable[[str], Any], text: str) -> Any:
    try:
        return reader(text)
    except GridError as error:
        raise forms.ValidationError(str(error)) from error


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
