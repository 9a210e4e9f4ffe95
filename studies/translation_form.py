"""The form in which one language of a draft is written, each text beside what the study says."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms import BoundField
from pydantic import ValidationError

from materials.form_fields import MarkdownField
from materials.rows import sentence_of
from studies.design import LANGUAGE
from studies.models import Study
from studies.translating import Translation, direction
from studies.translation_places import GROUPS, Place, places_of, translation_of, words_at


class LanguageForm(forms.Form):
    """Which language to write."""

    language = forms.RegexField(
        LANGUAGE,
        max_length=20,
        label="Another language",
        help_text="A code such as es, pt-BR or ar.",
        error_messages={"invalid": "Give a language code such as es or pt-BR."},
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study

    def clean_language(self) -> str:
        language: str = self.cleaned_data["language"]
        if language == self.study.parsed_design.language:
            raise forms.ValidationError(f"The study itself is in {language}; give another language.")
        return language


class TranslationForm(forms.Form):
    """A field for each place; `translation` is, once it is valid, what the draft has under the language."""

    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, study: Study, language: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        said = study.translations.get(language, {})
        self.places = {"/".join(place.path): place for place in places_of(study, language)}
        for name, place in self.places.items():
            field = (
                MarkdownField(label=place.label, rows=3) if place.form != "line" else forms.CharField(required=False)
            )
            field.label, field.initial = place.label, words_at(said, place)
            field.widget.attrs |= {"lang": language, "dir": direction(language)}
            self.fields[name] = field

    def groups(self) -> Iterator[tuple[str, list[tuple[Place, BoundField]]]]:
        for group, title in GROUPS.items():
            fields = [(place, self[name]) for name, place in self.places.items() if place.path[0] == group]
            if fields:
                yield title, fields

    @property
    def translation(self) -> dict[str, Any]:
        return translation_of({place: self.cleaned_data[name] for name, place in self.places.items()})

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            try:
                Translation.model_validate(self.translation)
            except ValidationError as error:
                for fault in error.errors():
                    name = "/".join(map(str, fault["loc"]))
                    self.add_error(name if name in self.fields else None, sentence_of(fault))
        return self.cleaned_data
