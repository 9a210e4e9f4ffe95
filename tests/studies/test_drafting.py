"""A draft is begun, edited, copied as the next version, described as a file and registered."""

import json
from hashlib import sha256

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction

from materials.question_rows import QuestionRow
from materials.rows import posted
from studies.design_rows import FactorRow
from studies.draft_form import DraftForm
from studies.draft_values import form_values
from studies.models import Preregistration, Session, Study
from studies.services import (
    StudyNotReadyError,
    change_draft,
    draft_digest,
    enter_pilot,
    file_of,
    open_study,
    preregister,
)
from tests.studies.conftest import CODES, DESIGN, KNOWS

pytestmark = pytest.mark.django_db


def added(name, row, entry):
    """What is posted for a list with this one entry."""
    return {f"{name}-count": "1"} | posted(row(initial=row.values_of(entry), prefix=f"{name}-0"))


RICH = {
    "groups": [["personal", "norm"], ["importance", "why"]],
    "asked_on": {"why": 2},
    "strata": ["country"],
    "factors": [{"name": "framing", "within": True, "levels": [{"code": "a"}, {"code": "b", "text": "Imagine."}]}],
    "screening": [{"question": "country", "allowed": ["Brazil", "United Kingdom"]}],
    "quotas": [{"attributes": {"country": "Brazil"}, "most": 40}, {"attributes": {}, "most": 90}],
    "comprehension": {"questions": [KNOWS], "expected": {"about": "customs"}, "tries": 2},
    "relation": {"name": "nearness", "attribute": "country", "field": "situation"},
}


@pytest.fixture
def editor(researcher, client_as):
    """`editor(study, **typed)`: the answer to the form of the draft as it stands with what is typed instead."""
    client = client_as(researcher)

    def send(study, *, seen="", **typed):
        form = DraftForm(initial=form_values(study) | {"seen": seen or draft_digest(study)}, project=study.project)
        return client.post(address(study, "edit/"), posted(form) | typed)

    return send


def address(study, tail=""):
    return f"/p/{study.project.slug}/studies/{study.pk}/{tail}"


def test_a_new_study_has_defaults_that_can_be_previewed_and_a_slug_of_its_own(
    project, make_dataset, make_instrument, researcher, client_as
):
    dataset, client = make_dataset(project), client_as(researcher)
    typed = {"name": "Tea", "dataset": dataset.pk, "instrument": make_instrument(project).pk, "platform": "none"}
    for _ in range(2):
        answer = client.post(f"/p/{project.slug}/studies/new/", typed, follow=True)
        assert 'title="The page as participants see it"' in answer.content.decode()
    assert sorted(Study.objects.values_list("slug", "version")) == [("tea", 1), ("tea-2", 1)]
    open_study(study=Study.objects.first(), by=None)


def test_a_save_that_changes_nothing_keeps_every_part_of_a_rich_design(draft, editor):
    study = draft(
        design=RICH, filters=[{"kind": "too_fast", "sd": 2.5}], translations={"es": {"texts": {"title": "T"}}}
    )
    before = file_of(study)
    answer = editor(study)
    assert answer.status_code == 302, answer.context["form"].errors
    assert file_of(Study.objects.get()) == before


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (added("factors", FactorRow, {"name": "f", "levels": [{"code": "a"}]}), "Factor 1, Levels: Give at least 2."),
        (
            added("factors", FactorRow, {"name": "f", "levels": [{"code": "a"}, {"code": "é"}]}),
            "Factor 1, Levels: Level 2, Code",
        ),
        (
            added("factors", FactorRow, {"name": "f", "levels": [{"code": "a", "text": "a\x00"}, {"code": "b"}]}),
            "Null characters",
        ),
        ({"asked_on": "why: often"}, "“why: often” should end with a whole number."),
        ({"asked_on": "why: 9"}, "asked_on why must be 1 to 3"),
        ({"quotas": "Brazil: 40"}, "write it as “country = India: 40”"),
        ({"demographics-0-options": "one"}, "Question 1, Answers: Give at least 2."),
        ({"demographics-0-options": "Côte d’Ivoire"}, "needs a code before its text"),
        ({"demographics-0-code": "age_group"}, "Question code age_group is used twice"),
        ({"demographics-0-show_if": "later: yes"}, "depends on later, which is not asked before it"),
        ({"attention_checks-0-expected": "purple"}, "The expected answer is not allowed"),
        ({"relation_attribute": "country"}, "Relation: field of the item"),
        ({"demographics-0-more": "[{"}, "Line 1, column 3: this is not JSON"),
        ({"demographics-0-kind": "mood"}, "mood is not one of the available choices"),
        ({"demographics-0-options": "a\n" * 501}, "There are 501 answers; give at most 500."),
        ({"demographics-0-more": "[1]"}, "Give an object"),
        ({"filters-0-kind": "mood"}, "mood is not one of the available choices"),
        ({"filters-0-kind": "attention"}, "attention is there twice"),
        ({"contact": "a\x00b"}, "Null characters"),
    ],
)
def test_a_fault_is_named_and_what_was_typed_stays(draft, editor, typed, sentence):
    study = draft()
    answer = editor(study, **typed, debrief="Kept while refused.")
    html = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in html
    assert "Kept while refused." in html
    assert file_of(Study.objects.get()) == file_of(study)


