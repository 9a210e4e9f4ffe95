"""The form of a stage's settings, made from their types."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from pydantic.fields import FieldInfo

from projects.models import Project
from protocols.stages import StageSettings


def _choices(project: Project, of: str) -> list[tuple[str, str]]:
    names = {"endpoints": project.endpoints.values_list("name", flat=True)}[of]
    return [(name, name) for name in names]


class SettingsForm(forms.Form):
    """A field for each setting, with what it is now."""

    def __init__(self, *args: Any, settings: StageSettings, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._defined = type(settings).model_fields
        for name, info in self._defined.items():
            field = _field(info, project)
            field.label = info.title or name.replace("_", " ").capitalize()
            field.help_text = info.description or ""
            value = getattr(settings, name)
            field.initial = list(value) if isinstance(field, forms.MultipleChoiceField) else _shown(value)
            self.fields[name] = field

    @property
    def values(self) -> dict[str, Any]:
        """The valid form's values as the settings take them."""
        return {name: _given(self._defined[name], value) for name, value in self.cleaned_data.items()}


def _field(info: FieldInfo, project: Project) -> forms.Field:
    kinds, limits = _kinds(info.annotation), _limits(info)
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    if "choices" in extra:
        choices = _choices(project, str(extra["choices"]))
        if tuple in kinds:
            return forms.MultipleChoiceField(choices=choices, required=False, widget=forms.CheckboxSelectMultiple)
        return forms.ChoiceField(choices=[("", "The first of the project"), *choices], required=False)
    if tuple in kinds and get_origin(one := get_args(info.annotation)[0]) is Literal:
        choices = [(value, str(value).replace("_", " ")) for value in get_args(one)]
        return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple)
    if Literal in kinds:
        return forms.ChoiceField(choices=[(value, str(value).replace("_", " ")) for value in get_args(info.annotation)])
    if bool in kinds:
        return forms.BooleanField(required=False)
    if int in kinds:
        return forms.IntegerField(required=NoneType not in kinds, **limits)
    if float in kinds:
        return forms.FloatField(required=NoneType not in kinds, **limits)
    if tuple in kinds:
        return forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    return forms.CharField(required=False)


def _kinds(annotation: Any) -> set[Any]:
    """The plain types that the annotation allows: int, tuple, Literal, NoneType, ..."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return set().union(*(_kinds(part) for part in get_args(annotation)))
    return {origin or annotation}


def _limits(info: FieldInfo) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for part in info.metadata:
        for name, of in (("min_value", "ge"), ("max_value", "le")):
            if getattr(part, of, None) is not None:
                limits[name] = getattr(part, of)
    return limits


def _shown(value: Any) -> Any:
    """Several values stand one on a line."""
    return "\n".join(str(part) for part in value) if isinstance(value, tuple) else value


def _given(info: FieldInfo, value: Any) -> Any:
    if tuple not in _kinds(info.annotation) or isinstance(value, list):
        return value
    return [line.strip() for line in value.splitlines() if line.strip()]
