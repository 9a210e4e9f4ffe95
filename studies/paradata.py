"""What the browser tells about how a screen was answered: counts and seconds, never contents."""

import json
import math
from typing import Any

# By name, what the number says. A study's consent text has to mention them.
PARADATA = {
    "seconds": "from when the page was ready to when it was sent, by the browser's clock",
    "hidden_seconds": "of that, with the page out of sight",
    "focus_losses": "how often another window or tab came to the front",
    "pastes": "how often something was pasted into a text",
    "resizes": "how often the window changed its size",
}
MOST = 1e7


def read_paradata(text: str) -> dict[str, float]:
    """The numbers of PARADATA in a JSON object; whatever else it holds, and a text that is none, is left out."""
    try:
        given = json.loads(text[:2000])
    except (ValueError, RecursionError):
        return {}
    return {name: given[name] for name in PARADATA if _is_count(given.get(name))} if isinstance(given, dict) else {}


def _is_count(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= MOST
