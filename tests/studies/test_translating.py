"""A study in its languages: what is translated, what is missing, and which language a person gets."""

import pytest

from materials.models import Instrument
from studies.design import DesignError
from studies.models import Study
from studies.translating import (
    ENGLISH,
    PLATFORM_ID_QUESTION,
    choose_language,
    direction,
    missing_words,
    parse_translations,
    phrase_languages,
    phrases_of,
    placeholders,
    translated,
    written_phrases,
)
from tests.studies.conftest import DEMOGRAPHICS, DESIGN, TEXTS
from tests.studies.translated import ARABIC, QUESTIONS


def study_of(instrument, translations, **design):
    """Not saved: nothing here asks the database."""
    return Study(
        name="Customs",
        texts=TEXTS,
        design=DESIGN | design,
        demographics=DEMOGRAPHICS,
        instrument=instrument,
        translations=translations,
    )


@pytest.fixture
def instrument():
    return Instrument(name="customs", questions=QUESTIONS)


@pytest.mark.parametrize("language", phrase_languages())
def test_phrases_are_complete_and_keep_their_placeholders(language):
    phrases = written_phrases(language)
    assert phrases.keys() == ENGLISH.keys()
    assert all(phrases.values())
    assert {name: placeholders(phrase) for name, phrase in phrases.items()} == {
        name: placeholders(phrase) for name, phrase in ENGLISH.items()
    }


def test_a_question_is_asked_in_the_language_and_keeps_its_codes(instrument):
    words = translated(study_of(instrument, {"ar": ARABIC}), "ar")
    choice, _, scale, _ = (words.question(question) for question in instrument.questionnaire.questions)
    assert choice.text == "ماذا كنت ستفعل؟"
    assert [(option.code, option.label({})) for option in choice.options][2] == ("neither", "لا هذا ولا ذاك")
    assert (scale.low_label, scale.high_label, scale.points) == ("أبدًا", "جدًا", range(1, 6))
    assert words.question(PLATFORM_ID_QUESTION).text == "هل هذا معرّفك؟"
    assert (words.texts.title, words.texts.completed) == ("عادات يومية", "")


def test_texts_of_the_item_come_from_the_fields_of_the_language(instrument):
    fields = {"option_culture": "option_culture_ar", "situation": "situation_ar"}
    questions = {**ARABIC["questions"], "personal": {"text": "ماذا كنت ستفعل؟"}}
    study = study_of(instrument, {"ar": {**ARABIC, "questions": questions, "item_fields": fields}})
    words = translated(study, "ar")
    option = words.question(instrument.questionnaire["personal"]).options[0]
    assert option.label({"option_culture": "Do A.", "option_culture_ar": "أفعل"}) == "أفعل"
    shown = [words.item_field(entry) for entry in study.parsed_design.item_template.item_fields]
    assert [(entry.field, entry.label) for entry in shown] == [("situation_ar", ""), ("expectation", "المعتاد هناك")]


def test_a_language_that_the_study_lacks_is_its_own(instrument):
    study = study_of(instrument, {"ar": ARABIC}, language="es")
    words = translated(study, "xx")
    assert (words.language, words.texts.title, words.phrases["continue"]) == ("es", TEXTS["title"], "Continuar")


def test_faults_are_told_in_the_language(instrument):
    study = study_of(instrument, {"ar": ARABIC})
    arabic = translated(study, "ar")
    assert arabic.fault(ENGLISH["missing_text"], "text") == "اكتب إجابة."
    assert arabic.fault("Give a number of at most 5.", "number") == phrases_of("ar")["wrong_number"]
    assert arabic.fault("'x' is not an option; use one of a, b.", "scale") == phrases_of("ar")["wrong_choice"]
    assert translated(study, "en").fault("Give a number of at most 5.", "number") == "Give a number of at most 5."


def test_what_a_translation_lacks_is_named(instrument):
    assert list(missing_words(study_of(instrument, {"ar": ARABIC}))) == []
    poor = {
        **ARABIC,
        "headings": {},
        "questions": {**ARABIC["questions"], "clear": {"text": "؟", "low_label": "أبدًا"}},
    }
    assert list(missing_words(study_of(instrument, {"ar": poor}))) == [
        "The translation ar lacks questions > clear > high_label, headings > expectation: write them, or take the "
        "language out."
    ]


@pytest.mark.parametrize(
    ("translations", "sentence"),
    [
        ({"de": {"texts": {"welcome": "x"}}}, "at de > texts: .*no text welcome"),
        ({"de": {"phrases": {"nope": "x"}}}, "no phrase nope"),
        ({"de": {"phrases": {"page_of": "{0} von {total}"}}}, "page_of may hold"),
        ({"de": {"phrases": {"page_of": "{page"}}}, "at de > phrases"),
        ({"de": {"question": {}}}, "at de > question"),
        ({"in German": {}}, "language code"),
        (["de"], "an object"),
    ],
)
def test_a_translation_that_cannot_be_used_is_named(translations, sentence):
    with pytest.raises(DesignError, match=sentence):
        parse_translations(translations)


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (["ar-EG", "en"], "ar"),
        (["", "pt-PT"], "pt-BR"),
        (["PT-br"], "pt-BR"),
        (["fr", "*"], "en"),
        ([], "en"),
        (["<script>"], "en"),
    ],
)
def test_the_first_wanted_language_that_is_there(wanted, chosen):
    assert choose_language(["en", "ar", "pt-BR"], wanted) == chosen


def test_directions():
    assert [direction(language) for language in ("ar-EG", "he", "en", "pt-BR")] == ["rtl", "rtl", "ltr", "ltr"]
