"""The form of a new prompt version."""

from django import forms

from llm.rendering import PromptError, check_template


class PromptForm(forms.Form):
    name = forms.SlugField(max_length=80, help_text="A name that is there gets a new version.")
    system = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}), strip=False)
    user = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}),
        strip=False,
        help_text="Jinja2. Names with a value: item (the item's fields), persona (or none), questions, answer_format.",
    )

    def clean_system(self) -> str:
        return _checked(self.cleaned_data["system"])

    def clean_user(self) -> str:
        return _checked(self.cleaned_data["user"])


def _checked(source: str) -> str:
    source = source.replace("\r\n", "\n")
    try:
        check_template(source)
    except PromptError as error:
        raise forms.ValidationError(str(error)) from error
    return source
