"""A whole report as one HTML file that needs nothing else: styles and figures inside, no script, fit for paper."""

import base64
from functools import cache
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from evaluation.figure_files import paper_file
from evaluation.kinds import KINDS
from evaluation.presentation import Reading, parameters

_STYLES = ("tokens", "base", "badge", "form", "table", "panel", "list", "chart", "document")


def document(reading: Reading) -> str:
    """The file, with links to nothing."""
    return render_to_string("evaluation/document.html", context(reading) | {"alone": True, "styles": _styles()})


def context(reading: Reading) -> dict[str, Any]:
    """What the document and the page for whoever has a link show.

    Figures are drawn where the cache of figures does not have them, tens of milliseconds each.
    """
    sections = [
        {**section, "figures": [figure | {"image": _image(figure["spec"])} for figure in section["figures"]]}
        for section in reading.shown()
    ]
    report = reading.report
    return {
        "report": report,
        "kind": KINDS[report.kind],
        "parameters": parameters(report),
        "masked": reading.masked,
        "sections": sections,
    }


def _image(spec: dict[str, Any]) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(paper_file(spec, 'svg')).decode()}"


@cache
def _styles() -> SafeString:
    folder = settings.BASE_DIR / "static" / "css"
    return mark_safe("\n".join((folder / f"{name}.css").read_text() for name in _STYLES))
