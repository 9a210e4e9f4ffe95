import pytest
from django.db import DatabaseError

from projects.crypto import decrypt
from projects.models import AuditEvent, Project
from responses.models import Respondent, Response
from studies.models import PlatformIdentity, Session, Study
from studies.services import (
    AnswersRefusedError,
    StudyNotOpenError,
    StudyNotReadyError,
    close_study,
    create_study,
    delete_person,
    enter,
    open_study,
    submit_screen,
)
from tests.studies.conftest import CHECK, CODES, Participant, content

pytestmark = pytest.mark.django_db


def test_a_draft_opens_and_then_never_changes(draft, owner):
    study = open_study(study=draft(), by=owner)
    assert study.status == "open"
    assert AuditEvent.objects.filter(action="study opened", user=owner).count() == 1
    study.texts = {"title": "Another"}
    with pytest.raises(DatabaseError, match="study"):
        study.save()


def test_opening_twice_is_once_and_a_closed_study_opens_again(draft, owner):
    study = open_study(study=draft(), by=owner)
    opened_at = open_study(study=study, by=owner).opened_at
    assert AuditEvent.objects.filter(action="study opened").count() == 1
    assert close_study(study=study, by=owner)
    assert not close_study(study=study, by=owner)
    assert open_study(study=study, by=owner).opened_at == opened_at


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n": 2}, "The dataset has 2 items, and each person needs 3"),
        ({"completion_codes": {}}, "no completion code for the outcome completed"),
        ({"completion_codes": {"completed": "A"}}, "no completion code for the outcome failed_attention"),
        ({"completion_codes": CODES | {"completed": "A&B"}}, "letters, digits, _ and - only"),
        ({"texts": {"consent": ""}}, "Texts, at consent"),
        ({"design": {"questions": ["nothing"]}}, "no question nothing"),
        ({"design": {"balance": ["region"]}}, "Item customs-items-0 has no field region"),
        ({"items": lambda index: {"situation": "x", "expectation": "y", "relation": "z"}}, "no field option_culture"),
        ({"demographics": [{"kind": "choice"}]}, "Instrument, at questions"),
    ],
)
def test_what_keeps_a_study_closed_is_named(draft, change, sentence):
    study = draft(**change)
    with pytest.raises(StudyNotReadyError, match=sentence):
        open_study(study=study, by=None)
    assert Study.objects.get(pk=study.pk).status == "draft"


def test_versions_count_up(draft, study):
    again = create_study(
        project=study.project,
        name=study.name,
        slug=study.slug,
        dataset=study.dataset,
        instrument=study.instrument,
        texts=study.texts,
        design=study.design,
    )
    assert (study.version, again.version) == (1, 2)
    assert Study.objects.find("customs") == again
    assert Study.objects.find(study.key) == study


def test_a_slug_that_two_projects_use_finds_no_study(study):
    other = Project.objects.create(name="Other", slug="other")
    theirs = Study.objects.create(project=other, slug="customs", dataset=study.dataset, instrument=study.instrument)
    assert Study.objects.find("customs") is None
    assert Study.objects.find(theirs.key) == theirs


def test_platform_ids_are_stored_encrypted_and_nowhere_else(study):
    entered = enter(study, participant_id="person1", submission_id="submission1")
    identity = PlatformIdentity.objects.get()
    assert "person1" not in identity.participant_encrypted
    assert decrypt(identity.participant_encrypted) == "person1"
    assert decrypt(identity.submissions.get().submission_encrypted) == "submission1"
    assert "person1" not in str(vars(entered.session))


def test_a_refusal_names_the_options_as_they_are_spelled(study):
    person = Participant(study)
    person.go_to("demographics")
    with pytest.raises(AnswersRefusedError) as refused:
        submit_screen(
            screen=person.session.screens.get(position=1), answers={"country": "Atlantis", "age_group": "older"}
        )
    assert refused.value.errors == {"country": "'Atlantis' is not an option; use one of United Kingdom, Brazil."}


def test_one_person_in_two_studies_has_unlike_digests(draft, study):
    other = open_study(study=draft(slug="other"), by=None)
    sessions = [enter(one, participant_id="p", submission_id="s").session for one in (study, other)]
    assert len({session.person_digest for session in sessions}) == 2


