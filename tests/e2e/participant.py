"""Taking a study with a pointer, one page at a time; for tests and pictures."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page

MOST_SCREENS = 30
RIGHT_ANSWER = "blue"  # of the demo's attention check

Look = Callable[[Page], None]


def screen(page: Page) -> str:
    """The kind of the screen, "" at the end."""
    form = page.locator("form[data-screen]")
    return form.get_attribute("data-screen") or "" if form.count() else ""


def answer(page: Page) -> None:
    """Answer what must be answered, the attention check rightly, and send it."""
    if screen(page) == "consent":
        send(page, page.locator("[name=consent][value=yes]"))
        return
    for group in page.locator("fieldset.choices:not(:has(.field-optional))").all():
        right = group.locator(f".choice:has([value={RIGHT_ANSWER}])")
        (right if screen(page) == "attention" else group.locator(".choice")).first.click()
    for select in page.locator("select").all():
        select.select_option(index=1)
    send(page)


def send(page: Page, button: Locator | None = None) -> None:
    """Click on the button, the form's where none is given, and wait for the page that comes next."""
    with page.expect_event("load"):
        (button or page.locator("form[data-screen] button")).click()


def walk(page: Page, look: Look = lambda page: None, send: Look = answer) -> list[str]:
    """From the page that is open to the end; `look` sees every page. The kinds of the screens on the way."""
    kinds = []
    while kind := screen(page):
        look(page)
        kinds.append(kind)
        assert len(kinds) < MOST_SCREENS, kinds
        address, heading = page.url, page.locator("h1").inner_text()
        send(page)
        assert (page.url, page.locator("h1").inner_text(), screen(page)) != (address, heading, kind), "not accepted"
    look(page)
    return kinds
