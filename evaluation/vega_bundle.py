"""The JavaScript that draws figures in the page, written at build time from the wheel that renders them for paper.

`python -m evaluation.vega_bundle static/vendor/vega.js`; it needs no settings and no services.
"""

import sys
from pathlib import Path

import vl_convert

_SNIPPET = "export { vegaEmbed };"


def write_vega_bundle(path: Path) -> Path:
    """Write an ES module that exports ``vegaEmbed`` with all it needs (about 0.9 MB) and return its path.

    Vega-Embed brings the expression interpreter along, so with ``ast: true`` a page needs no ``unsafe-eval``.
    The file is replaced in one step: a reader never sees half of it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(vl_convert.javascript_bundle(_SNIPPET), encoding="utf-8")
    return unfinished.replace(path)


if __name__ == "__main__":
    write_vega_bundle(Path(sys.argv[1]))
