"""What the style guide shows: the colour tokens in both themes, measured, and a form that holds every kind of field."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django import forms

TOKENS = Path(__file__).resolve().parent.parent / "static" / "css" / "tokens.css"
TEXT, SHAPE = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11: least contrast of text, and of outlines and marks

# Every colour that stands on another one: (foregrounds, backgrounds, least contrast).
PAIRS: tuple[tuple[str, str, float], ...] = (
    ("text text-muted", "canvas surface surface-sunken accent-soft warning-soft danger-soft", TEXT),
    ("accent accent-hover", "canvas surface surface-sunken", TEXT),
    ("on-accent", "accent accent-hover", TEXT),
    ("on-accent-soft", "accent-soft", TEXT),
    ("warning", "canvas surface surface-sunken warning-soft", TEXT),
    ("danger", "canvas surface surface-sunken", TEXT),
    ("on-danger", "danger danger-hover", TEXT),
    ("on-danger-soft", "danger-soft", TEXT),
    ("success", "canvas surface surface-sunken success-soft", TEXT),
    ("human", "canvas surface surface-sunken human-soft", TEXT),
    ("model", "canvas surface surface-sunken model-soft", TEXT),
    ("border-strong focus human-mark model-mark", "canvas surface surface-sunken", SHAPE),
)


@dataclass(frozen=True)
class Contrast:
    """One colour on another in one theme; ``ratio`` runs from 1 (alike) to 21 (black on white)."""

    theme: str
    foreground: str
    background: str
    foreground_hex: str
    background_hex: str
    ratio: float
    required: float

    @property
    def passes(self) -> bool:
        return self.ratio >= self.required


def read_colours(css: str) -> dict[str, dict[str, str]]:
    """Colours by theme and token, as ``{"light": {"text": "#1d1c1a", ...}, "dark": {...}}``, references resolved.

    Later blocks on ``:root`` win over earlier ones; those that select ``data-theme="dark"`` hold for dark only.
    """
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for selector, body in re.findall(r"(:root[^{]*)\{([^}]*)\}", css):
        values = dict(re.findall(r"--([\w-]+):\s*([^;]+);", body))
        if selector.strip() == ":root":
            light |= values
        elif 'data-theme="dark"' in selector:
            dark |= values
    return {"light": _resolve(light), "dark": _resolve(light | dark)}


def _resolve(values: dict[str, str]) -> dict[str, str]:
    def final(value: str) -> str:
        reference = re.fullmatch(r"var\(--([\w-]+)\)", value)
        return final(values[reference[1]]) if reference else value

    resolved = {name: final(value) for name, value in values.items()}
    return {name: value for name, value in resolved.items() if re.fullmatch(r"#[0-9a-f]{6}", value)}


def relative_luminance(colour: str) -> float:
    """Luminance of ``#rrggbb`` from 0 (black) to 1 (white), as WCAG 2.2 defines it for sRGB."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast_ratio(first: str, second: str) -> float:
    """WCAG 2.2 contrast ratio of two ``#rrggbb`` colours, 1 to 21; the order does not matter.

    >>> contrast_ratio("#000000", "#ffffff")
    21.0
    """
    darker, lighter = sorted((relative_luminance(first), relative_luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def contrasts(css: str) -> list[Contrast]:
    """Every declared pair of colours, measured in both themes."""
    return [
        Contrast(theme, front, back, named[front], named[back], contrast_ratio(named[front], named[back]), required)
        for theme, named in read_colours(css).items()
        for fronts, backs, required in PAIRS
        for front in fronts.split()
        for back in backs.split()
    ]


class ExampleForm(forms.Form):
    """One field of each kind, as the style guide shows them."""

    name = forms.CharField(help_text="As it appears in reports.")
    overlap = forms.IntegerField(label="People per item", min_value=1, initial=3)
    country = forms.ChoiceField(choices=[("", "Choose a country"), ("JP", "Japan"), ("BR", "Brazil")])
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    order = forms.ChoiceField(
        label="Order of the items", choices=[("fixed", "As imported"), ("random", "Random")], widget=forms.RadioSelect
    )
    send = forms.BooleanField(label="Send me a message when it is done", required=False)


def styleguide_context(css: str | None = None) -> dict[str, Any]:
    """All that ``styleguide/index.html`` needs; ``css`` is the text of the tokens and is read from disk by default."""
    measured = contrasts(TOKENS.read_text(encoding="utf-8") if css is None else css)
    return {
        "contrasts": [(theme, [c for c in measured if c.theme == theme]) for theme in ("light", "dark")],
        "form": ExampleForm({"name": "", "overlap": "3", "note": "", "country": "JP", "order": "random"}),
        "chosen": ["yes"],
        "choices": [
            {"code": "yes", "label": "Yes", "hotkey": "1"},
            {"code": "no", "label": "No", "hotkey": "2"},
            {"code": "unsure", "label": "I cannot tell", "hotkey": "3", "help": "Say why in the note."},
        ],
    }
