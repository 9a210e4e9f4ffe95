"""The form that asks for a report on judges."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef

from evaluation.forms import ComparedForm, optional_column
from evaluation.judging_report.selecting import LABELLED, PREFERRED, VERDICT
from materials.models import Item
from responses.models import RespondentKind


class JudgingForm(ComparedForm):
    """Which question compares, whose labels are right, and where the items say topic and authors."""

    asks = ("pairwise",)
    needs = "This report needs answers of people to a question that compares two responses."
    usually = RespondentKind.ANNOTATOR
    folded = ("dev", "test", "difference_penalty", "crossed", "ranked", "anchor", "verdicts", *ComparedForm.folded)
    field_order = ("title", "question", "preferences", "person", "topic", "first_author", "second_author", "reference")

    question = forms.ChoiceField(help_text="The question that asks which of two responses is better.")
    preferences = optional_column(
        label="Preferences that vote",
        help_text="The factor of the condition whose levels are preferences: under how many a judge saw a pair, so "
        "many votes it has.",
    )
    person = optional_column(
        label="Where the person is named",
        help_text="The factor or persona attribute that names whose judgment it should be, by the key of the "
        "respondent, such as annotator:5, or what stands behind the colon. Right is then what that person chose; "
        "otherwise what most people chose.",
    )
    topic = optional_column(help_text="The items' field with the topic, for accuracy by topic.")
    first_author = optional_column(
        label="Author of the first response",
        help_text="The items' field that says which model wrote the first response; with both authors there is a "
        "ranking.",
    )
    second_author = optional_column(label="Author of the second response")
    reference = forms.CharField(
        label="Reference ranking",
        required=False,
        help_text="Authors with commas, the best first. Without it judges are compared with the people's ranking.",
    )

    dev = forms.ChoiceField(
        label="Dev pairs under preferences",
        required=False,
        help_text="Labelled pairs, each with a preference of whoever labelled it, on which preferences are selected.",
    )
    test = forms.ChoiceField(
        label="Test pairs under preferences",
        required=False,
        help_text="Those on which the selected preferences are tried. Accuracy is then also that against each person.",
    )
    difference_penalty = forms.BooleanField(
        label="Take off how far the orders differ",
        required=False,
        help_text="Subsets of preferences are selected by right choices less the difference between both orders.",
    )
    crossed = forms.ChoiceField(label="Pairs under preferences of another topic", required=False)
    ranked = forms.ChoiceField(
        label="Pairs under preferences of several people",
        required=False,
        help_text="The majority of the preferences decides each pair, for a further ranking.",
    )
    anchor = forms.CharField(
        label="One opponent",
        required=False,
        help_text="An author: the others are also ranked by their battles with that one alone.",
    )
    verdicts = forms.ChoiceField(
        label="Verdicts of other judges",
        required=False,
        help_text="A dataset with pair, judge and winner_order_12, beside the test pairs.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("question", self._codes(*self.asks))
        named = self.columns
        self._offer_columns("preferences", named["cond"])
        self._offer_columns("person", named["cond"] + named["attr"])
        for name in ("topic", "first_author", "second_author"):
            self._offer_columns(name, named["item"])
        labelled = self._datasets(LABELLED)
        for name in ("dev", "test", "crossed"):
            self._offer(name, labelled)
        if not labelled:
            del self.fields["difference_penalty"]
        self._offer("ranked", self._datasets(PREFERRED))
        self._offer("verdicts", self._datasets(VERDICT))

    def _datasets(self, fields: Collection[str]) -> list[tuple[str, str]]:
        """The project's datasets whose items have these fields, or none of them; nothing where no dataset has."""
        having = Item.objects.filter(dataset=OuterRef("pk"), content__has_keys=list(fields))
        found = self.material.dataset.project.datasets.filter(Exists(having)).values_list("slug", "name")
        return [("", "None"), *found] if found else []

    def clean_dev(self) -> list[str]:
        return [slug for slug in [self.cleaned_data["dev"]] if slug]

    def clean_test(self) -> list[str]:
        return [slug for slug in [self.cleaned_data["test"]] if slug]

    def clean_reference(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["reference"].split(",") if name.strip()]
