"""Files of a study: who is in which row, what stands in it, and what does not."""

import csv
import io
import json

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from projects.models import AuditEvent
from studies.models import Screen, Session
from studies.pilot import pilot_path
from studies.services import open_study
from studies.services.exports import EXPORTS, StudyExportError, export_study
from tests.studies.conftest import KNOWS, Participant, content

pytestmark = pytest.mark.django_db

RELATION = {"attribute": "country", "field": "of", "close": {"Brazil": ["Peru"]}}
FRAMING = {
    "name": "framing",
    "levels": [{"code": "plain", "text": "Answer *freely*."}, {"code": "short", "text": "B."}],
}
WHY = "=1+1 يوم 🙂"
PACT_COLUMNS = (
    "respondent_id,respondent_country,respondent_age_bucket,respondent_gender,respondent_demo,scenario_item_id,"
    "scenario_country,scenario,receiver_age,receiver_gender,receiver_demo,human_personal,human_norm"
)
FIELDS = {"gender": "age_group", "scenario_country": "of", "receiver_age": "relation", "receiver_gender": "of"}


def of_countries(index):
    return content(index) | {"of": ("Brazil", "Peru", "Japan")[index % 3]}


def rows_of(study, name, **given):
    return list(csv.DictReader(io.StringIO("".join(export_study(study=study, name=name, by=None, **given)))))


@pytest.fixture
def walked(draft):
    """An open study with somebody who completed, somebody who refused, and somebody who only tries it out."""
    design = {"relation": RELATION, "factors": [FRAMING], "groups": [["personal", "norm"], ["importance", "why"]]}
    design |= {"asked_on": {"why": 2}, "comprehension": {"questions": [KNOWS], "expected": {"about": "customs"}}}
    filters = [{"kind": "completed"}, {"kind": "attention"}]
    study = open_study(study=draft(items=of_countries, design=design, filters=filters), by=None)
    person = Participant(study)
    person.enter()
    while person.page.screen:
        given = {"about": "customs", "why": WHY, "paradata": json.dumps({"seconds": 3.5, "pastes": 1})}
        person.send(person.right_answers() | given)
    refused = Participant(study, pid="nobody")
    refused.enter()
    refused.send({"consent": "no"})
    Participant(study).get(pilot_path(study))
    return study


def test_sessions_have_a_row_each_without_platform_ids(walked):
    done, refused = rows_of(walked, "sessions.csv")
    assert (done["session"], done["outcome"], done["passed_filters"]) == ("1", "completed", "true")
    assert (done["attr_country"], done["attr_age_group"], done["late"]) == ("Brazil", "older", "false")
    session = Session.objects.get(number=1)
    assert (done["cond_framing"], done["place"]) == (session.cell["framing"], "1")
    assert done["respondent"] == session.respondent.key
    assert done["finished_at"] == session.finished_at.isoformat().replace("+00:00", "Z")
    assert (refused["outcome"], refused["passed_filters"], refused["place"]) == ("no_consent", "false", "")
    for name in EXPORTS:
        if name != "pact.csv":
            text = "".join(export_study(study=walked, name=name, by=None))
            assert Participant.pid not in text
            assert Participant.submission not in text


def test_platform_ids_are_there_when_asked_for_and_the_log_says_so(walked, owner, viewer, client_as):
    at = f"/p/{walked.project.slug}/studies/{walked.pk}/exports/"
    assert client_as(viewer).get(f"{at}sessions.csv?ids=on").status_code == 403
    assert not AuditEvent.objects.filter(action="study exported").exists()
    text = client_as(owner).get(f"{at}sessions.csv?ids=on").getvalue().decode()
    done, _ = csv.DictReader(io.StringIO(text))
    assert (done["platform_id"], done["submission_ids"]) == (Participant.pid, json.dumps([Participant.submission]))
    event = AuditEvent.objects.get(action="study exported")
    assert (event.user, event.detail["platform_ids"], event.detail["file"]) == (owner, True, "sessions.csv")
    refused = client_as(owner).get(f"{at}wide.csv?ids=on")
    assert refused.status_code == 422
    assert refused.content.startswith(b"Platform ids are in sessions.csv only")


def test_a_person_with_all_answers_is_one_row(walked):
    done, refused = rows_of(walked, "wide.csv")
    shown = list(Screen.objects.filter(session__number=1, kind="item", group=0).order_by("position"))
    for number, screen in enumerate(shown, start=1):
        assert done[f"item_{number}"] == screen.item.external_id
        assert done[f"cond_relation_{number}"] == screen.factors["relation"]
        assert done[f"cond_option_order_{number}"] == "|".join(screen.orders["personal"])
        assert (done[f"q_personal_{number}"], done[f"q_importance_{number}"]) == ("preference", "4")
    assert sorted(done[f"q_why_{number}"] for number in (1, 2, 3)) == ["", f"'{WHY}", f"'{WHY}"]
    assert (done["q_about"], done["q_colour"], "q_personal_4" in done) == ("customs", "blue", False)
    assert (refused["item_1"], refused["q_personal_1"]) == ("", "")


