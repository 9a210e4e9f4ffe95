"""A study in one of its languages: its texts, questions and headings, and the phrases of the pages around them.

`Study.translations` holds, by language, what the study itself says; what is not there is shown as the study has it:

    {"es": {
      "texts": {"title": "...", "consent": "..."},
      "questions": {"personal": {"text": "...", "help": "...", "reason": "...", "options": {"yes": "Sí"},
                                 "option_help": {"yes": "..."}, "low_label": "...", "high_label": "...",
                                 "labels": ["...", "..."]}},
      "item_fields": {"situation": "situation_es"},    fields of the item that hold the same in this language
      "headings": {"cultural_expectation": "..."},     by the field above which they stand
      "levels": {"framing": {"a": "..."}},             texts of the levels of factors
      "phrases": {"continue": "..."}                   instead of the files in `phrases`, or for a language without one
    }}
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, Protocol

from pydantic import ValidationError, field_validator

from materials.question_kinds import ChoiceQuestion, Frozen, Option
from studies.design import LANGUAGE, Design, DesignError, ItemField, Level, Texts

RIGHT_TO_LEFT = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
MOST_NAMED = 5
_FILES = Path(__file__).parent / "phrases"


@lru_cache
def written_phrases(language: str) -> Mapping[str, str]:
    """The phrases of the pages in a language, by name; none for a language that they are not written in."""
    if language not in phrase_languages():
        return {}
    phrases: dict[str, str] = json.loads((_FILES / f"{language}.json").read_text("utf-8"))
    return phrases


@lru_cache
def phrase_languages() -> tuple[str, ...]:
    """The languages that the pages' phrases are written in."""
    return tuple(sorted(path.stem for path in _FILES.glob("*.json")))


def base_language(language: str) -> str:
    """The language without its region: "pt" of "pt-BR"."""
    return language.lower().partition("-")[0]


ENGLISH = written_phrases("en")
_NAMES = {phrase: name for name, phrase in ENGLISH.items()}


PLATFORM_ID_QUESTION = ChoiceQuestion(
    code="platform_id",
    text=ENGLISH["id_question"],
    options=tuple(Option(code=code, text=ENGLISH[code]) for code in ("yes", "no")),
)


def placeholders(phrase: str) -> set[str]:
    """The names in braces; raises ValueError where braces do not match."""
    return {name for _, name, _, _ in Formatter().parse(phrase) if name is not None}


class QuestionWords(Frozen):
    """What a question says in another language; options by their code."""

    text: str = ""
    help: str = ""
    reason: str = ""
    options: dict[str, str] = {}
    option_help: dict[str, str] = {}
    low_label: str = ""
    high_label: str = ""
    labels: tuple[str, ...] = ()


