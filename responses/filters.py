"""Which answers to show or export: the query parameters of the responses page, its exports and the REST interface."""

import re
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.http import QueryDict

from projects.models import Project
from responses.models import RespondentKind, Response

# attr_country=Japan, cond_prompt=balance v1: attributes of the respondent and factors of the condition.
_NAMED = re.compile(r"(attr|cond)_([a-z][a-z0-9]*(?:_[a-z0-9]+)*)")
_PATHS = {"attr": "respondent__attributes", "cond": "condition__factors"}
_BOOLEANS = {"true": True, "false": False}


class ResponseFilterForm(forms.Form):
    """All fields are optional. What superseded answers were is shown on request only."""

    kind = forms.ChoiceField(label="By", choices=[("", "Everybody"), *RespondentKind.choices], required=False)
    dataset = forms.ChoiceField(required=False)
    question = forms.ChoiceField(required=False)
    superseded = forms.BooleanField(label="With superseded answers", required=False)
    item = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    instrument = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    respondent = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, *, project: Project) -> None:
        super().__init__(data, label_suffix="")
        self.project = project
        datasets = project.datasets.values_list("slug", "name")
        questions = {q["code"] for codes in project.instruments.values_list("questions", flat=True) for q in codes}
        self._offer("dataset", [("", "All datasets"), *datasets])
        self._offer("question", [("", "All questions"), *((code, code) for code in sorted(questions))])
        for field in self.fields.values():
            if isinstance(field, forms.ChoiceField):
                field.error_messages["invalid_choice"] = "%(value)s is not in this project; choose one of the list."

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def queryset(self) -> QuerySet[Response]:
        """The answers of a valid form, in no particular order."""
        given = self.cleaned_data
        answers = Response.objects.filter(project=self.project)
        if not given["superseded"]:
            answers = answers.filter(superseded_by=None)
        wanted = {
            "respondent__kind": given["kind"],
            "item__dataset__slug": given["dataset"],
            "question": given["question"],
            "item_id": given["item"],
            "instrument_id": given["instrument"],
            "respondent_id": given["respondent"],
        }
        return answers.filter(**{path: value for path, value in wanted.items() if value}).filter(self._named())

    def _named(self) -> Q:
        condition = Q()
        for parameter, value in self.data.items():
            if match := _NAMED.fullmatch(parameter):
                typed: Any = _BOOLEANS.get(value.lower(), value)
                condition &= Q(**{f"{_PATHS[match[1]]}__{match[2]}": typed})
        return condition

    @property
    def named(self) -> dict[str, str]:
        """The attribute and condition parameters as given, for showing and for links."""
        return {name: value for name, value in self.data.items() if _NAMED.fullmatch(name)}

    @property
    def problem(self) -> str:
        """What is wrong with the first wrong parameter, as one sentence."""
        return next((f"{name}: {errors[0]}" for name, errors in self.errors.items()), "")
