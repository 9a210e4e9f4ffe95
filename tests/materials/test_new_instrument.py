import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from materials.models import Dataset, Instrument
from materials.question_examples import EXAMPLES
from materials.question_file import questions_json, read_questions
from materials.questions import KINDS, QuestionError, parse_questions
from materials.rows import posted
from projects.models import AuditEvent, Project
from tests.conftest import QUESTION

WHO = {"kind": "choice", "code": "who", "text": "Who?", "options": [{"code": "l", "text_field": "left"}]}


def address(name: str, project: Project, **kwargs: object) -> str:
    return reverse(name, kwargs={"slug": project.slug, **kwargs})


def form(*questions: object, **fields: str) -> dict[str, str]:
    typed = {"title": "Everyday", "name": "everyday", "written": "json", "json": json.dumps(questions)}
    return typed | fields


def test_the_examples_are_an_instrument_with_every_kind():
    questions = parse_questions([question for _, question in EXAMPLES.values()]).questions
    assert {question.kind for question in questions} == set(KINDS)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[\n {,}]", "Line 2, column 3: this is not JSON"),
        ("[]", "at questions: "),
        ("7", "Instrument, at top: "),
        ('[{"code": "a"}]', 'at questions > 1: a question needs a "kind" that is one of choice, pairwise, multi, rank'),
        (json.dumps([QUESTION, WHO]), "at questions > 2 > options: "),
        (json.dumps([QUESTION, WHO | {"options": [{"code": "a"}] * 2}]), "options > 1: option a needs either text or"),
        ('[{"kind": "number", "code": "n", "text": "?", "minimum": NaN}]', "minimum: input should be a finite number"),
        ('[{"kind": "text", "code": "n", "text": "a\\u0000"}]', "Question 1 holds a NUL"),
        (
            '[{"kind": "text", "code": "n", "text": "a\\ud800"}]',
            "at questions > 1 > text: input should be a valid string",
        ),
        ("1" * 5000, "a number that is too long"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_faults_have_one_sentence_with_the_place(text, sentence):
    with pytest.raises(QuestionError) as caught:
        read_questions(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_faults_are_named_at_once(project: Project, researcher, client_as):
    nameless, unknown = {"kind": "text", "text": "?"}, {"kind": "riddle", "code": "who"}
    early = {"kind": "text", "code": "why", "text": "?", "show_if": {"question": "later", "any_of": ["x"]}}
    after = {"kind": "text", "code": "after", "text": "?", "show_if": {"question": "who", "any_of": ["x"]}}
    page = client_as(researcher).post(
        address("instrument_new", project), form(nameless, unknown, early, nameless, after, early)
    )
    faults = page.context["form"].errors["json"]
    assert [fault.removeprefix("Instrument, at questions") for fault in faults] == [
        " > 1 > code: field required.",
        f' > 2: a question needs a "kind" that is one of {", ".join(KINDS)}, not riddle.',
        " > 4 > code: field required.",
        ": why depends on later, which is not asked before it.",
        ": question code why is used twice.",
        ": why depends on later, which is not asked before it.",
    ]


def test_stored_questions_become_the_text_that_somebody_would_write():
    assert json.loads(questions_json(read_questions(json.dumps([QUESTION])))) == [QUESTION]


def test_preview_stores_nothing_and_publishing_makes_versions(project: Project, researcher, client_as, make_dataset):
    make_dataset(project, n=1, content=lambda i: {"text": "Who pays?", "left": "The <i>host</i>"})
    client, url = client_as(researcher), address("instrument_new", project)
    options = [*WHO["options"], {"code": "n", "text": "Nobody"}]
    page = client.post(url, form(WHO | {"options": options}, preview="1")).content.decode()
    assert page.count("The &lt;i&gt;host&lt;/i&gt;") >= 2  # for annotators, and in what a model is asked
    assert "A model is asked" in page
    draft = client.post(address("instrument_draft", project), form(WHO | {"options": options})).content.decode()
    assert "The &lt;i&gt;host&lt;/i&gt;" in draft
    assert "Concord" not in draft
    assert not Instrument.objects.exists()

    client.post(url, form(QUESTION))
    first = Instrument.objects.get()
    assert AuditEvent.objects.get(action="instrument published").user == researcher
    again = client.get(url, {"from": first.pk}).context["form"].initial
    assert (again["title"], again["name"]) == ("Everyday", "everyday")
    page = client.post(url, form(QUESTION), follow=True).content.decode()
    assert "Nothing changed: version 1 of everyday" in page
    page = client.post(url, form(QUESTION, title="Every day"), follow=True).content.decode()
    assert "Every day (version 2) is published." in page


def test_fields_that_no_item_has_are_named_and_no_others(project: Project, researcher, client_as, make_dataset):
    for slug in ("older", "newer"):
        dataset = make_dataset(project, n=1, slug=slug, content=lambda i: {"left": "L"})
        Dataset.objects.filter(pk=dataset.pk).update(field_order=["left", slug])
    client, url = client_as(researcher), address("instrument_new", project)
    asked = WHO | {"options": [*WHO["options"], {"code": "r", "text_field": "right"}]}
    draft = client.post(url, form(asked, preview="1"))
    assert "No item of this project has right, which these questions show;" in draft.content.decode()
    assert draft.context["item_fields"] == [("Newer", ["left", "newer"]), ("Older", ["left", "older"])]
    page = client.post(url, form(asked), follow=True).content.decode()
    assert "version 1) is published." in page
    assert "No item of this project has right, which its questions show." in page
    make_dataset(project, n=1, slug="apart", content=lambda i: {"right": "R"})
    page = client.post(url, form(asked, preview="1")).content.decode()
    assert "No item of this project has all of left, right, which" in page


def test_a_new_version_starts_from_the_last_and_is_changed_without_scripts(
    project: Project, researcher, client_as, make_instrument
):
    client, url = client_as(researcher), address("instrument_new", project)
    assert client.get(url).context["heading"] == "New instrument"
    start = client.get(url, {"from": make_instrument(project, questions=[QUESTION]).pk})
    assert start.context["heading"] == "New version of Everyday"
    typed = posted(start.context["form"])
    added = client.post(url, typed | {"change": "questions-add", "questions-new": "text", "title": ""})
    assert added.status_code == 200
    assert not added.context["form"].errors  # nothing is missing yet
    typed = posted(added.context["form"]) | {"questions-1-text": "Kept while refused?"}
    refused = client.post(url, typed | {"title": "T", "questions-1-code": QUESTION["code"]})
    assert refused.status_code == 422
    assert f"Question code {QUESTION['code']} is used twice." in refused.content.decode()
    assert "Kept while refused?" in refused.content.decode()
    as_json = client.post(url, typed | {"write": "json", "title": "T"}).context["form"]
    back = client.post(url, posted(as_json) | {"write": "questions"}).context["form"]
    assert client.post(url, posted(back)).status_code == 302
    first, second = Instrument.objects.order_by("version")
    assert second.name == first.name
    assert second.questions[0] == first.questions[0]
    assert second.questions[1]["text"] == "Kept while refused?"


def test_a_fault_stays_in_the_form_with_its_place(project: Project, researcher, client_as):
    page = client_as(researcher).post(address("instrument_new", project), form(WHO, name="my questions"))
    assert page.status_code == 422
    assert page.context["form"].errors["name"] == [
        "This cannot name an instrument; use letters, digits, hyphens and underscores."
    ]
    assert "at questions &gt; 1 &gt; options" in page.content.decode()


def test_the_command_publishes_a_file_or_says_what_is_wrong(project: Project, tmp_path: Path, capsys):
    file = tmp_path / "questions.json"
    file.write_text(json.dumps([QUESTION]), encoding="utf-8")
    call_command("publish_instrument", file, project=project.slug, name="everyday", title="Everyday")
    assert "Version 1 of everyday has 1 questions." in capsys.readouterr().out
    with pytest.raises(CommandError, match="'every day' cannot name an instrument"):
        call_command("publish_instrument", file, project=project.slug, name="every day", title="Everyday")
    file.write_text("[", encoding="utf-8")
    with pytest.raises(CommandError, match=r"questions.json: Line 1, column 2: this is not JSON"):
        call_command("publish_instrument", file, project=project.slug, name="everyday", title="Everyday")
