"""What a participant's page needs: its questions, the scenario, texts, and the language of all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation.trans_real import parse_accept_lang_header

from materials.rich_text import render_rich_text
from projects.markdown import render_markdown
from responses.showing import value_text
from studies.models import Screen, Study
from studies.published import find_session
from studies.question_fields import form_fields, in_matrices
from studies.services.entry import id_ending
from studies.services.laying_out import item_number, questions_of
from studies.translating import (
    Translated,
    choose_language,
    direction,
    language_name,
    phrase_languages,
    phrases_of,
    translated,
)

SHORT_SCENARIO = 600  # characters that leave half of a large window for the questions


@dataclass(frozen=True)
class ScenarioPart:
    label: str
    text: str
    html: str = ""


def scenario(screen: Screen, words: Translated) -> list[ScenarioPart]:
    """The parts of the item that the design shows; a field that the item lacks is left out."""
    if screen.item is None:
        return []
    design = screen.session.study.parsed_design
    shown = map(words.item_field, design.fields_shown(design.levels(_level_codes(screen))))
    texts = [(entry, str(screen.item.content.get(entry.field, ""))) for entry in shown]
    return [
        ScenarioPart(entry.label, text, render_rich_text(text) if entry.format == "markdown" else "")
        for entry, text in texts
        if text
    ]


def _level_codes(screen: Screen) -> dict[str, str]:
    """The levels that the screen shows, by factor; none where it has no item."""
    return screen.session.cell | screen.factors if screen.item else {}


def framing(screen: Screen, words: Translated) -> list[SafeString]:
    """What the levels of the factors say above the scenario."""
    codes = _level_codes(screen)
    texts = [
        words.level_text(factor.name, level)
        for factor in screen.session.study.parsed_design.factors
        for level in factor.levels
        if codes.get(factor.name) == level.code
    ]
    return [render_markdown(text) for text in texts if text]


def is_short(parts: Sequence[ScenarioPart]) -> bool:
    """Whether the scenario can stay beside its questions in a large window, shown whole."""
    return sum(len(part.text) for part in parts) <= SHORT_SCENARIO


def prose(screen: Screen, words: Translated) -> SafeString | str:
    """The study's text for a screen that is there to be read."""
    by_kind = {
        Screen.Kind.CONSENT: words.texts.consent,
        Screen.Kind.INSTRUCTIONS: words.texts.instructions,
        Screen.Kind.COMPREHENSION: words.texts.instructions,
        Screen.Kind.DEBRIEF: words.texts.debrief,
    }
    return render_markdown(by_kind.get(Screen.Kind(screen.kind), ""))


def language_context(language: str, phrases: Mapping[str, str]) -> dict[str, Any]:
    """What every page needs to be in one language."""
    return {"phrases": phrases, "language_code": language, "text_direction": direction(language)}


def wanted_languages(request: HttpRequest, named: str) -> list[str]:
    """The language named by the address or the form, then those of the browser's settings, the most wanted first."""
    accepted = parse_accept_lang_header(request.headers.get("Accept-Language", "").lower())
    return [named, *(language for language, _ in accepted)]


def context_without_study(request: HttpRequest, named: str) -> dict[str, Any]:
    """`language_context` of a page that belongs to no study: in any language that the phrases are written in."""
    language = choose_language(["en", *phrase_languages()], wanted_languages(request, named))
    return language_context(language, phrases_of(language))


def context_of_address(request: HttpRequest) -> dict[str, Any]:
    """`language_context` in the language of the address's session or, without one, in one that the browser wants."""
    keys = request.resolver_match.kwargs if request.resolver_match else {}
    session = find_session(keys["key"], keys["session_key"]) if "session_key" in keys else None
    if session is None:
        return context_without_study(request, "")
    words = translated(session.study, session.language)
    return language_context(words.language, words.phrases)


def languages_to_choose(study: Study) -> list[tuple[str, str]]:
    """The study's languages as (code, name); none where there is nothing to choose."""
    named = [(code, language_name(code, study.parsed_translations.get(code))) for code in study.languages]
    return named if len(named) > 1 else []


def screen_context(screen: Screen) -> dict[str, Any]:
    study = screen.session.study
    words = translated(study, screen.session.language)
    fields, parts = form_fields(screen, words), scenario(screen, words)
    errors = [{"text": f"{field.legend} {field.error}", "target": field.id} for field in fields if field.error]
    if "consent" in screen.refused.get("errors", {}):
        errors.append({"text": words.phrases["missing_consent"], "target": "consent"})
    return language_context(words.language, words.phrases) | {
        "study": study,
        "languages": languages_to_choose(study),
        "title": words.texts.title,
        "design": study.parsed_design,
        "screen": screen,
        "page_number": screen.position + 1,
        "page_count": study.page_count,
        "item_number": item_number(screen) if screen.item else None,
        "groups": in_matrices(fields),
        "framing": framing(screen, words),
        "id_ending": id_ending(screen.session) if screen.kind == Screen.Kind.PLATFORM_ID else "",
        "scenario": parts,
        "scenario_pinned": is_short(parts),
        "prose": prose(screen, words),
        "errors": errors,
    }


def stored_answers(screen: Screen) -> list[tuple[str, str]]:
    """What a screen's stored answers say, as (question, answer) in the session's language."""
    content = screen.item.content if screen.item else {}
    words = translated(screen.session.study, screen.session.language)
    if screen.kind == Screen.Kind.CONSENT:
        return [(words.texts.title, words.phrases["agree" if screen.answers["consent"] == "yes" else "disagree"])]
    return [
        (question.text, value_text(question, screen.answers[question.code], content))
        for question in map(words.question, questions_of(screen))
        if question.code in screen.answers
    ]
