"""A study from a file: the documented example, and every fault as a sentence."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from projects.models import AuditEvent
from protocols.pact.demo import load
from studies.models import Study
from tests.conftest import PASSWORD
from tests.studies.conftest import CHECK, CODES, DEMOGRAPHICS, DESIGN, QUESTIONS, TEXTS, Participant, content

pytestmark = pytest.mark.django_db

FILE = {
    "name": "Customs",
    "slug": "customs",
    "dataset": "items",
    "instrument": "customs",
    "texts": TEXTS,
    "design": DESIGN,
    "demographics": DEMOGRAPHICS,
    "completion_codes": CODES,
}


@pytest.fixture
def materials(project, make_dataset, make_instrument):
    make_dataset(project, n=9, slug="items", content=content)
    make_instrument(project, questions=QUESTIONS, name="customs")
    return project


@pytest.fixture
def create(materials, tmp_path, capsys):
    """`create({...}, "--open")`: what the command said; the file is FILE with what is given replaced."""

    def run(changes, *arguments):
        path = tmp_path / "study.json"
        path.write_text(changes if isinstance(changes, str) else json.dumps(FILE | changes))
        call_command("create_study", str(path), "--project", materials.slug, *arguments)
        return capsys.readouterr().out

    return run


def test_the_documented_example_can_be_taken(tmp_path, capsys):
    project = load(password=PASSWORD)
    document = (Path(settings.BASE_DIR) / "docs" / "studies.md").read_text()
    path = tmp_path / "study.json"
    path.write_text(re.search(r"```json\n(.*?)```", document, re.S)[1])
    call_command("create_study", str(path), "--project", project.slug, "--open")
    study = project.studies.get(slug="customs-short")
    assert f"It is open at /s/{study.key}/" in capsys.readouterr().out
    person = Participant(study)
    person.enter()
    person.send({"consent": "yes"})
    person.send({"country": "Brazil"})
    assert person.page.screen == "instructions"
    person.send({})
    assert list(person.page.fields) == ["personal", "norm"]
    assert "What is usual there" in person.page.scenario


def test_a_file_makes_a_draft_and_the_same_again_its_next_version(create):
    said = create({})
    study = Study.objects.get()
    assert (study.status, study.version, study.platform) == ("draft", 1, "prolific")
    assert f"/p/{study.project.slug}/studies/{study.pk}/" in said
    assert "It is a draft" in said
    create({"instrument": "customs/1", "platform": "none"}, "--open")
    again = Study.objects.get(version=2)
    assert (again.status, again.platform, again.instrument) == ("open", "none", study.instrument)
    assert AuditEvent.objects.filter(action="study created").count() == 2


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        (
            {"name": "", "slug": "Two words", "surprise": 1, "texts": {"consent": "x"}},
            [
                "At name:",
                "At slug: use lower-case letters",
                "At texts > title: it is missing.",
                "At surprise: nothing of this name belongs here.",
            ],
        ),
        (
            {"dataset": "no", "instrument": "no"},
            ["no dataset no; it has items.", "no instrument no; it has customs/1."],
        ),
        ({"instrument": "customs/2"}, ["no instrument customs/2; it has customs/1."]),
        ({"instrument": "customs/x"}, ["no instrument customs/x"]),
        (
            {"design": DESIGN | {"items_each": 0, "minutes": "many"}},
            ["At design > items_each:", "At design > minutes:"],
        ),
        ({"design": DESIGN | {"attention_checks": [CHECK | {"expected": "pink"}]}}, ["At design > attention_checks"]),
        ({"design": DESIGN | {"items_each": 30}}, ["The dataset has 9 items, and each person needs 30"]),
        ({"demographics": [{"kind": "choice"}]}, ["questions"]),
        ({"completion_codes": {"finished": "A"}}, ["At completion_codes > finished"]),
        (
            {"completion_codes": {"completed": "A&B"}},
            ["no completion code for the outcome failed_attention", "letters, digits, _ and - only"],
        ),
    ],
)
def test_every_fault_is_a_sentence_and_nothing_is_made(create, capsys, changes, sentences):
    with pytest.raises(CommandError, match=f"Nothing was made: {len(sentences)} fault"):
        create(changes, "--open")
    said = capsys.readouterr().err.splitlines()
    assert len(said) == len(sentences)
    for line, sentence in zip(said, sentences, strict=True):
        assert sentence in line
    assert Study.objects.count() == AuditEvent.objects.filter(action="study created").count() == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON: .* line 1 column 2"),
        ('{"name": NaN}', "NaN is no number in JSON"),
        ('{"name": "\\u0000"}', "cannot be stored"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "Nothing was made: 1 fault"),
    ],
)
def test_what_is_no_such_file_is_a_sentence(create, text, sentence):
    with pytest.raises(CommandError, match=sentence):
        create(text)


def test_a_missing_file_other_bytes_and_an_unknown_project_are_sentences(materials, tmp_path):
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("create_study", str(tmp_path / "none.json"), "--project", materials.slug)
    (tmp_path / "study.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(CommandError, match="is not UTF-8"):
        call_command("create_study", str(tmp_path / "study.json"), "--project", materials.slug)
    with pytest.raises(CommandError, match="There is no project nowhere"):
        call_command("create_study", str(tmp_path / "study.json"), "--project", "nowhere")


def test_the_list_leads_those_who_may_to_a_new_study(create, viewer, researcher, client_as):
    address = f"/p/{viewer.memberships.get().project.slug}/studies/"
    for _ in range(2):  # without a study, then with one
        assert f'href="{address}new/"' in client_as(researcher).get(address).content.decode()
        assert f'href="{address}new/"' not in client_as(viewer).get(address).content.decode()
        create({})
