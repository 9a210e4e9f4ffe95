"""Filters over a job's calls, and the choice of two conditions to compare."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from llm.models import Call, Job
from llm.pages.answer_tallies import CLOSED, option_name
from llm.pages.call_pages import CallFilter
from llm.pages.comparison import Comparing, Side
from llm.planning.axes import Axis, axes_of, varying
from llm.planning.orders import movable
from materials.questions import TIE, option_codes

Choices = list[tuple[str, str]]
REUSED: Choices = [("", "All"), ("yes", "Reused answers"), ("no", "Asked")]
VERDICTS: Choices = [
    ("", "All"),
    ("different", "Different answers"),
    ("same", "Same answers"),
    ("not", "Not comparable"),
]


class CallFilterForm(forms.Form):
    """Which of a job's calls to list; what the job does not vary is no filter."""

    status = forms.ChoiceField(label="State", required=False, choices=[("", "All"), *Call.Status.choices])
    reused = forms.ChoiceField(label="Asked or reused", required=False, choices=REUSED)
    item = forms.CharField(label="Item's id", required=False)

    def __init__(self, *args: Any, job: Job, axes: Sequence[Axis], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._job, self._axes = job, {f"axis_{axis.name}": axis for axis in varying(axes)}
        for name, axis in self._axes.items():
            self.fields[name] = forms.ChoiceField(label=axis.title, required=False, choices=_levels(axis, "All"))
        if turned := movable(job.questions):
            codes = [code for code in option_codes(turned[0]) if code != TIE]
            choices = [("", "All"), *((code, option_name(turned[0], code)) for code in codes)]
            self._turned = turned[0].code
            self.fields["shown_first"] = forms.ChoiceField(label="Shown first", required=False, choices=choices)
        self.order_fields(["status", *self._axes, "shown_first", "reused", "item"])

    def clean_item(self) -> int | None:
        """The item's key in the database."""
        external_id = self.cleaned_data["item"]
        if not external_id:
            return None
        found = self._job.dataset.items.filter(external_id=external_id).values_list("pk", flat=True).first()
        if found is None:
            raise forms.ValidationError(f"The dataset {self._job.dataset} has no item {external_id[:80]}.")
        return found

    @property
    def has_filters(self) -> bool:
        return bool(self.wanted())

    def wanted(self) -> CallFilter:
        """All calls while the form has an error."""
        if not self.is_valid():
            return CallFilter()
        data = self.cleaned_data
        first = data.get("shown_first")
        return CallFilter(
            status=data["status"],
            levels={axis: int(data[name]) for name, axis in self._axes.items() if data[name]},
            shown_first=(self._turned, first) if first else None,
            reused={"yes": True, "no": False}.get(data["reused"]),
            item=data["item"],
        )


class CompareForm(forms.Form):
    """A level of each axis for A and for B; without one, calls that have the same level are compared."""

    question = forms.ChoiceField(label="Question", required=False)
    show = forms.ChoiceField(label="Show", required=False, choices=VERDICTS)

    def __init__(self, data: QueryDict | None, *, job: Job, siblings: Sequence[Job]) -> None:
        if data is not None:
            data = data.copy()
            for side in ("a_job", "b_job"):
                data.setdefault(side, str(job.pk))
        super().__init__(data)
        self._job, self._siblings = job, {str(one.pk): one for one in siblings}
        self._questions = {question.code: question for question in job.questions}
        self.fields["question"].choices = [(code, f"{code}: {q.text}"[:80]) for code, q in self._questions.items()]  # type: ignore[attr-defined]
        self.axes = varying(axes_of(job))
        for side in ("a", "b"):
            if len(siblings) > 1:
                jobs = [(pk, one.endpoint.name) for pk, one in self._siblings.items()]
                self.fields[f"{side}_job"] = forms.ChoiceField(label="Endpoint", required=False, choices=jobs)
                self.initial[f"{side}_job"] = str(job.pk)
            for axis in self.axes:
                field = forms.ChoiceField(label=axis.title, required=False, choices=_levels(axis, "The same for both"))
                self.fields[f"{side}_axis_{axis.name}"] = field

        self._suggest()

    def _suggest(self) -> None:
        """At first the first two levels of the first axis, or two endpoints."""
        if self.axes:
            self.initial.update({f"a_axis_{self.axes[0].name}": "0", f"b_axis_{self.axes[0].name}": "1"})
        elif others := [pk for pk in self._siblings if pk != str(self._job.pk)]:
            self.initial["b_job"] = others[0]

    @property
    def side_fields(self) -> list[tuple[str, list[Any]]]:
        """The fields of A and those of B."""
        return [
            (side.upper(), [self[name] for name in self.fields if name.startswith(f"{side}_")]) for side in ("a", "b")
        ]

    @property
    def question_asked(self) -> Any:
        """The chosen question, at first one with options."""
        code = self.cleaned_data.get("question") if self.is_bound else None
        closed = [question for question in self._questions.values() if question.kind in CLOSED]
        return self._questions[code] if code else (closed or list(self._questions.values()))[0]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        try:
            data["comparing"] = Comparing(self._side("a", data), self._side("b", data), self.question_asked)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return data

    def _side(self, side: str, data: dict[str, Any]) -> Side:
        job = self._siblings.get(data.get(f"{side}_job") or "", self._job)
        chosen = {axis.name: data[f"{side}_axis_{axis.name}"] for axis in self.axes}
        return Side(job, {name: int(level) for name, level in chosen.items() if level})

    def words(self, side: str) -> str:
        """The side's condition as a title."""
        return ", ".join(self._named(side)) or "all conditions"

    def _named(self, side: str) -> Iterable[str]:
        if f"{side}_job" in self.fields:
            yield self._siblings.get(self.cleaned_data[f"{side}_job"], self._job).endpoint.name
        for axis in self.axes:
            if level := self.cleaned_data[f"{side}_axis_{axis.name}"]:
                yield axis.named(int(level))


def _levels(axis: Axis, nothing: str) -> Choices:
    return [("", nothing), *((str(number), level) for number, level in enumerate(axis.levels))]
