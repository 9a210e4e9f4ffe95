"""How uncertain a model is about each item: from the probabilities of its options where they are known, else from the
answers it gave to the same question several times."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from django.db.models import Count

from materials.models import Instrument
from responses.models import Respondent, Response

Shares = Iterable[tuple[int, str, Mapping[str, float]]]  # item, question code, probability by option code
Provider = Callable[[Respondent, Instrument], Shares]
_providers: list[Provider] = []


def register_shares(provider: Provider) -> None:
    """`provider(respondent, instrument)` gives the options' probabilities that were stored with its answers, if any."""
    if provider not in _providers:
        _providers.append(provider)


def uncertainty(respondent: Respondent, instrument: Instrument) -> dict[int, float]:
    """The entropy of the respondent's answers in bits by item, averaged over questions; at least 0.

    Items are absent about which nothing is known: no probabilities, and no question answered more than once.
    """
    weights: dict[tuple[int, str], dict[str, float]] = {}
    for provider in _providers:
        for item, question, shares in provider(respondent, instrument):
            _add(weights.setdefault((item, question), defaultdict(float)), shares)
    for key, counts in _repeated(respondent, instrument).items():
        weights.setdefault(key, counts)
    by_item: dict[int, list[float]] = defaultdict(list)
    for (item, _), shares in weights.items():
        if sum(shares.values()) > 0:
            by_item[item].append(entropy(shares.values()))
    return {item: sum(bits) / len(bits) for item, bits in by_item.items()}


def _add(total: dict[str, float], shares: Mapping[str, float]) -> None:
    for option, share in shares.items():
        total[option] += share


def _repeated(respondent: Respondent, instrument: Instrument) -> dict[tuple[int, str], dict[str, float]]:
    """How often each answer was given, for questions about items that have more than one answer."""
    standing = Response.objects.filter(respondent=respondent, instrument=instrument, superseded_by=None)
    counts: dict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for item, question, value, n in standing.values_list("item_id", "question", "value").annotate(n=Count("pk")):
        counts[item, question][repr(value)] = n
    return {key: found for key, found in counts.items() if sum(found.values()) > 1}


def entropy(weights: Iterable[float]) -> float:
    """Shannon entropy in bits of weights that need not add up to 1; NaN when they are all 0.

    >>> entropy([1, 1]), entropy([3, 0])
    (1.0, 0.0)
    """
    found = [weight for weight in weights if weight > 0]
    total = math.fsum(found)
    if not total:
        return math.nan
    return abs(math.fsum(-weight / total * math.log2(weight / total) for weight in found))
