"""When Dawid-Skene labels are not to be trusted."""

from collections.abc import Mapping, Sequence
from typing import Any

FEWEST_RATERS = 3  # with two, nothing tells who of them errs


def dawid_skene_doubts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why labels of some questions may be wrong, a sentence for each reason; `rows` as of compute_agreement."""
    answered = [row for row in rows if row["details"]]
    few = [row["text"] for row in answered if len(row["details"]["raters"]) < FEWEST_RATERS]
    opposed = [row["text"] for row in answered if (row["estimates"]["brennan_prediger"]["value"] or 0) < 0]
    doubts = []
    if few:
        doubts.append(
            f"Fewer than three people answered {_named(few)}. Dawid-Skene then cannot tell who errs, and its label may "
            "contradict people who all agree: go by the majority, and adjudicate ties."
        )
    if opposed:
        doubts.append(
            f"People agree less than by chance on {_named(opposed)}. Dawid-Skene may then take the wrong side for the "
            "right one: look at the confusion on the page of agreement first."
        )
    return doubts


def _named(texts: Sequence[str]) -> str:
    return ", ".join(f"“{text}”" for text in texts)
