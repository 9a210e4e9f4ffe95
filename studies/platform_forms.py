"""The forms of the platform's pages: accounts, a study's connection, a file of submissions, a list to send."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from studies.models import PlatformAccount, PlatformAction, Study

MAX_FILE_BYTES = 10 * 2**20


def _secret(**kwargs: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "off"})
    return forms.CharField(required=False, max_length=500, widget=widget, **kwargs)


class AccountForm(forms.Form):
    """Secrets are written and never shown: the fields are always empty. A new account needs a token."""

    name = forms.CharField(max_length=80, help_text="What your project calls it, such as the name of the workspace.")
    token = _secret(
        label="API token",
        help_text="Made on Prolific under Settings, API tokens. Stored encrypted and never shown again. "
        "Empty keeps the stored one.",
    )
    webhook_secret = _secret(
        label="Secret for messages",
        help_text="With it the platform signs its messages. Stored encrypted and never shown again. "
        "Empty keeps the stored one.",
    )

    def __init__(self, *args: Any, new: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["token"].required = new


class ConnectionForm(forms.ModelForm):
    class Meta:
        model = Study
        fields = ["platform_account", "platform_study_id", "signed_entry"]
        labels = {
            "platform_account": "Account",
            "platform_study_id": "The study's id on Prolific",
            "signed_entry": "Let people in by signed links only",
        }
        help_texts = {
            "platform_study_id": "The last part of the address of the study's page there.",
            "signed_entry": "Only where the study's address is secured on Prolific; else nobody gets in.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        accounts = PlatformAccount.objects.filter(project_id=self.instance.project_id).order_by("name")
        self.fields["platform_account"] = forms.ModelChoiceField(
            accounts, required=False, label="Account", empty_label="None"
        )

    def clean_platform_study_id(self) -> str:
        return str(self.cleaned_data["platform_study_id"]).strip()

    def _post_clean(self) -> None:
        """The service changes the study, after its own checks; the instance stays as it is stored."""


class SubmissionsForm(forms.Form):
    file = forms.FileField(
        label="CSV file of submissions",
        help_text="On Prolific: the study's submissions, Actions, Download as CSV. At most 10 MB.",
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            raise forms.ValidationError("The file is larger than 10 MB, so it is no list of one study's submissions.")
        return file


class ListForm(forms.Form):
    kind = forms.ChoiceField(label="What the platform is to do", choices=PlatformAction.Kind.choices)
    amount = forms.DecimalField(
        label="Bonus for each person",
        required=False,
        max_digits=8,
        decimal_places=2,
        help_text="In the study's currency: 1.50 is one pound fifty, or one dollar fifty.",
    )
    reason = forms.CharField(
        label="Reason for the return", required=False, max_length=500, help_text="The person reads it."
    )
