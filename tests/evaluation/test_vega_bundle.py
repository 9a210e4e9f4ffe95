"""Figures draw in a real browser under the policy that every page has."""

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evaluation.vega_bundle import write_vega_bundle

ROOT = Path(__file__).resolve().parents[2]
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'"
)
PAGE = """<!doctype html><html lang="en"><title>Figure</title>
<link rel="icon" href="data:,">
<div class="chart" data-spec-url="/spec.json" data-vega-url="/vega.js"></div>
<script type="module" src="/chart.js"></script></html>"""


class StrictHandler(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("site")
    write_vega_bundle(folder / "vega.js")
    shutil.copy(ROOT / "static" / "js" / "chart.js", folder)
    shutil.copy(ROOT / "static" / "img" / "example-figure.json", folder / "spec.json")
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(StrictHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", folder
    server.shutdown()
    server.server_close()


def test_the_bundle_is_one_module_that_needs_no_other_file(site: tuple[str, Path]):
    text = (site[1] / "vega.js").read_text(encoding="utf-8")
    assert "as vegaEmbed}" in text[-200:]
    assert "sourceMappingURL" not in text
    assert not list(site[1].glob("*.part"))


@pytest.mark.browser
def test_a_figure_draws_without_breaking_the_policy(site: tuple[str, Path]):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        assert os.environ.get("CI") != "true", "No Chromium found: install it (Debian: apt-get install chromium)."
        pytest.skip("No Chromium on this machine.")
    from playwright.sync_api import sync_playwright

    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(site[0])
        page.wait_for_selector(".chart svg")
        marks = page.locator(".chart svg .mark-symbol path")
        assert marks.count() == 3
        marks.first.hover()
        page.wait_for_selector(".vg-tooltip.visible")
        browser.close()
    assert complaints == []
