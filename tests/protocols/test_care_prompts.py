"""What models are shown: blind and informed differ in the community's lines alone."""

import difflib

import pytest

from llm.prompting.rendering import render_messages
from materials.questions import parse_questions
from protocols.asking import PromptFiles
from protocols.care.pilot import ARCHITECTURES, SetUp, best, representative, score
from protocols.care.prompts import FOLDER
from protocols.care.tones import SHIPPED, ToneListError, read_tones, tone_question

POST = {
    "title": "Vans",
    "article": "Two vans.\n\nAnd a nurse.",
    "community": "Lake",
    "topic": "A place",
    "geopath": "GB",
}
INFORMED = {
    "blind": [],
    "informed": ["identifier"],
    "informed_all": ["identifier", "topic", "geopath"],
}


def rendered(name: str, variables: dict) -> list[dict[str, str]]:
    files = PromptFiles(FOLDER, name, version=2)
    return render_messages(files.text("system"), files.text("user"), variables)


def simulated(setting: str) -> list[dict[str, str]]:
    variables = {"item": POST, "condition": {"setting": INFORMED[setting]}, "questions": [], "answer_format": "JSON."}
    return rendered("simulation", variables)


@pytest.mark.parametrize(
    ("setting", "lines"),
    [
        ("informed", ["", "The article was shared in this community:", "Name: /r/Lake"]),
        (
            "informed_all",
            ["", "The article was shared in this community:", "Name: /r/Lake", "Topic: A place", "Place: GB"],
        ),
    ],
)
def test_the_settings_differ_only_in_the_lines_on_the_community(setting, lines):
    blind, informed = simulated("blind"), simulated(setting)
    assert blind[0] == informed[0]
    diff = list(difflib.ndiff(blind[1]["content"].splitlines(), informed[1]["content"].splitlines()))
    assert [line[2:] for line in diff if line.startswith("+ ")] == lines
    assert not [line for line in diff if line.startswith(("- ", "? "))]
    assert "Lake" not in str(blind)


def test_the_set_ups_show_more_and_more_of_the_tones():
    tones = read_tones(SHIPPED.read_text(encoding="utf-8")).tones
    question = parse_questions([tone_question([tone.name for tone in tones])])["tone"]
    options = [{"letter": "?", "code": option.code, "text": option.text} for option in question.options]
    variables = {
        "item": {"text": "Thank you.", "title": "Vans"},
        "condition": {"tones": {tone.name: tone.model_dump() for tone in tones}},
        "questions": [{"text": question.text, "options": options}],
        "answer_format": "JSON.",
    }
    texts = [str(rendered(f"tone_{name}", variables)) for name in ARCHITECTURES]
    assert all(tone.name in text for tone in tones for text in texts)
    assert [tones[0].definition in text for text in texts] == [False, True, True]
    assert [tones[0].example in text for text in texts] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "line 1"),
        ('{"version": 1, "tones": [{"name": "a", "definition": "A."}, {"name": "a", "definition": "B."}]}', "a stands"),
        (
            '{"version": 1, "tones": [{"name": "a", "definition": "A."}, {"name": "B", "definition": "B."}]}',
            "tones.2.name",
        ),
        ('{"version": 1, "tones": []}', "tones"),
    ],
)
def test_what_is_no_list_of_tones_is_refused_with_its_place(text, what):
    with pytest.raises(ToneListError, match=what):
        read_tones(text)


def test_the_pilot_draws_one_reaction_of_each_community_whatever_their_order():
    reactions = [(f"c{n % 5}", f"r{n}") for n in range(40)]
    drawn = representative(reactions, seed=3)
    assert drawn == representative(reversed(reactions), seed=3)
    assert [int(reaction[1:]) % 5 for reaction in drawn] == [0, 1, 2, 3, 4]
    assert len({tuple(representative(reactions, seed=seed)) for seed in range(20)}) > 10


def test_accuracy_counts_missing_answers_as_wrong_and_unaudited_ones_not_at_all():
    right = {("r1", "asking"): True, ("r2", "asking"): False}
    set_up = SetUp("m", {"r1": ["asking"], "r2": ["asking", "joking"], "r3": ["joking"]})
    found = score(set_up, right=right, sample=["r1", "r2", "r3", "r4"])
    assert (found.n, found.accuracy, found.n_repeated, found.consistency) == (3, pytest.approx(1 / 3), 1, 0)


def test_the_best_set_up_goes_by_accuracy_then_consistency_then_cost():
    def done(name: str, tones: list[str], price: int | None):
        return score(SetUp(name, {"r": tones}, price), right={("r", "asking"): True}, sample=["r"])

    dear, cheap = done("a", ["asking", "asking"], 9), done("b", ["asking", "asking"], 1)
    unsure, wrong = done("c", ["asking", "joking"], 0), done("d", [], 0)
    assert best([wrong, unsure, dear, cheap]) == cheap
    assert best([wrong, unsure]) == unsure
    assert best([dear, done("e", ["asking", "asking"], None)]) == dear
