"""What can be changed while a job runs: its budget, and how many calls at once its endpoint gets."""

from typing import Any

from django import forms

from llm.models import Job
from llm.pages.job_forms import BOUNDS, bounded

MOST_AT_ONCE = 1000


class BudgetForm(forms.ModelForm):
    """The job's limits; an empty one is no limit."""

    class Meta:
        model = Job
        fields = ["budget_calls", "budget_tokens", "budget_price"]
        labels = {"budget_calls": "Calls at most", "budget_tokens": "Tokens at most", "budget_price": "Price at most"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields:
            self.fields[name] = bounded(self.fields[name], *BOUNDS[name])

    def _post_clean(self) -> None:
        """The service changes the job, after its own checks."""


class ConcurrencyForm(forms.Form):
    concurrency = forms.IntegerField(
        label="Calls at once",
        min_value=1,
        max_value=MOST_AT_ONCE,
        help_text="Of this endpoint, for all its jobs together. Running jobs follow within seconds.",
    )
