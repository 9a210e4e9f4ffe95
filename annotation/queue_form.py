"""What the adjudicator's pages are asked for in their addresses, which also say where a number of a report leads."""

import json
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.adjudication import DISPUTED, SHOWN, Wanted, compared
from annotation.models import LabelProject


class QueueForm(forms.Form):
    """All fields are optional; what is wrong is left out, so that no link leads nowhere."""

    show = forms.ChoiceField(choices=list(SHOWN.items()), required=False)
    question = forms.ChoiceField(required=False)
    names = forms.BooleanField(label="Show names", required=False)
    first = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    second = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    one = forms.JSONField(required=False, widget=forms.HiddenInput)
    other = forms.JSONField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, *, label_project: LabelProject) -> None:
        super().__init__(data, label_suffix="")
        questions = [(question.code, question.text) for question in compared(label_project)]
        self.fields["question"].choices = [("", "All questions"), *questions]  # type: ignore[attr-defined]
        self.is_valid()

    @property
    def wanted(self) -> Wanted:
        given = self.cleaned_data
        return Wanted(
            show=given.get("show") or DISPUTED,
            question=given.get("question") or "",
            **{name: given.get(name) for name in ("first", "second", "one", "other")},
        )

    @property
    def pair(self) -> bool:
        """Whether only items that two people answered are shown."""
        return bool(self.cleaned_data.get("first") and self.cleaned_data.get("second"))

    @property
    def query(self) -> str:
        """The address's query that asks for the same again."""
        given: dict[str, Any] = {
            name: value for name, value in self.cleaned_data.items() if value not in (None, "", False)
        }
        for name in ("one", "other"):
            if name in given:
                given[name] = json.dumps(given[name])
        query = QueryDict(mutable=True)
        query.update({name: "on" if value is True else str(value) for name, value in given.items()})
        return query.urlencode()
