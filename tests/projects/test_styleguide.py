"""The design system keeps its promises: contrast, alike dark themes, known tokens, mirrored styles, a strict policy."""

import re
from pathlib import Path

import pytest

from projects.styleguide import TOKENS, Contrast, contrast_ratio, contrasts, read_colours

ROOT = Path(__file__).resolve().parents[2]
SHEETS = sorted((ROOT / "static" / "css").glob("*.css"))
CSS = TOKENS.read_text(encoding="utf-8")


@pytest.mark.parametrize("pair", contrasts(CSS), ids=lambda p: f"{p.theme}: {p.foreground} on {p.background}")
def test_every_declared_pair_has_enough_contrast(pair: Contrast):
    assert pair.passes, f"{pair.ratio:.2f}, needs {pair.required}"


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("#ffffff", "#000000", 21.0),
        ("#777777", "#ffffff", 4.478),
        ("#767676", "#ffffff", 4.542),
        ("#ff0000", "#ffffff", 3.998),
    ],
)
def test_contrast_ratio_has_the_published_values(first: str, second: str, ratio: float):
    assert contrast_ratio(first, second) == pytest.approx(ratio, abs=0.001)
    assert contrast_ratio(second, first) == contrast_ratio(first, second)


def test_low_contrast_is_found():
    faint = CSS.replace("--text-muted: var(--neutral-600)", "--text-muted: var(--neutral-300)")
    assert [p for p in contrasts(faint) if not p.passes]


def test_themes_are_read_apart_and_references_resolved():
    css = ':root { --ink: #111111; --text: var(--ink); } :root[data-theme="dark"] { --ink: #eeeeee; }'
    assert read_colours(css) == {
        "light": {"ink": "#111111", "text": "#111111"},
        "dark": {"ink": "#eeeeee", "text": "#eeeeee"},
    }


def test_dark_by_choice_equals_dark_by_system():
    by_system = re.search(r':root:not\(\[data-theme="light"\]\) \{([^}]*)\}', CSS)
    by_choice = re.search(r':root\[data-theme="dark"\] \{([^}]*)\}', CSS)
    assert by_system
    assert by_choice
    assert by_system[1].split() == by_choice[1].split()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_sheets_use_known_tokens_and_mirror(sheet: Path):
    css = sheet.read_text(encoding="utf-8")
    known = set(re.findall(r"--([\w-]+)(?::| \{)", CSS + css))  # tokens, and what the sheet declares for itself
    assert not set(re.findall(r"var\(--([\w-]+)\)", css)) - known
    assert not re.findall(r"(?:margin|padding|border)-(?:left|right|top|bottom)|[\s;](?:left|right|top|bottom):", css)
    if sheet != TOKENS:
        assert not re.findall(r"var\(--(?:neutral|petrol|amber|red|green|clay|blue)-\d+\)", css)


def test_every_text_colour_is_measured():
    used = {name for sheet in SHEETS for name in re.findall(r"[\s{]color: var\(--([\w-]+)\)", sheet.read_text("utf-8"))}
    measured = {pair.foreground for pair in contrasts(CSS)}
    assert used <= measured


DOWNLOADED = {  # in files to keep, whole by themselves, and in no page
    ROOT / "templates" / "studies" / "codebook.html",
    ROOT / "templates" / "evaluation" / "document_styles.html",
}
PAGES = sorted({*(ROOT / "templates").rglob("*.html")} - DOWNLOADED)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_templates_obey_the_content_security_policy(page: Path):
    html = page.read_text(encoding="utf-8")
    assert not re.findall(r"\sstyle\s*=|<style|\son[a-z]+\s*=\s*[\"']|javascript:", html)
    assert not re.findall(r"<script(?![^>]*\ssrc=)", html)
    assert not re.findall(r"(?:src|href)=[\"'](?:https?:)?//", html)


def test_participants_load_little():
    shell = (ROOT / "templates" / "participant.html").read_text(encoding="utf-8")
    sheets = re.findall(r"static '(css/[\w.-]+)'", shell)
    assert len(sheets) <= 3
    assert sum((ROOT / "static" / sheet).stat().st_size for sheet in sheets) < 30_000
