"""Forms of the researcher's side of labelling."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.handing import candidates, workers
from annotation.models import Assignment, KnownAnswer, LabelProject
from annotation.suggestions import model_name, models_answering
from materials.field_lines import HELP, read_field_lines
from materials.models import Dataset, Instrument, Item
from materials.querysets import search_items
from projects.form_sections import Section, sections_of
from projects.models import Project, User
from responses.models import Respondent, RespondentKind

MOST_ANSWERS = 1000  # an item; each is a row from the start
MOST_MINUTES = 30 * 24 * 60
MOST_ITEMS = 1_000_000  # of a person
MOST_FOUND = 10  # items with the same words
MATERIAL_SECTIONS = (
    ("What is labelled", "", ("name", "dataset", "instrument", "fields_shown")),
    ("Guidelines", "", ("guidelines",)),
    ("How often, in which order", "", ("overlap", "calibration_size", "calibration_overlap", "order", "seed")),
)
EXAMPLE = "example"  # of the guidelines, beside the purposes of known answers
SETTING_SECTIONS = (
    ("Who labels", "", ("members_only", "cap", "break_every", "lease_minutes")),
    (
        "Training and checks",
        "Items whose right answers are known are added on the labelling project’s page of known answers.",
        ("pass_mark", "gold_every"),
    ),
    (
        "A model’s answers",
        "Whatever is answered under a suggestion is marked with how it was shown.",
        ("suggestions_of", "suggestions"),
    ),
)


def faults_of(form: forms.Form) -> str:
    """What is wrong with the form, for a page that shows it in one sentence."""
    return " ".join(str(sentence) for sentences in form.errors.values() for sentence in sentences)


class ModelField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return model_name(obj)


class SettingsForm(forms.ModelForm):
    """What may change while people label. `pass_mark` is typed in per cent and cleaned to a share."""

    cap = forms.IntegerField(
        label="Items a person, at most",
        required=False,
        min_value=1,
        max_value=MOST_ITEMS,
        help_text="Empty for no limit. A person can have a number of their own on the page of people.",
    )
    break_every = forms.IntegerField(
        label="Items between breaks",
        min_value=0,
        max_value=MOST_ITEMS,
        initial=50,
        help_text="After so many items the page suggests a break; 0 for none.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes an item is kept for one person",
        min_value=1,
        max_value=MOST_MINUTES,
        initial=30,
        help_text="Afterwards somebody else may get it. Typing extends the time.",
    )
    pass_mark = forms.FloatField(
        label="Pass mark (%)",
        required=False,
        min_value=0,
        max_value=100,
        help_text="Who has a lower share of the training’s answers right does not go on. Empty lets everybody on.",
    )
    gold_every = forms.IntegerField(
        label="Items to one check",
        min_value=0,
        max_value=MOST_ITEMS,
        initial=0,
        help_text="Among so many items comes one whose answer is known; it looks like the others. 0 for none.",
    )
    suggestions_of = ModelField(
        label="Model",
        required=False,
        queryset=Respondent.objects.none(),
        empty_label="None",
        help_text="A model, as itself or as a persona, that has answered the instrument’s questions.",
    )

    class Meta:
        model = LabelProject
        fields = [
            "members_only",
            "cap",
            "break_every",
            "lease_minutes",
            "pass_mark",
            "gold_every",
            "suggestions_of",
            "suggestions",
        ]
        labels = {"members_only": "Only people who are named on the page of people may label"}
        help_texts = {
            "suggestions": "Judged right or wrong: people first say whether the model’s answer is right, and give "
            "their own only where it is wrong."
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self._offer(models_answering(self.instrument))
        if self.instance.pass_mark is not None:
            self.initial["pass_mark"] = f"{100 * self.instance.pass_mark:.6g}"

    @property
    def instrument(self) -> Instrument:
        return self.instance.instrument

    def _offer(self, models: Any) -> None:
        self.fields["suggestions_of"].queryset = models  # type: ignore[attr-defined]

    def settings(self) -> list[Section]:
        return sections_of(self, SETTING_SECTIONS)

    def clean_pass_mark(self) -> float | None:
        mark = self.cleaned_data["pass_mark"]
        return None if mark is None else mark / 100

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("suggestions") not in (None, LabelProject.Suggestions.NONE) and not data.get("suggestions_of"):
            self.add_error("suggestions_of", "Choose the model whose answers are suggested.")
        return data


class LabelProjectForm(SettingsForm):
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Markdown. Annotators read it before their first item, and open it with the key G. Each later change "
        "is a new version, which they read before their next item.",
    )
    overlap = forms.IntegerField(
        label="Answers an item",
        min_value=1,
        max_value=MOST_ANSWERS,
        initial=1,
        help_text="How many different people answer each item.",
    )
    calibration_overlap = forms.IntegerField(
        label="Answers a calibration item",
        required=False,
        min_value=1,
        max_value=MOST_ANSWERS,
        help_text="Needed when there are calibration items.",
    )
    fields_shown = forms.CharField(
        label="Fields to show",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=f"{HELP} Empty shows every field but the items' ids.",
    )

    class Meta(SettingsForm.Meta):
        fields = [
            "name",
            "dataset",
            "instrument",
            "overlap",
            "order",
            "seed",
            "calibration_size",
            *SettingsForm.Meta.fields,
        ]
        labels = SettingsForm.Meta.labels | {"calibration_size": "Calibration items"}
        help_texts = SettingsForm.Meta.help_texts | {
            "seed": "The same seed gives the same order again.",
            "calibration_size": "Drawn by the seed and labelled first, by another number of people; 0 for none.",
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = project.datasets.all()  # type: ignore[attr-defined]
        latest = Instrument.objects.filter(project=project).order_by("name", "-version").distinct("name")
        self.fields["instrument"].queryset = latest  # type: ignore[attr-defined]
        self._offer(Respondent.objects.filter(project=project, kind=RespondentKind.MODEL).order_by("key"))
        for name, newest in (("dataset", project.datasets), ("instrument", project.instruments)):
            self.initial.setdefault(name, newest.order_by("-pk").values_list("pk", flat=True).first())

    def material(self) -> list[Section]:
        return sections_of(self, MATERIAL_SECTIONS)

    def clean_fields_shown(self) -> list[Any]:
        return read_field_lines(self.cleaned_data["fields_shown"])

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("calibration_size") and not data.get("calibration_overlap"):
            self.add_error("calibration_overlap", "Say how many people answer each calibration item.")
        return data


class OverlapForm(forms.Form):
    overlap = forms.IntegerField(
        label="Answers an item", max_value=MOST_ANSWERS, help_text="How many different people answer each item."
    )


class GuidelinesForm(forms.Form):
    text = forms.CharField(
        label="Guidelines",
        required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text="Markdown. Saving publishes a new version, which annotators read before their next item.",
    )


class MembersForm(forms.Form):
    """Whom to name: members of the project who may label and are not named yet."""

    users = forms.ModelMultipleChoiceField(
        label="People", queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, label_project: LabelProject, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        unnamed = workers(label_project).exclude(label_members__label_project=label_project)
        self.fields["users"].queryset = unnamed  # type: ignore[attr-defined]


class ItemToHandForm(forms.Form):
    """`item` is cleaned to the item that is labelled here and has this id, or alone has these words.

    `found`: a few of those that have the words, where there are several.
    """

    item = forms.CharField(label="Item", max_length=200, help_text="Its ID, or words of its text.")

    def __init__(self, *args: Any, label_project: LabelProject, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_project = label_project
        self.found: list[Item] = []

    def clean_item(self) -> Item:
        wanted, dataset = self.cleaned_data["item"], self.label_project.dataset
        named = list(dataset.items.filter(external_id=wanted)) or list(search_items(dataset, wanted)[:MOST_FOUND])
        if not named:
            raise forms.ValidationError(f"The dataset {dataset} has no item with this ID or these words: {wanted}.")
        if len(named) > 1:
            self.found = named
            raise forms.ValidationError(f"Several items have these words: {wanted}. Choose one below, or add words.")
        return named[0]


class HandForm(forms.Form):
    """A place of the item to hand over, and who gets it: people who may label and have not had the item.

    `barred`: the others who may label in the project, each with the reason.
    """

    place = forms.ChoiceField(
        widget=forms.RadioSelect,
        error_messages={"invalid_choice": "Somebody took or answered this place meanwhile; choose again."},
    )
    to = forms.ModelChoiceField(label="To", queryset=User.objects.none(), empty_label="Choose a person")

    def __init__(self, *args: Any, label_project: LabelProject, places: Sequence[Assignment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.places = {f"{place.pk} {place.annotator_id or ''}": place for place in places}
        choices = [
            (key, f"Held by {place.annotator}" if place.annotator else "Free") for key, place in self.places.items()
        ]
        self.fields["place"].choices = choices  # type: ignore[attr-defined]
        self.initial.setdefault("place", choices[0][0] if choices else None)
        people = candidates(label_project, places[0].item_id if places else None)
        able = [user.pk for user, bar in people if not bar]
        self.fields["to"].queryset = workers(label_project).filter(pk__in=able)  # type: ignore[attr-defined]
        self.barred = [(user, bar) for user, bar in people if bar]

    def clean_place(self) -> Assignment:
        return self.places[self.cleaned_data["place"]]


class MemberForm(forms.Form):
    cap = forms.IntegerField(label="Items, at most", required=False, min_value=1, max_value=MOST_ITEMS)
    sees_suggestions = forms.BooleanField(label="Sees suggestions", required=False)


class OfDatasetForm(forms.Form):
    """`dataset` offers the project's, the labelling project's own first."""

    dataset = forms.ModelChoiceField(queryset=Dataset.objects.none(), empty_label=None)

    def __init__(self, *args: Any, label_project: LabelProject, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = label_project.project.datasets.all()  # type: ignore[attr-defined]
        self.initial["dataset"] = label_project.dataset_id


class KnownFileForm(OfDatasetForm):
    file = forms.FileField(help_text="A row for each item.")
    purpose = forms.ChoiceField(label="For", choices=KnownAnswer.Purpose.choices)


class KnownItemForm(OfDatasetForm):
    """`item` is cleaned to the item with this id."""

    item = forms.CharField(label="Item ID", max_length=200, help_text="As the dataset’s page has it.")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        dataset, wanted = data.get("dataset"), data.get("item")
        if dataset and wanted:
            data["item"] = Item.objects.filter(dataset=dataset, external_id=wanted).first()
            if data["item"] is None:
                self.add_error("item", f"The dataset {dataset} has no item {wanted}.")
        return data


class RightForm(forms.Form):
    """What an item's right answers are for; `example` says whether the guidelines can have it as an example."""

    purpose = forms.ChoiceField(label="Use", widget=forms.RadioSelect)
    why = forms.CharField(
        label="Why",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Markdown. Shown with the example, and after a training item.",
    )

    def __init__(self, *args: Any, example: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        examples = [(EXAMPLE, "An example in the guidelines")] if example else []
        self.fields["purpose"].choices = [*examples, *KnownAnswer.Purpose.choices]  # type: ignore[attr-defined]
