"""The browser fixtures themselves: they find faults, and log people in."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from projects.models import User
from tests.e2e import browser

Login = Callable[[Page, User], None]


def test_a_page_behind_the_log_in_opens(page: Page, login: Login, researcher: User) -> None:
    page.goto("/password/")
    assert "/login/" in page.url
    login(page, researcher)
    page.goto("/password/")
    assert page.url.endswith("/password/")


def test_log_in_form_has_no_barriers(page: Page, axe: Callable[[Page], None]) -> None:
    page.goto("/login/")
    axe(page)


def test_axe_finds_a_barrier(page: Page, axe: Callable[[Page], None]) -> None:
    page.goto("/login/")
    page.evaluate("document.body.append(Object.assign(document.createElement('img'), {src: '/static/img/icon.svg'}))")
    with pytest.raises(AssertionError, match="image-alt"):
        axe(page)


def test_faults_in_the_console_can_be_allowed(new_page: Callable[..., Page]) -> None:
    page = new_page(allow=["404", "Content Security Policy"])
    assert page.goto("/no-such-page/").status == 404
    page.evaluate("document.head.append(Object.assign(document.createElement('script'), {textContent: 'a = 1'}))")


def test_without_a_browser_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("CI", "false")
    with pytest.raises(browser.NoBrowser, match="no Chromium on PATH; install one or set CHROMIUM"):
        browser.find_chromium()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(RuntimeError, match="`apt-get update` failed"):
        browser.find_chromium()
