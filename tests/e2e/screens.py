"""`make screens`: pictures of every kind of page of a running demo in var/screens/: light, dark and on a phone.

It follows links from the start page, as owner and then as annotator, and takes one page for each named URL; then the
first page of the survey.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import BrowserContext, Error, Page, sync_playwright

from config.embedded import services_file
from config.env import var_dir
from tests.e2e.browser import NoBrowser, find_chromium, flags

WAYS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}
LOGINS = ("owner", "annotator")
MOST_PAGES = 60


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    found = re.search(r"^CONCORD_URL=(.+)$", _read(services_file()), re.MULTILINE)
    notes = _read(var_dir() / "run" / "demo.json")
    if not found or not notes:
        print("No demo is running here; start it with `make demo` in another terminal.", file=sys.stderr)
        return 1
    try:
        chromium = find_chromium()
    except (NoBrowser, RuntimeError) as reason:
        print(reason, file=sys.stderr)
        return 1
    django.setup()
    demo = json.loads(notes)
    survey = re.search(r"/s/\S+", " ".join(demo["lines"]))
    target = var_dir() / "screens"
    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags())
        for way, options in WAYS.items():
            taken = set()
            for login in LOGINS:
                context = browser.new_context(base_url=found[1], **options)
                for name, page in _pages(context, login, demo["password"]):
                    if name not in taken:
                        page.screenshot(path=target / f"{name}-{way}.png", full_page=True)
                        taken.add(name)
                context.close()
            if survey:
                page = browser.new_context(base_url=found[1], **options).new_page()
                page.goto(survey[0].replace("=YOU", "=screens"))
                page.screenshot(path=target / f"participant-{way}.png", full_page=True)
            print(f"{way}: {len(taken)} pages in {target}", flush=True)
    return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _pages(context: BrowserContext, login: str, password: str) -> Iterator[tuple[str, Page]]:
    """One page for each URL name that can be reached by links, after logging in through the form."""
    page = context.new_page()
    page.goto("/login/")
    yield "login", page
    page.fill("[name=username]", login)
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    waiting, seen = [page.url], {"login", "logout"}
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
        yield name, page
        waiting += [
            urljoin(page.url, str(link)) for link in page.eval_on_selector_all("a[href]", "a => a.map(x => x.href)")
        ]


def _name(address: str) -> str:
    """The URL's name; empty for files, other sites and addresses that are not pages."""
    from django.urls import Resolver404, resolve

    parts = urlsplit(address)
    try:
        return resolve(parts.path).url_name or "" if parts.hostname in {"127.0.0.1", "localhost", "::1"} else ""
    except Resolver404:
        return ""


if __name__ == "__main__":
    sys.exit(main())
