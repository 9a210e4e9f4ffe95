"""What a browser sees of a participant's page: the form, its fields, the scenario, the completion code."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class PageField:
    """A form field; `values` are the options' values as they stand on the page, empty for a written answer."""

    name: str
    required: bool
    multiple: bool = False
    values: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)


@dataclass
class Page:
    """`screen` is the kind of the screen, "" on pages without one; `action` is where its form goes; `outcome` how the
    session ended, "" while it goes on.
    """

    screen: str = ""
    outcome: str = ""
    action: str = ""
    fields: dict[str, PageField] = field(default_factory=dict)
    heading: str = ""
    scenario: str = ""
    code: str = ""


def read_page(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._reading: dict[str, str] = {}  # text that is being read -> the tag whose end ends it
        self._select = ""
        self._optional = False
        self._in_template = False  # what only a script would show

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_template = self._in_template or tag == "template"
        if self._in_template:
            return
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag == "main":
            self.page.outcome = given.get("data-outcome", "")
        elif tag == "form" and "data-screen" in given:
            self.page.screen, self.page.action = given["data-screen"], given.get("action", "")
        elif tag in ("input", "textarea", "select") and given.get("name") and given.get("type") != "hidden":
            self._read_field(tag, given)
        elif tag == "option" and self._select and given.get("value"):
            self.page.fields[self._select].values.append(given["value"])
        elif tag == "h1":
            self._reading["heading"] = tag
        elif "scenario" in classes:
            self._reading["scenario"] = tag
        elif "completion-code" in classes:
            self._reading["code"] = tag
        if tag == "fieldset" or "field" in classes:
            self._optional = False
        elif "field-optional" in classes:
            self._optional = True

    def _read_field(self, tag: str, given: dict[str, str]) -> None:
        name = given["name"]
        found = self.page.fields.setdefault(name, PageField(name, required=not self._optional))
        if tag == "select":
            self._select = name
        elif given.get("type") in ("radio", "checkbox"):
            found.multiple = given["type"] == "checkbox"
            found.values.append(given["value"])
            if "checked" in given:
                found.checked.append(given["value"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self._in_template = False
        self._reading = {text: end for text, end in self._reading.items() if end != tag}
        if tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        for text in self._reading:
            setattr(self.page, text, f"{getattr(self.page, text)} {data.strip()}".strip())