class Translation(Frozen):
    texts: dict[str, str] = {}
    questions: dict[str, QuestionWords] = {}
    item_fields: dict[str, str] = {}
    headings: dict[str, str] = {}
    levels: dict[str, dict[str, str]] = {}
    phrases: dict[str, str] = {}

    @field_validator("texts")
    @classmethod
    def _are_known_texts(cls, texts: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(texts.keys() - Texts.model_fields.keys()):
            raise ValueError(f"a study has no text {', '.join(unknown)}")
        return texts

    @field_validator("phrases")
    @classmethod
    def _fit_the_pages(cls, phrases: dict[str, str]) -> dict[str, str]:
        for name, phrase in phrases.items():
            if name not in ENGLISH:
                raise ValueError(f"the pages have no phrase {name}")
            if not placeholders(phrase) <= placeholders(ENGLISH[name]):
                raise ValueError(f"the phrase {name} may hold {{...}} only as the English one does: {ENGLISH[name]}")
        return phrases


def parse_translations(data: Any) -> dict[str, Translation]:
    """The translations by language; raises DesignError with every fault and its place."""
    if not isinstance(data, Mapping):
        raise DesignError("Translations, at top: give an object with one entry for each language.")
    parsed: dict[str, Translation] = {}
    faults: list[str] = []
    for language, translation in data.items():
        if not re.fullmatch(LANGUAGE, str(language)):
            faults.append(f"Translations, at {language}: give a language code such as es or pt-BR.")
            continue
        try:
            parsed[str(language)] = Translation.model_validate(translation)
        except ValidationError as error:
            places = [(" > ".join(map(str, (language, *fault["loc"]))), fault["msg"]) for fault in error.errors()]
            faults += [f"Translations, at {place}: {what}." for place, what in places]
    if faults:
        raise DesignError(" ".join(faults))
    return parsed


class Study(Protocol):
    """What of a study has words."""

    @property
    def parsed_design(self) -> Design: ...
    @property
    def parsed_texts(self) -> Texts: ...
    @property
    def parsed_translations(self) -> dict[str, Translation]: ...
    @property
    def questions(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Translated:
    """A study in one language."""

    language: str
    texts: Texts
    phrases: Mapping[str, str]
    translation: Translation

    def question(self, question: Any) -> Any:
        """The question with its words in this language; passages are marked in the text that the study names."""
        if question is PLATFORM_ID_QUESTION:
            words = QuestionWords(
                text=self.phrases["id_question"], options={code: self.phrases[code] for code in ("yes", "no")}
            )
        else:
            words = self.translation.questions.get(question.code, QuestionWords())
        own = {name: getattr(words, name) for name in ("text", "help", "reason", "low_label", "high_label")}
        changed: dict[str, Any] = {name: text for name, text in own.items() if text and hasattr(question, name)}
        if hasattr(question, "options"):
            changed["options"] = tuple(self._option(option, words) for option in question.options)
        elif question.kind == "span":
            changed["labels"] = tuple(self._option(label, words) for label in question.labels)
        elif question.kind == "pairwise":
            changed["first_field"], changed["second_field"] = map(
                self.field, (question.first_field, question.second_field)
            )
        elif question.kind == "scale" and words.labels:
            changed["labels"] = words.labels
        return question.model_copy(update=changed)

    def _option(self, option: Any, words: QuestionWords) -> Any:
        """An option or a label; one with a text of its own for this language needs none of the item."""
        changed = {"help": words.option_help.get(option.code) or option.help}
        if text := words.options.get(option.code):
            changed["text"] = text
        elif getattr(option, "text_field", ""):
            changed["text_field"] = self.field(option.text_field)
        return option.model_copy(update=changed)

    def field(self, name: str) -> str:
        """The field of the item that holds in this language what this one holds."""
        return self.translation.item_fields.get(name, name)

    def item_field(self, entry: ItemField) -> ItemField:
        """A part of the scenario with its heading in this language, from the field in this language."""
        label = self.translation.headings.get(entry.field, entry.label)
        return entry.model_copy(update={"field": self.field(entry.field), "label": label})

    def level_text(self, factor: str, level: Level) -> str:
        """What a level of the factor says above the scenario."""
        return self.translation.levels.get(factor, {}).get(level.code, level.text)

    def fault(self, sentence: str, kind: str) -> str:
        """What is wrong with an answer to a question of this kind; `sentence` says it in English."""
        if base_language(self.language) == "en":
            return sentence
        name = _NAMES.get(sentence, f"wrong_{kind}")
        return self.phrases.get(name, self.phrases["wrong_choice"])


def translated(study: Study, language: str) -> Translated:
    """The study in this language; in its own where the language is none of the study's."""
    own = study.parsed_design.language
    translation = study.parsed_translations.get(language)
    if translation is None:
        return Translated(own, study.parsed_texts, phrases_of(own), Translation())
    texts = study.parsed_texts.model_copy(update={name: text for name, text in translation.texts.items() if text})
    return Translated(language, texts, {**phrases_of(language), **translation.phrases}, translation)


@lru_cache
def phrases_of(language: str) -> Mapping[str, str]:
    """All phrases of the pages, in English those that are not written in this language."""
    return {**ENGLISH, **written_phrases(base_language(language))}


def direction(language: str) -> str:
    """In which direction the language is written, as HTML's `dir` has it."""
    return "rtl" if base_language(language) in RIGHT_TO_LEFT else "ltr"


def language_name(language: str, translation: Translation | None = None) -> str:
    """What its speakers call the language; its code where nobody has written that down."""
    own = translation.phrases.get("language") if translation else ""
    return own or written_phrases(base_language(language)).get("language", language)


def choose_language(languages: Iterable[str], wanted: Iterable[str]) -> str:
    """Of these languages the first that is wanted, exactly or without its region; the first of all when none is.

    >>> choose_language(["en", "pt-BR", "es"], ["fr", "pt", "es"])
    'pt-BR'
    """
    known = list(languages)
    for language in map(str.lower, wanted):
        for same in (str.lower, base_language):
            if found := next((name for name in known if same(name) == same(language)), None):
                return found
    return known[0]


def missing_words(study: Study) -> Iterator[str]:
    """A sentence for each language that does not have all of the study's texts, questions and options."""
    for language, places in missing_places(study).items():
        if places:
            more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
            shown = ", ".join(places[:MOST_NAMED]) + more
            yield f"The translation {language} lacks {shown}: write them, or take the language out."


def missing_places(study: Study) -> dict[str, list[str]]:
    """By language, where in its translation something of the study is missing, such as "texts > consent"."""
    missing = {}
    for language, translation in study.parsed_translations.items():
        texts = study.parsed_texts.model_dump()
        places = [f"texts > {name}" for name, text in texts.items() if text and not translation.texts.get(name)]
        for question in study.questions.values():
            places += [f"questions > {place}" for place in _missing_in(question, translation)]
        for factor in study.parsed_design.factors:
            own = translation.levels.get(factor.name, {})
            places += [
                f"levels > {factor.name} > {level.code}"
                for level in factor.levels
                if level.text and not own.get(level.code)
            ]
        headed = [entry.field for entry in study.parsed_design.item_template.item_fields if entry.label]
        places += [f"headings > {field}" for field in headed if not translation.headings.get(field)]
        missing[language] = places
    return missing


def _missing_in(question: Any, translation: Translation) -> Iterator[str]:
    words = translation.questions.get(question.code, QuestionWords())
    if not words.text:
        yield f"{question.code} > text"
    for option in (*getattr(question, "options", ()), *(question.labels if question.kind == "span" else ())):
        fixed = not getattr(option, "text_field", "") or option.text_field not in translation.item_fields
        if fixed and not words.options.get(option.code):
            yield f"{question.code} > options > {option.code}"
    for name in ("help", "reason", "low_label", "high_label"):
        if getattr(question, name, "") and not getattr(words, name):
            yield f"{question.code} > {name}"
    if question.kind == "scale" and len(words.labels) != len(question.labels):
        yield f"{question.code} > labels"
