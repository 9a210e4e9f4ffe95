"""The form of an endpoint."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.forms import BoundField

from llm.models import Endpoint

_WHOLE = 2**31 - 1  # what the database's column takes
BOUNDS: dict[str, tuple[float, float]] = {
    "concurrency": (1, 1000),
    "requests_per_minute": (1, _WHOLE),
    "tokens_per_minute": (1, _WHOLE),
    "timeout_seconds": (0.1, 86_400),
    "price_per_million_in": (0, 10**7),
    "price_per_million_out": (0, 10**7),
    "batch_price_factor": (0, 1),
}
MODEL_NAMES = "model-names"  # id of the list of names that the server gave


class EndpointForm(forms.ModelForm):
    # Any host may serve a model, also one without dots; what is refused is said in llm.servers.endpoints.
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

    groups = {
        "Server": ("name", "base_url", "model", "key", "forget_key", "key_variable"),
        "Limits": ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds"),
        "Prices": ("price_per_million_in", "price_per_million_out", "batch_price_factor"),
    }

    class Meta:
        model = Endpoint
        fields = [
            "name", "base_url", "model", "key_variable", "concurrency", "requests_per_minute", "tokens_per_minute",
            "timeout_seconds", "price_per_million_in", "price_per_million_out", "batch_price_factor",
        ]  # fmt: skip
        labels = {
            "key_variable": "Key from environment variable",
            "concurrency": "Calls at once",
            "requests_per_minute": "Calls a minute",
            "tokens_per_minute": "Tokens a minute",
            "timeout_seconds": "Time-out (s)",
            "price_per_million_in": "Price of a million prompt tokens",
            "price_per_million_out": "Price of a million answer tokens",
            "batch_price_factor": "Price of a batch call as a share",
        }
        help_texts = {
            "model": "As the server names it.",
            "key_variable": f"Its name starts with {settings.MODEL_KEY_VARIABLE_PREFIX}. The variable of the same name "
            "with _URL at its end says which server may get the key.",
            "requests_per_minute": "Empty: no limit.",
            "tokens_per_minute": "Of prompts and answers together. Empty: no limit.",
            "price_per_million_in": "In any currency, the same for both prices.",
            "batch_price_factor": "Of a live call's price: 0.5 where batches cost half.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, (lowest, highest) in BOUNDS.items():
            _bound(self.fields[name], lowest, highest)
            if isinstance(stored := self.initial.get(name), Decimal):
                self.initial[name] = f"{stored.normalize():f}"  # 0.5 and not 0.500
        if not self.instance.key_encrypted:
            del self.fields["forget_key"]
        self.model_names: list[str] = self.instance.capabilities.get("models") or []
        if self.model_names:
            self.fields["model"].widget.attrs["list"] = MODEL_NAMES
        self.order_fields([name for names in self.groups.values() for name in names])

    def grouped(self) -> Iterator[tuple[str, list[BoundField]]]:
        """The fields under their headings, for the page."""
        for title, names in self.groups.items():
            yield title, [self[name] for name in names if name in self.fields]

    def _post_clean(self) -> None:
        """The service changes the endpoint, after its own checks; the instance stays as it is stored."""


def _bound(field: Any, lowest: float, highest: float) -> None:
    """Bounds for a number field, in the page and in the check."""
    field.widget.attrs |= {"min": lowest, "max": highest}
    field.validators += [MinValueValidator(lowest), MaxValueValidator(highest)]
