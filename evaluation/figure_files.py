"""Figures on paper: SVG, PNG and PDF of a specification, rendered in this process and kept by their content.

The first rendering in a process starts a JavaScript engine (about a second); a later one takes tens of milliseconds.
Nothing is fetched: a specification holds its data, and the renderer brings fonts along for what the machine lacks.
"""

import csv
import hashlib
import io
import json
import tempfile
import textwrap
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import vl_convert
from django.conf import settings

from responses.export import csv_cell

PaperFormat = Literal["svg", "png", "pdf"]
CONTENT_TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
}
# The database does not keep the order of a row's names.
DATA_COLUMNS = (
    *("question", "country", "who", "panel", "down", "across", "attitude", "mark", "before", "value", "low", "high"),
    *("n", "reason", "u", "v", "items", "people", "answers", "enough", "label", "simulated", "demo_model"),
)
_WIDTH = 560
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_CONFIG = {
    "background": "white",
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {"titleFontWeight": "normal", "gridColor": "#e2dfd7", "labelColor": "#5f5b53", "titleColor": "#1d1c1a"},
    "text": {"color": "#1d1c1a"},
}
_PIXELS_PER_POINT = 2
_LETTERS_A_LINE = 100
_TITLE = {"anchor": "start", "frame": "bounds", "offset": 14, "fontSize": 14}
_SUBTITLE = {"subtitleFontSize": 11, "subtitlePadding": 6}


def on_paper(figure: Mapping[str, Any]) -> dict[str, Any]:
    """The specification of a report's figure with the words that surround it on its page: title, caption, source."""
    words = [line for text in (figure["caption"], figure["source"]) for line in textwrap.wrap(text, _LETTERS_A_LINE)]
    title = {"text": textwrap.wrap(figure["title"], _LETTERS_A_LINE - 20), "subtitle": words, **_TITLE, **_SUBTITLE}
    return {**figure["spec"], "title": title}


def paper_file(spec: dict[str, Any], format: PaperFormat) -> bytes:
    """The figure as a file; from the cache when this very figure was asked for before."""
    source = json.dumps([spec, _WIDTH, _CONFIG, version("vl-convert-python")], sort_keys=True)
    path = settings.VAR_DIR / "cache" / "figures" / f"{hashlib.sha256(source.encode()).hexdigest()}.{format}"
    if path.exists():
        return path.read_bytes()
    content = render(spec, format)
    _keep(path, content)
    return content


def render(spec: dict[str, Any], format: PaperFormat) -> bytes:
    """The specification drawn at paper width on white."""
    wide = {**spec, "width": _WIDTH} if spec.get("width") == "container" else spec
    options: dict[str, Any] = {"vl_spec": wide, "config": _CONFIG, "allowed_base_urls": []}
    if format == "svg":
        return str(vl_convert.vegalite_to_svg(**options)).encode()
    if format == "png":
        return bytes(vl_convert.vegalite_to_png(**options, scale=_PIXELS_PER_POINT))
    return bytes(vl_convert.vegalite_to_pdf(**options))


def data_csv(spec: dict[str, Any]) -> str:
    """The rows that the figure shows."""
    rows = spec["data"]["values"]
    columns = [name for name in DATA_COLUMNS if name in rows[0]]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([csv_cell(row[name]) for name in columns] for row in rows)
    return text.getvalue()


def _keep(path: Path, content: bytes) -> None:
    """Several requests may draw the same figure at once: each writes a file of its own and moves it there whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as unfinished:
        unfinished.write(content)
    Path(unfinished.name).replace(path)
