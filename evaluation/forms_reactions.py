"""The form that asks for a report on reactions."""

from typing import Any

from django import forms

from evaluation.forms import ComparedForm, optional_column
from evaluation.reactions_report.parameters import ATTITUDES, ReactionsParameters
from evaluation.reactions_report.selecting import ATTITUDES as ATTITUDE_KINDS
from evaluation.reactions_report.selecting import TONES, keyphrase_datasets
from responses.models import RespondentKind

_DEFAULTS = ReactionsParameters.model_fields


class ReactionsForm(ComparedForm):
    """Which questions have tones and attitudes, and what makes a simulated reaction blind or informed."""

    asks = TONES
    usually = RespondentKind.ANNOTATOR
    field_order = (
        *("title", "tone", "attitude", "attitudes", "post", "community"),
        *("topic", "place", "keyphrases", "condition", "blind", "informed"),
    )

    tone = forms.ChoiceField(label="Question with the tones")
    attitude = forms.ChoiceField(
        label="Question with the attitude",
        help_text="A scale or number from -1 to 1, or a choice; it may be the question with the tones.",
    )
    attitudes = forms.CharField(
        label="Where options stand",
        initial=", ".join(f"{code} = {value:g}" for code, value in ATTITUDES.items()),
        help_text="Of a choice: the codes of its options, each with a number from -1 (negative) to 1 (positive). "
        "Options that are not named have no attitude.",
    )
    post = optional_column(help_text="The items' field that names what is reacted to; without it each item is one.")
    community = optional_column(help_text="The items' field that names the community.")
    topic = optional_column(help_text="The items' field that says what the community is about.")
    place = optional_column(help_text="And where it is; with both the report counts communities by topic and place.")
    keyphrases = forms.ChoiceField(
        required=False,
        help_text="Keyphrases by which posts were chosen: the report draws their salience, frequency and sparsity.",
    )
    condition = forms.ChoiceField(help_text="The factor that says whether the model was told the community.")
    blind = forms.CharField(label="Level without the community", initial=_DEFAULTS["blind"].default, max_length=200)
    informed = forms.CharField(label="Level with the community", initial=_DEFAULTS["informed"].default, max_length=200)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = self.columns
        self._offer("tone", self._codes(*self.asks))
        self._offer("attitude", self._codes(*ATTITUDE_KINDS))
        self._offer("condition", [(column, column) for column in named["cond"]])
        for name in ("post", "community", "topic", "place"):
            self._offer_columns(name, named["item"])
        phrases = list(keyphrase_datasets(self.material.dataset.project).values_list("slug", "name"))
        self._offer("keyphrases", [("", "None"), *phrases] if phrases else [])
        self.fields["condition"].initial = _DEFAULTS["condition"].default

    def clean_attitudes(self) -> dict[str, float]:
        try:
            pairs = [part.partition("=") for part in self.cleaned_data["attitudes"].split(",") if part.strip()]
            return {code.strip(): float(value) for code, _, value in pairs}
        except ValueError:
            raise forms.ValidationError(
                "Write each option with its number, such as negative = -1, positive = 1."
            ) from None
