"""The places of a study whose words a translation may hold: a table from which it is written. Pure code."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from materials.questions import text_fields
from studies.translating import ENGLISH, Study, Translation, base_language, phrase_languages

Path = tuple[str, ...]
GROUPS = {
    "texts": "Texts",
    "item_fields": "Fields of the items that hold the same in this language",
    "headings": "Headings above parts of the scenario",
    "questions": "Questions",
    "levels": "Levels of factors",
    "phrases": "Words of the pages",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the words stand in `Study.translations` below the language, what the study says there, and in what form.

    `form` is "line", "text" (of several lines) or "lines" (a list, one a line).
    """

    path: Path
    source: str
    form: str = "line"

    @property
    def label(self) -> str:
        words = ": ".join(part.replace("_", " ") for part in self.path[1:])
        return words[:1].upper() + words[1:]


def places_of(study: Study, language: str) -> Iterator[Place]:
    """Every place with something to translate to this language.

    The words of the pages are among them where the language has no file of them; else those that the translation has.
    """
    for name, text in study.parsed_texts.model_dump().items():
        if text:
            yield Place(("texts", name), text, "line" if name == "title" else "text")
    shown = study.parsed_design.item_template.item_fields
    questions = study.questions.values()
    for field in dict.fromkeys([*(entry.field for entry in shown), *text_fields(questions)]):
        yield Place(("item_fields", field), field)
    yield from (Place(("headings", entry.field), entry.label) for entry in shown if entry.label)
    for question in questions:
        yield from _in_question(question)
    for factor in study.parsed_design.factors:
        for level in factor.levels:
            if level.text:
                yield Place(("levels", factor.name, level.code), level.text, "text")
    written = base_language(language) in phrase_languages()
    own = study.parsed_translations.get(language, Translation()).phrases
    for name, phrase in ENGLISH.items():
        if name in own or not written:
            yield Place(("phrases", name), phrase)


def _in_question(question: Any) -> Iterator[Place]:
    start = ("questions", question.code)
    yield Place((*start, "text"), question.text, "text")
    for name in ("help", "reason", "low_label", "high_label"):
        if text := getattr(question, name, ""):
            yield Place((*start, name), text)
    options = (*getattr(question, "options", ()), *(question.labels if question.kind == "span" else ()))
    for option in options:
        if not getattr(option, "text_field", ""):
            yield Place((*start, "options", option.code), option.text)
        if option.help:
            yield Place((*start, "option_help", option.code), option.help)
    if question.kind == "scale" and question.labels:
        yield Place((*start, "labels"), "\n".join(question.labels), "lines")


def words_at(translation: Mapping[str, Any], place: Place) -> str:
    """What the translation says at the place; "" for nothing."""
    found: Any = translation
    for part in place.path:
        found = found.get(part, "") if isinstance(found, Mapping) else ""
    return "\n".join(found) if place.form == "lines" and found else str(found)


def translation_of(words: Mapping[Place, str]) -> dict[str, Any]:
    """The translation that says these words; what is empty is left out."""
    translation: dict[str, Any] = {}
    for place, text in words.items():
        if not text:
            continue
        inner = translation
        for part in place.path[:-1]:
            inner = inner.setdefault(part, {})
        inner[place.path[-1]] = text.splitlines() if place.form == "lines" else text
    return translation
