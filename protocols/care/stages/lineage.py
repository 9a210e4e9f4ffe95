"""Where items that are made of others come from."""

from typing import Any

from materials.models import Item

MARKS = ("simulated", "demo_model")


def of(item: Item) -> dict[str, Any]:
    """The lineage of what is made of the item: the way back, and whether invented people or a demo model are behind."""
    return {"item": item.pk} | {name: True for name in MARKS if item.lineage.get(name)}