def test_answers_by_number_stay_numbers_in_screening_and_quotas(draft, editor):
    study = draft()
    asked = {"kind": "number", "code": "age", "text": "How old are you?", "integer": True}
    typed = added("demographics", QuestionRow, asked) | {"screening": "age: 18, 19", "quotas": "age = 18: 5"}
    assert editor(study, **typed).status_code == 302
    design = Study.objects.get().parsed_design
    assert design.screening[0].allowed == (18, 19)
    assert design.quotas[0].attributes == {"age": 18}


def test_who_saves_second_is_told_what_the_first_saved_and_overwrites_nothing(draft, editor):
    study = draft()
    seen = draft_digest(study)
    assert editor(study, title="By the first").status_code == 302
    answer = editor(study, seen=seen, title="By the second", contact="second@example.org")
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "Somebody else saved here meanwhile: By the first" in html
    assert "second@example.org" in html
    assert html.count("Somebody else saved here meanwhile") == 4  # at the title and the contact, there and on top
    first = Study.objects.get()
    assert first.texts["title"] == "By the first"
    assert answer.context["form"]["seen"].value() == draft_digest(first)


def test_a_save_ends_trial_runs_of_what_the_draft_was(draft, editor):
    study = draft()
    enter_pilot(study, token="t")
    editor(study, title="Other")
    assert not Session.objects.exists()


def test_the_preview_shows_what_is_typed_and_what_is_missing_and_stores_nothing(draft, editor):
    study = draft(translations={"es": {}})
    typed = {"consent": "We store *nothing yet*.", "code_completed": ""}
    html = editor(study, preview="1", page="0", page_language="", **typed).content.decode()
    assert "&lt;em&gt;nothing yet&lt;/em&gt;" in html
    assert "texts &gt; consent" in html
    assert "There is no completion code for the outcome completed" in html
    ending = editor(study, preview="1", page="completed").content.decode()
    assert CODES["completed"] in ending
    assert file_of(Study.objects.get()) == file_of(study)


def test_an_open_study_is_not_edited_but_copied_once(study, editor, researcher, client_as):
    assert editor(study, title="Other").status_code == 302
    assert Study.objects.get().texts["title"] == study.texts["title"]
    client = client_as(researcher)
    for _ in range(2):
        client.post(address(study, "new-version/"))
    draft = Study.objects.get(version=2)
    assert file_of(draft) == file_of(study)
    change_draft(study=draft, seen=draft_digest(draft), by=None, design=DESIGN | {"items_each": 2})
    html = client.get(address(draft, "design/")).content.decode()
    assert "<del>3</del>" in html
    assert "?pilot=" in html


@pytest.mark.parametrize("field", ["file", "study"])
def test_a_download_makes_the_study_again(study, researcher, client_as, field):
    client = client_as(researcher)
    text = client.get(address(study, "file/")).content
    given = SimpleUploadedFile("study.json", text) if field == "file" else text.decode()
    answer = client.post(f"/p/{study.project.slug}/studies/new/file/", {field: given})
    assert answer.status_code == 302
    assert file_of(Study.objects.get(version=2)) == json.loads(text)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "Choose a study&#x27;s file, or paste its text."),
        (b"\xff\xfe", "The file is no UTF-8 text"),
        (b"[1,", "this is not JSON"),
        (b'{"name": "x"}', "At slug: it is missing"),
        (b" " * 2_000_001, "larger than 2 MB"),
    ],
)
def test_a_file_that_is_no_study_makes_nothing(project, researcher, client_as, content, sentence):
    given = {"file": SimpleUploadedFile("study.json", content)} if content else {}
    answer = client_as(researcher).post(f"/p/{project.slug}/studies/new/file/", given)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Study.objects.exists()


def test_a_draft_without_completion_codes_can_be_tried_out_and_not_opened(draft, researcher, client_as):
    study = draft(completion_codes={})
    assert "?pilot=" in client_as(researcher).get(address(study, "design/")).content.decode()
    assert enter_pilot(study, token="t").session.pilot
    with pytest.raises(StudyNotReadyError, match="no completion code"):
        open_study(study=study, by=None)


def test_a_record_holds_its_hash_and_never_changes(study, researcher, client_as):
    client = client_as(researcher)
    client.post(address(study, "preregister/"), {"planned_report": "Means by country."}, follow=True)
    record = Preregistration.objects.get()
    text = client.get(address(study, f"preregistrations/{record.pk}/file/")).content
    assert sha256(text).hexdigest() == record.digest
    assert json.loads(text)["study"] == file_of(study)
    html = client.get(address(study, f"preregistrations/{record.pk}/")).content.decode()
    assert record.digest in html
    with pytest.raises(IntegrityError), transaction.atomic():
        Preregistration.objects.update(digest="0" * 64)


def test_a_record_says_when_the_draft_has_changed_since(draft, researcher, client_as):
    study = draft()
    record = preregister(study=study, planned_report="Means.", by=None)
    change_draft(study=study, seen=draft_digest(study), by=None, name="Other")
    html = client_as(researcher).get(address(study, f"preregistrations/{record.pk}/")).content.decode()
    assert "The draft was changed after this record was made." in html


def test_line_ends_of_browsers_change_no_text(draft, editor):
    study = draft(texts={"consent": "One.\n\nTwo.\n"})
    editor(study, consent="One.\r\n\r\nTwo.\r\n")
    assert Study.objects.get().texts["consent"] == "One.\n\nTwo.\n"
