"""A real Chromium on the live server; errors in its console fail the test, whatever the test looks at."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from django.urls import get_resolver
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from evaluation.vega_bundle import write_vega_bundle
from projects.models import User
from tests.e2e.browser import NoBrowser, find_chromium, flags

HERE = Path(__file__).parent
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Playwright's synchronous interface runs an event loop, in which Django otherwise refuses to query.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


# Playwright keeps an event loop running in its thread while it is open, in which no other module's asyncio.run works.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        path = find_chromium()
    except NoBrowser as reason:
        pytest.skip(str(reason))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=flags())
        # Importing every view takes seconds on a busy machine; the first page's time limit must not pay for it.
        assert get_resolver().url_patterns
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def _vega_bundle() -> None:
    """Figures in pages need the bundle that `serve` and the Docker image build."""
    bundle = Path(settings.BASE_DIR) / "static" / "vendor" / "vega.js"
    if not bundle.exists():
        write_vega_bundle(bundle)


@pytest.fixture
def new_page(browser: Browser, live_server: LiveServer, _vega_bundle: None) -> Iterator[Callable[..., Page]]:
    """`new_page(allow=["404"], color_scheme="dark", viewport={...})`: a page in a context (cookies) of its own.

    Addresses are relative to the live server. After the test every console error and uncaught error that contains none
    of the texts in `allow` fails it; violations of the content security policy are console errors too. The other
    arguments are Playwright's for `new_context`.
    """
    faults: list[str] = []
    contexts = []

    def make(allow: Sequence[str] = (), **options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()

        def note(text: str) -> None:
            if not any(allowed in text for allowed in allow):
                faults.append(f"{page.url}: {text}")

        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: note(f"uncaught {error}"))
        return page

    yield make
    for context in contexts:
        context.close()
    if faults:
        pytest.fail("Errors in the browser:\n" + "\n".join(faults), pytrace=False)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()


@pytest.fixture
def login(live_server: LiveServer) -> Callable[[Page, User], None]:
    """`login(page, user)`: the page's context is logged in, without walking through the form."""

    def log_in(page: Page, user: User) -> None:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        name = settings.SESSION_COOKIE_NAME
        page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])

    return log_in


@pytest.fixture
def axe() -> Callable[..., None]:
    """`axe(page)`: no violation of WCAG 2.2 AA or axe's best practices; `within` narrows it to a selector."""

    def check(page: Page, within: str | None = None) -> None:
        options = {"runOnly": {"type": "tag", "values": AXE_TAGS}}
        results = Axe().run(page, context=within, options=options)
        lines = [_violation(violation) for violation in results.response["violations"]]
        assert not lines, f"axe on {page.url}:\n" + "\n".join(lines)

    return check


def _violation(violation: dict[str, Any]) -> str:
    nodes = [f"    {' '.join(node['target'])}: {node['html'][:160]}" for node in violation["nodes"][:5]]
    return "\n".join([f"  {violation['id']} ({violation['impact']}): {violation['help']}", *nodes])
