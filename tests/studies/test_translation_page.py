"""A draft's texts are written in other languages on a page of their own."""

import pytest

from studies.models import Study
from studies.services import change_draft, draft_digest
from studies.translating import missing_places
from studies.translation_places import places_of, translation_of, words_at
from tests.studies.conftest import QUESTIONS

pytestmark = pytest.mark.django_db
LABELLED = {"kind": "scale", "code": "mood", "text": "Mood?", "minimum": 1, "maximum": 2, "labels": ["low", "high"]}
FACTOR = {"name": "framing", "levels": [{"code": "a"}, {"code": "b", "text": "Imagine."}]}


def address(study, tail=""):
    return f"/p/{study.project.slug}/studies/{study.pk}/languages/{tail}"


def rich(draft, **given):
    return draft(questions=[*QUESTIONS, LABELLED], design={"factors": [FACTOR]}, **given)


def filled(study, language):
    """What is posted with every place translated; options from the item come from their field."""
    return {"/".join(place.path): place.source.upper() for place in places_of(study, language)}


def test_a_language_is_written_beside_its_source_until_nothing_is_missing(draft, researcher, client_as):
    study, client = rich(draft), client_as(researcher)
    answer = client.get(address(study), {"language": "es"})
    assert answer.url == address(study, "es/")
    html = client.get(answer.url).content.decode()
    assert "We store **your answers**." in html
    answer = client.post(answer.url, filled(study, "es") | {"seen": draft_digest(study)})
    assert answer.status_code == 302, answer.context["form"].errors
    saved = Study.objects.get()
    assert missing_places(saved) == {"es": []}
    assert saved.translations["es"]["questions"]["mood"] == {"text": "MOOD?", "labels": ["LOW", "HIGH"]}
    assert saved.translations["es"]["levels"] == {"framing": {"b": "IMAGINE."}}
    assert ">0</td>" in client.get(address(study)).content.decode()
    client.post(address(study, "es/"), {"seen": draft_digest(saved), "remove": "1"})
    assert Study.objects.get().translations == {}


def test_what_is_typed_shows_in_the_preview_and_is_not_stored(draft, researcher, client_as):
    study = draft()
    typed = {"texts/consent": "Guardamos *poco*.", "preview": "1", "page": "0", "seen": draft_digest(study)}
    html = client_as(researcher).post(address(study, "es/"), typed).content.decode()
    assert "&lt;em&gt;poco&lt;/em&gt;" in html
    assert Study.objects.get().translations == {}


def test_a_language_without_words_of_the_pages_can_write_them(draft, researcher, client_as):
    study, client = draft(), client_as(researcher)
    seen = {"seen": draft_digest(study)}
    answer = client.post(address(study, "sw/"), seen | {"phrases/page_of": "{page} ya {wote}"})
    assert answer.status_code == 422
    assert "only as the English one does" in answer.content.decode()
    client.post(address(study, "sw/"), seen | {"phrases/continue": "Endelea"})
    assert Study.objects.get().translations == {"sw": {"phrases": {"continue": "Endelea"}}}
    assert "Words of the pages" not in client.get(address(study, "fr/")).content.decode()


def test_who_saves_second_overwrites_nothing(draft, researcher, client_as):
    study = draft()
    seen = draft_digest(study)
    change_draft(study=study, seen=seen, by=None, name="Other")
    answer = client_as(researcher).post(address(study, "es/"), {"texts/title": "Costumbres", "seen": seen})
    assert answer.status_code == 422
    assert "Costumbres" in answer.content.decode()
    assert answer.context["form"]["seen"].value() == draft_digest(Study.objects.get())
    assert Study.objects.get().translations == {}


@pytest.mark.parametrize(
    ("code", "sentence"), [("english!", "Give a language code"), ("en", "The study itself is in en")]
)
def test_no_language_is_refused_in_a_sentence(draft, researcher, client_as, code, sentence):
    answer = client_as(researcher).get(address(draft()), {"language": code})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()


def test_an_open_study_is_not_translated(study, researcher, client_as):
    for tail in ("", "es/"):
        answer = client_as(researcher).get(address(study, tail), follow=True)
        assert "make a new version" in answer.content.decode()


def test_a_translation_is_read_from_its_places_as_it_was(draft):
    said = {
        "texts": {"title": "T"},
        "questions": {"mood": {"text": "M", "labels": ["b", "a"]}, "country": {"options": {"Brazil": "Brasil"}}},
        "item_fields": {"situation": "situation_es"},
        "headings": {"expectation": "Usual"},
        "levels": {"framing": {"b": "I."}},
        "phrases": {"continue": "Siga"},
    }
    study = rich(draft, translations={"es": said})
    assert translation_of({place: words_at(said, place) for place in places_of(study, "es")}) == said
