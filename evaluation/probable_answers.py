"""Models' answers counted by how probable each was, from the log probabilities of its tokens, by the database."""

from collections.abc import Mapping

import pandas as pd
from django.db.models import Count, Expression, F, FloatField, Func, Sum, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast

from evaluation.answers import of_probable_calls
from evaluation.counting import group
from evaluation.parameters import AlignmentParameters
from evaluation.selection import Selection
from llm.reading.probabilities import MINIMUM_MASS

_DECIMALS = 9  # the database adds in any order, and the same answers have to give the same sum


class _Total(Func):
    """The sum of the values of a JSON object."""

    template = "(SELECT sum(value::float8) FROM jsonb_each_text(%(expressions)s))"
    output_field = FloatField()


def expected_answers(selection: Selection[AlignmentParameters], columns: Mapping[str, Expression | F]) -> pd.DataFrame:
    """Calls `n` and expected culture answers `n_culture` by question and the columns, which are those of a call.

    An option's probability is its share of what all options together have (`llm.reading.probabilities.normalised`);
    calls that were about to write something else almost for certain are left out.
    """
    frames = []
    for question in selection.questions:
        shares = KeyTransform("shares", KeyTransform(question, "probabilities"))
        option = Cast(KeyTextTransform(selection.parameters.option, shares), FloatField())
        calls = of_probable_calls(selection, question).annotate(total=_Total(shares), share=option)
        asked = {"question": Value(question), **columns}
        expected = Sum(F("share") / F("total"))
        frames.append(group(calls.filter(total__gte=MINIMUM_MASS), asked, n=Count("pk"), n_culture=expected))
    counted = pd.concat(frames, ignore_index=True)
    return counted.assign(n_culture=counted["n_culture"].astype("float64").round(_DECIMALS))
