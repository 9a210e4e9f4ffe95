"""The form that asks for an alignment report."""

from typing import Any

from django import forms

from evaluation.forms import ReportForm
from evaluation.parameters import AlignmentParameters
from evaluation.selection import model_names
from materials.questions import option_codes
from projects.models import Project

_DEFAULTS = AlignmentParameters.model_fields
PEOPLE = [
    ("real", "Real people only"),
    ("simulated", "Simulated people only"),
    ("all", "Both together (the report says how many of each)"),
]
SESSIONS = [
    ("completed", "Completed sessions, with the attention check passed"),
    ("passed", "Sessions that pass the quality filters of their study; the report keeps what each filter left out"),
    ("all", "All sessions, also unfinished ones and those that failed the attention check"),
]
KINDS = [("participant", "Participants"), ("annotator", "Annotators")]


class AlignmentForm(ReportForm):
    """Choices come from the project; parameters that need a decision have no default."""

    dataset = forms.ChoiceField(help_text="The items that both sides answered.")
    instrument = forms.ChoiceField(help_text="Answers to all its versions enter; the report names them.")
    questions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="Choose questions of the instrument; models must have been asked them too. Questions with the codes "
        f"{_DEFAULTS['personal_question'].default} and {_DEFAULTS['norm_question'].default} are ticked already.",
    )
    option = forms.ChoiceField(
        label="Option counted as culture",
        help_text="A rate is the share of answers that chose it; every other option is the preference.",
    )
    people = forms.ChoiceField(
        choices=PEOPLE,
        widget=forms.RadioSelect,
        help_text="Simulated people are bots: their answers say nothing about real people.",
    )
    kinds = forms.MultipleChoiceField(
        label="Answers of", choices=KINDS, initial=["participant"], widget=forms.CheckboxSelectMultiple
    )
    sessions = forms.ChoiceField(
        label="Sessions of participants",
        choices=SESSIONS,
        initial=_DEFAULTS["sessions"].default,
        widget=forms.RadioSelect,
        help_text="The report says how many people and answers are left out, and why. Annotators and imported people "
        "have no session and take part.",
    )
    models = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, required=False, help_text="Every model that answered when none is chosen."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        choices = [question for i in project.instruments.all() for question in i.questionnaire.questions]
        asked = [question for question in choices if question.kind == "choice"]
        questions = dict.fromkeys(question.code for question in asked)
        options = dict.fromkeys(code for question in asked for code in option_codes(question))
        instruments = dict(project.instruments.order_by("version").values_list("name", "title"))
        self._offer("dataset", list(project.datasets.values_list("slug", "name")))
        self._offer("instrument", list(instruments.items()))
        self._offer("questions", [(code, code) for code in questions])
        self._offer("option", [(code, code) for code in options])
        self._offer("models", [(name, name) for name in model_names(project)])
        wanted = (_DEFAULTS["personal_question"].default, _DEFAULTS["norm_question"].default)
        self.fields["questions"].initial = [code for code in wanted if code in questions]
        self.fields["option"].initial = _DEFAULTS["option"].default
