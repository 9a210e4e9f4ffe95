"""The JavaScript that draws figures in the page, written once at build time from the wheel that also renders them for paper."""

from pathlib import Path

import vl_convert

_SNIPPET = "export { vegaEmbed };"


def write_vega_bundle(path: Path) -> Path:
    """Write an ES module of Vega, Vega-Lite and Vega-Embed that exports ``vegaEmbed`` (about 0.9 MB) and return its path.

    Vega-Embed brings the expression interpreter along, so pages need no ``unsafe-eval`` when they embed with ``ast: true``.
    The file is replaced in one step: a reader never sees half of it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(vl_convert.javascript_bundle(_SNIPPET), encoding="utf-8")
    return unfinished.replace(path)
