"""The probabilities of options that came with a model's answers, for the order in which people are asked."""

from collections.abc import Iterator, Mapping

from llm.models import Call
from materials.models import Instrument
from responses.models import Respondent


def stored_shares(respondent: Respondent, instrument: Instrument) -> Iterator[tuple[int, str, Mapping[str, float]]]:
    """Item, question code and probability by option code for each answer that has them."""
    calls = Call.objects.filter(
        respondent=respondent, job__instrument=instrument, status=Call.Status.OK, probabilities__isnull=False
    )
    for item, questions in calls.values_list("item_id", "probabilities").iterator():
        for question, found in (questions or {}).items():
            yield item, question, found["shares"]
