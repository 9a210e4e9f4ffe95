"""One page of a draft, saved or not, as a participant would see it. Nothing of it is stored."""

from dataclasses import dataclass

from django.template.loader import render_to_string

from projects.markdown import render_markdown
from studies.draft_form import ENDS
from studies.models import Screen, Study
from studies.pages import language_context, languages_to_choose, screen_context
from studies.services import preview_screens
from studies.translating import translated

FRAMED = {"preview": True, "framed": True}


@dataclass(frozen=True)
class PagePreview:
    """`html` is a document of its own; `page` is that of `pages`, as (value, label), which it shows."""

    html: str
    page: str
    pages: list[tuple[str, str]]
    language: str
    languages: list[tuple[str, str]]


def preview_page(study: Study, page: str, language: str) -> PagePreview:
    """The page with this number or of this end; the first scenario where there is none such.

    Raises DesignError or QuestionError for a study of which no page can be shown.
    """
    screens = preview_screens(study)
    pages = [(str(n), f"{n + 1}. {screen.get_kind_display()}") for n, screen in enumerate(screens)]
    pages += [(end, f"End: {end.replace('_', ' ')}") for end in ENDS]
    if page not in dict(pages):
        page = next(str(n) for n, screen in enumerate(screens) if screen.kind == Screen.Kind.ITEM)
    html = _end(study, page, language) if page in ENDS else _screen(screens[int(page)], language)
    return PagePreview(html, page, pages, language, languages_to_choose(study))


def _screen(screen: Screen, language: str) -> str:
    screen.session.language = language
    template = "consent" if screen.kind == Screen.Kind.CONSENT else "screen"
    return render_to_string(f"studies/participant/{template}.html", screen_context(screen) | FRAMED | {"languages": []})


def _end(study: Study, end: str, language: str) -> str:
    words = translated(study, language)
    context = language_context(words.language, words.phrases) | {
        "study": study,
        "title": words.texts.title,
        "prose": render_markdown(getattr(words.texts, end)),
        "code": study.completion_codes.get(end, ""),
    }
    return render_to_string(f"studies/participant/{end}.html", context | FRAMED)