def test_each_page_is_a_row_with_both_clocks(walked):
    rows = rows_of(walked, "paradata.csv")
    assert {row["session"] for row in rows} == {"1", "2"}
    items = [row for row in rows if row["kind"] == "item"]
    assert [row["group"] for row in items] == ["0", "1"] * 3
    for row in items:
        assert (row["seconds"], row["pastes"], row["resizes"]) == ("3.5", "1", "")
        assert float(row["server_seconds"]) > 0
        assert row["shown_at"] < row["answered_at"]


def test_the_layout_names_what_the_study_lacks_and_takes_other_fields(walked, tmp_path):
    lacks = (
        "gender: no question about people has the code gender; there are country, age_group. "
        r"scenario_country: Item .* has no field receiver_country.*"
    )
    arguments = ["--what", "pact", "--out", str(tmp_path / "pact.csv")]
    with pytest.raises(CommandError, match=lacks):
        call_command("export_study", walked.slug, *arguments)
    assert list(tmp_path.iterdir()) == []
    given = [f"--field={name}={code}" for name, code in FIELDS.items()]
    call_command("export_study", walked.slug, *arguments, *given)
    with (tmp_path / "pact.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ",".join(rows[0]) == PACT_COLUMNS
    shown = Screen.objects.filter(session__number=1, kind="item", group=0).order_by("position")
    assert [row["scenario_item_id"] for row in rows] == [screen.item.external_id for screen in shown]
    for row, screen in zip(rows, shown, strict=True):
        assert (row["respondent_id"], row["respondent_demo"]) == ("P001", "older_older")
        assert (row["scenario"], row["scenario_country"]) == (
            screen.item.content["situation"],
            screen.item.content["of"],
        )
        assert (row["human_personal"], row["human_norm"]) == ("B", "A")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none", "--what", "tidy"], "No study, or more than one project, has the key or slug none"),
        (["--what", "codebook", "--out", "a.pdf"], r"codebook is not written as a.pdf; end the name with .html or .md"),
        (["--what", "pact", "--field", "place=x"], "--field takes NAME=CODE with one of the names country"),
        (["--what", "wide", "--out", "/nowhere/a.csv"], "/nowhere/a.csv cannot be written: No such file"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(study, arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command("export_study", *([] if arguments[0] == "none" else [study.slug]), *arguments)


def test_a_study_without_sessions_gives_headers(study):
    for name in ("tidy.csv", "wide.csv", "sessions.csv", "paradata.csv"):
        (header,) = "".join(export_study(study=study, name=name, by=None)).splitlines()
        assert header.count(",") > 10


def test_the_codebook_says_what_was_asked_of_whom(walked):
    rows = {(row["part"], row["name"]): row for row in rows_of(walked, "codebook.csv")}
    personal, why = rows["Questions about items", "personal"], rows["Questions about items", "why"]
    assert personal["asked"] == "everybody, about each of 3 items; options in random order"
    assert json.loads(personal["options"])["culture"] == "the item's option_culture"
    assert why["asked"] == "everybody, about 2 of 3 items drawn by seed; may be left out"
    assert json.loads(rows["Questions about people", "country"]["options"])["Brazil"] == "Brazil"
    assert rows["Checks", "colour"]["asked"].endswith("right is blue")
    assert "Brazil: Peru" in rows["Factors", "relation"]["text"]
    assert json.loads(rows["Factors", "framing"]["options"])["plain"] == "Answer *freely*."
    filters = [name for part, name in rows if part == "Filters, in order"]
    assert filters == [entry.kind for entry in walked.parsed_filters]
    markdown = "".join(export_study(study=walked, name="codebook.md", by=None))
    assert "  - `plain`: Answer \\*freely\\*.\n" in markdown
    html = "".join(export_study(study=walked, name="codebook.html", by=None))
    assert "What would you do?" in html


def test_the_page_offers_every_file_and_ids_to_managers_only(walked, owner, viewer, client_as):
    at = f"/p/{walked.project.slug}/studies/{walked.pk}/exports/"
    html = client_as(owner).get(at).content.decode()
    assert all(f'"{at}{name}' in html for name in EXPORTS)
    assert "?ids=on" in html
    assert "?ids=on" not in client_as(viewer).get(at).content.decode()
    wrong = client_as(viewer).get(f"{at}pact.csv?gender=age_group")
    assert wrong.status_code == 422
    assert "Country of the scenario: The study has no receiver_country for this" in wrong.content.decode()


def test_ids_whose_key_is_gone_are_a_sentence_and_no_half_of_a_file(walked, settings):
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(StudyExportError, match="add the key it was made with"):
        export_study(study=walked, name="sessions.csv", by=None, with_ids=True)
    assert not AuditEvent.objects.filter(action="study exported").exists()
