"""The form that asks for a report on judges."""

from typing import Any

from django import forms

from evaluation.forms import ComparedForm, optional_column
from responses.models import RespondentKind


class JudgingForm(ComparedForm):
    """Which question compares, whose labels are right, and where the items say topic and authors."""

    asks = ("pairwise",)
    needs = "This report needs answers of people to a question that compares two responses."
    usually = RespondentKind.ANNOTATOR
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("question", self._codes(*self.asks))
        named = self.columns
        self._offer_columns("preferences", named["cond"])
        self._offer_columns("person", named["cond"] + named["attr"])
        for name in ("topic", "first_author", "second_author"):
            self._offer_columns(name, named["item"])

    def clean_reference(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["reference"].split(",") if name.strip()]
