"""`make screens`: pictures of every kind of page of a running demo, var/screens/NAME-{1280,360}-{light,dark}.png.

It follows links from the start page, as owner and then as annotator, and takes one page for each named URL; then it
walks the survey as a simulated participant and takes each kind of screen.
"""

import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from config.embedded import services_file
from config.env import var_dir
from tests.e2e.browser import NoBrowser, find_chromium, flags
from tests.e2e.participant import screen, walk

WAYS = {
    f"{width}-{scheme}": {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    for width, height in ((1280, 800), (360, 740))
    for scheme in ("light", "dark")
}
LOGINS = ("owner", "annotator")
MISSING = "there-is-no-such-page"
NOT_LINKED = ("/styleguide/", f"/{MISSING}/")
MOST_PAGES = 60

Take = Callable[[str, Page], None]


@dataclass(frozen=True)
class Demo:
    """A running demo: its address, its logins' password, its survey, and what marks a participant as simulated."""

    url: str
    password: str
    survey: str
    simulated: Mapping[str, str]


def main() -> int:
    try:
        _take_pictures(find_chromium(), _find_demo())
    except (NoBrowser, RuntimeError) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


def _take_pictures(chromium: str, demo: Demo) -> None:
    target = var_dir() / "screens"
    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags())
        for way, options in WAYS.items():
            taken: set[str] = set()

            def take(name: str, page: Page, way: str = way, taken: set[str] = taken) -> None:
                if name not in taken:
                    page.screenshot(path=target / f"{name}-{way}.png", full_page=True)
                    taken.add(name)

            _take_all(browser, demo, options, take)
            print(f"{way}: {len(taken)} pages in {target}", flush=True)


def _find_demo() -> Demo:
    """Raises RuntimeError when no demo is running here."""
    found = re.search(r"^CONCORD_URL=(.+)$", _read(services_file()), re.MULTILINE)
    notes = _read(var_dir() / "run" / "demo.json")
    if not found or not notes:
        raise RuntimeError("No demo is running here; start it with `make demo` in another terminal.")
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    django.setup()
    from protocols.pact.demo import SLUG, STUDY_SLUG
    from studies.models import Study
    from studies.simulation import simulation_header

    study = Study.objects.get(project__slug=SLUG, slug=STUDY_SLUG, version=1)
    return Demo(found[1], json.loads(notes)["password"], f"/s/{study.key}/", simulation_header(study))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _take_all(browser: Browser, demo: Demo, options: Mapping[str, Any], take: Take) -> None:
    for login in LOGINS:
        context = browser.new_context(base_url=demo.url, reduced_motion="reduce", **options)
        for name, page in _pages(context, login, demo.password):
            page.wait_for_load_state("networkidle")
            take(name, page)
        context.close()
    context = browser.new_context(base_url=demo.url, extra_http_headers=dict(demo.simulated), **options)
    page, person = context.new_page(), secrets.token_hex(8)
    page.goto(f"{demo.survey}?PROLIFIC_PID={person}&STUDY_ID=screens&SESSION_ID={person}")
    walk(page, look=lambda page: take(f"participant_{screen(page) or 'end'}", page))
    context.close()


def _pages(context: BrowserContext, login: str, password: str) -> Iterator[tuple[str, Page]]:
    """One page for each URL name that can be reached by links, after logging in through the form."""
    page = context.new_page()
    page.goto("/login/")
    yield "login", page
    page.fill("[name=username]", login)
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    waiting = [page.url, *(urljoin(page.url, path) for path in NOT_LINKED)]
    seen = {"login", "logout"}
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        name = _name(address)
        if not name or name in seen:
            continue
        seen.add(name)
        try:
            answer = page.goto(address)
        except Error:  # the link is a download
            continue
        if not answer or "text/html" not in answer.headers.get("content-type", ""):
            continue
        if answer.status >= 500:
            raise RuntimeError(f"{address} answers {answer.status}; the log of the demo's web server says why.")
        yield name, page
        waiting += [
            urljoin(page.url, str(link)) for link in page.eval_on_selector_all("a[href]", "a => a.map(x => x.href)")
        ]


def _name(address: str) -> str:
    """The URL's name; empty for files, other sites and addresses that are not pages."""
    from django.urls import Resolver404, resolve

    parts = urlsplit(address)
    if MISSING in parts.path:
        return "not_found"
    try:
        return resolve(parts.path).url_name or "" if parts.hostname in {"127.0.0.1", "localhost", "::1"} else ""
    except Resolver404:
        return ""


if __name__ == "__main__":
    sys.exit(main())
