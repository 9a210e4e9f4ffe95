"""The form of an endpoint."""

from typing import Any

from django import forms
from django.conf import settings

from llm.forms import bounded
from llm.models import Endpoint


class EndpointForm(forms.ModelForm):
    # Any host may serve a model, also one without dots; what is refused is said in llm.endpoints.
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="OpenAI-compatible, usually ending in /v1, like http://127.0.0.1:8080/v1.",
    )
    key = forms.CharField(
        label="Key",
        required=False,
        strip=True,
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again. Empty keeps the stored one; another server drops it.",
    )
    forget_key = forms.BooleanField(label="Forget the stored key", required=False)

    class Meta:
        model = Endpoint
        fields = [
            "name", "base_url", "model", "key_variable", "concurrency", "requests_per_minute", "timeout_seconds",
            "price_per_million_in", "price_per_million_out",
        ]  # fmt: skip
        labels = {
            "key_variable": "Key from environment variable",
            "concurrency": "Calls at once",
            "requests_per_minute": "Calls a minute",
            "timeout_seconds": "Time-out (s)",
            "price_per_million_in": "Price of a million prompt tokens",
            "price_per_million_out": "Price of a million answer tokens",
        }
        help_texts = {
            "model": "As the server names it.",
            "key_variable": f"Its name starts with {settings.MODEL_KEY_VARIABLE_PREFIX}. The variable of the same name "
            "with _URL at its end says which server may get the key.",
            "price_per_million_in": "In any currency, the same for both prices.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, lowest in {"concurrency": 1, "requests_per_minute": 1, "timeout_seconds": 0.1}.items():
            self.fields[name] = bounded(self.fields[name], lowest)
        if not self.instance.key_encrypted:
            del self.fields["forget_key"]
        self.order_fields(["name", "base_url", "model", "key", "forget_key", "key_variable"])

    def _post_clean(self) -> None:
        """The service changes the endpoint, after its own checks; the instance stays as it is stored."""
