"""The parts of the benchmark of studies that do not depend on the machine; nothing is timed here."""

import ast
import random
from collections import Counter

import pytest

from bench import survey, survey_otree, survey_parts
from bench.survey_visitors import Load, visit
from config.processes import StartError
from studies.walk.browser import WalkError
from studies.walk.forms import Page, read_page


def test_arguments_decide_what_is_measured(capsys, tmp_path):
    assert tuple(survey.parse(["--quick"]).parts) == survey.PARTS
    assert survey.parse(["--part", "burst"]).parts == ["burst"]
    of_otree = ["--peer", "otree", "--peer-python", f"{tmp_path}/python"]
    with pytest.raises(SystemExit):
        survey.parse(of_otree)
    assert f"install it with {tmp_path}/python -m pip install otree" in capsys.readouterr().err
    (tmp_path / "otree").touch()
    assert survey.parse(of_otree).peers == [("otree", tmp_path / "otree")]


def test_the_export_lacks_what_was_acknowledged_and_repeats_what_was_asked_once():
    expected = Counter(
        [("ada", "item 1", "norm", "a"), ("ada", "item 1", "personal", "b"), ("ada", "item 2", "norm", "a")]
    )
    assert survey_parts.compare(expected, expected) == (0, 0)
    another_answer = Counter([("ada", "item 1", "norm", "b"), *list(expected)[1:]])
    assert survey_parts.compare(expected, another_answer) == (1, 0)
    assert survey_parts.compare(expected, expected + another_answer) == (0, 3)


class Person:
    """Stands in for somebody with so many pages."""

    def __init__(self, pages, fault=""):
        self.left, self.fault = pages, fault

    def enter(self):
        return True

    def answer(self):
        if self.fault:
            raise WalkError(self.fault)
        self.left -= 1
        return self.left > 0

    def rest(self):
        pass


def test_everybody_is_sent_to_the_end_and_who_stops_is_told():
    people = [Person(3), Person(5, fault="a page is missing"), Person(2)]
    visits = visit(people, Load(len(people), 0.0, 0.0), seed=1)
    assert [person.left for person in people] == [0, 5, 0]
    assert (len(visits.waits), visits.faults) == (1 + 3 + 1 + 1 + 2, ["a page is missing"])
    with pytest.raises(StartError, match="a page is missing"):
        survey_parts.pages_of(visit([Person(1, fault="a page is missing")], Load(1, 0.0, 0.0), seed=1))


class Server:
    """Stands in for a browser at a study that shows an item's page, then the end."""

    def __init__(self):
        self.sent = []

    def post(self, path, form):
        self.sent.append((path, form["personal"]))
        return "<main data-outcome='completed'></main>"

    def close(self):
        pass


def test_who_sends_a_page_twice_has_the_first_answers_acknowledged():
    page = read_page(
        "<form data-screen='item' action='/s/study/person/4/'>"
        + "".join(f"<input type='radio' name='personal' value='{code}'>" for code in map(str, range(1000)))
        + "</form>"
    )
    person = survey_parts.Participant(Server(), "", {}, random.Random(1), sends_twice=True, page=page)
    assert person.answer() is False
    (first, given), (second, other) = person.browser.sent
    assert first == second == "/s/study/person/4/"
    assert given != other
    assert person.acknowledged == {("person", 4): {"personal": given}}
    assert person.page == Page(outcome="completed")


def test_otree_gets_concords_questions(tmp_path):
    survey_otree.write_app(tmp_path)
    app = ast.parse((tmp_path / "bench" / "__init__.py").read_text())
    [player] = [part for part in app.body if isinstance(part, ast.ClassDef) and part.name == "Player"]
    asked = [target.id for line in player.body for target in line.targets]
    codes = [question["code"] for question in (*survey_otree.DEMOGRAPHICS, *survey_otree.PAIRED_QUESTIONS)]
    assert asked == ["consent", *codes]