def test_a_simulated_person_cannot_take_a_persons_session(study):
    person = enter(study, participant_id="p", submission_id="s").session
    bot = enter(study, participant_id="p", submission_id="s", simulated=True).session
    assert person != bot
    assert (person.simulated, bot.simulated) == (False, True)


def test_nobody_new_enters_a_closed_study(study):
    enter(study, participant_id="p", submission_id="s")
    close_study(study=study, by=None)
    assert enter(study, participant_id="p", submission_id="s").resumed
    with pytest.raises(StudyNotOpenError):
        enter(study, participant_id="q", submission_id="s")


def test_items_that_come_later_change_nobodys_items(study):
    def items(session_number):
        person = Participant(study, pid=f"p{session_number}")
        person.go_to("instructions")
        return list(person.session.screens.filter(kind="item").values_list("item", flat=True))

    first = items(1)
    kept = set(study.dataset.items.values_list("pk", flat=True))
    study.dataset.items.create(external_id="late", content=content(0), content_hash="0" * 64, position=0)
    later = [item for number in range(2, 4) for item in items(number)]
    assert sorted([*first, *later]) == sorted(kept)  # three people, three items each, nine items


def test_a_person_is_deleted_on_request(study, owner):
    person = Participant(study, pid="gone")
    person.go_to("")
    other = Participant(study, pid="stays")
    other.go_to("")
    receipt = delete_person(study=study, participant_id="gone", by=owner)
    assert (receipt.session, receipt.screens, receipt.responses, receipt.platform_ids) == (1, 8, 9, 2)
    assert [identity.session.number for identity in PlatformIdentity.objects.all()] == [2]
    assert Session.objects.get().number == 2
    assert Respondent.objects.count() == 1
    assert Response.objects.count() == 9
    event = AuditEvent.objects.get(action="participant deleted")
    assert event.user == owner
    assert "gone" not in str(event.detail)
    assert delete_person(study=study, participant_id="gone", by=owner) is None


def test_delete_participant_asks_for_the_id(study, monkeypatch, capsys):
    from django.core.management import CommandError, call_command

    Participant(study, pid="gone").go_to("item")
    monkeypatch.setattr("getpass.getpass", lambda prompt: "gone")
    call_command("delete_participant", study.slug)
    assert "Deleted from Customs (version 1): session 1, 8 screens, 0 responses" in capsys.readouterr().out
    with pytest.raises(CommandError, match="Nobody with this platform id"):
        call_command("delete_participant", study.slug)
    with pytest.raises(CommandError, match="has the key or slug nothing"):
        call_command("delete_participant", "nothing")


def test_a_study_without_demographics_still_has_a_respondent(draft):
    study = open_study(study=draft(demographics=[], texts={"instructions": "", "debrief": ""}), by=None)
    person = Participant(study)
    person.go_to("attention")
    assert person.session.respondent.attributes == {"outcome": "unfinished"}
    person.go_to("")
    assert person.page.code == "DONE42"


def test_the_last_screen_may_be_an_item(draft):
    design = {"attention_checks": [], "items_each": 1, "balance": []}
    study = open_study(study=draft(texts={"debrief": ""}, design=design), by=None)
    person = Participant(study)
    person.go_to("")
    assert Session.objects.get().status == "completed"
    assert Session.objects.get().attention_passed is None


def test_a_written_check_is_passed_in_any_letter_case(draft):
    question = {"kind": "text", "code": "word", "text": "Write the word blue.", "multiline": False}
    study = open_study(study=draft(design={"attention_checks": [{"question": question, "expected": "blue"}]}), by=None)
    person = Participant(study)
    person.go_to("attention")
    person.send({"word": " Blue "})
    assert Session.objects.get().attention_passed is True


def test_the_check_is_the_same_question_for_everybody(study):
    assert study.parsed_design.attention_checks[0].question.code == CHECK["question"]["code"]


def test_the_database_refuses_a_session_that_ended_without_an_end(study):
    session = enter(study, participant_id="p", submission_id="s").session
    with pytest.raises(DatabaseError, match="session_ends_when_finished"):
        Session.objects.filter(pk=session.pk).update(status="completed")
