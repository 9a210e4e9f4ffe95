"""Rankings, best and worst, passages and sliders on the pages of participants, without JavaScript."""

import pytest

from responses.models import Response
from studies.services import open_study
from studies.walk import walk
from tests.studies.conftest import Participant, content

ACTIONS = [
    {"code": "culture", "text_field": "option_culture"},
    {"code": "preference", "text_field": "option_personal"},
    {"code": "none", "text": "Neither"},
]
QUESTIONS = [
    {"kind": "rank", "code": "order", "text": "In which order?", "options": ACTIONS, "randomise": True},
    {"kind": "best_worst", "code": "ends", "text": "Best and worst?", "options": ACTIONS},
    {
        "kind": "span",
        "code": "marks",
        "text": "Mark what matters.",
        "field": "situation",
        "labels": [{"code": "cause", "text": "Cause"}],
        "required": False,
    },
    {"kind": "number", "code": "share", "text": "How many?", "minimum": 0, "maximum": 10, "slider": True},
]
MARKDOWN = {"item_template": {"item_fields": ["situation", {"field": "expectation", "format": "markdown"}]}}


@pytest.fixture
def study(draft):
    def items(index):
        return content(index) | {
            "situation": f"It is *late* 🍵. Situation {index}.",
            "expectation": "So $x^2$ is **it**.",
        }

    return open_study(study=draft(questions=QUESTIONS, items=items, design=MARKDOWN), by=None)


def test_answers_are_stored_and_wrong_ones_stay_on_the_page(participant: Participant):
    page = participant.go_to("item")
    assert "<math" in participant.html
    assert "It is *late*" in participant.html
    assert [page.fields[f"order:{code}"].values for code in ("culture", "preference", "none")] == [["1", "2", "3"]] * 3
    asked = {"asked": ["order", "ends", "marks", "share"]}
    wrong = {"order:culture": "1", "order:none": "1", "ends:best": "none", "marks": "Cause: early"}
    participant.send(asked | wrong)
    for sentence in (
        "Two options have place 1.",
        "Choose the worst option as well.",
        "Line 1: the text does not hold &#x27;early&#x27; as written.",
        "Write an answer.",
    ):
        assert sentence in participant.html
    assert page.fields["order:none"].values == ["1", "2", "3"]
    assert participant.page.fields["ends:best"].checked == ["none"]
    assert participant.html.count('<option value="1" selected>') == 2
    assert "Cause: early</textarea>" in participant.html

    order = {"order:culture": "2", "order:preference": "3", "order:none": "1"}
    participant.send(
        asked | order | {"ends:best": "none", "ends:worst": "culture", "marks": "Cause: *late* 🍵", "share": "7"}
    )
    stored = dict(Response.objects.values_list("question", "value"))
    assert stored == {
        "order": ["none", "culture", "preference"],
        "ends": {"best": "none", "worst": "culture"},
        "marks": [{"start": 6, "end": 14, "label": "cause"}],
        "share": 7,
    }


@pytest.mark.django_db(transaction=True)
def test_simulated_people_answer_them(study, live_server):
    summary = walk(live_server.url, study.key, 2, 3, refuse=0, inattentive=0)
    assert summary.ends == {"completed": 2}
    ranked = Response.objects.filter(question="order").values_list("value", flat=True)
    assert all(sorted(value) == ["culture", "none", "preference"] for value in ranked)
    assert len(ranked) == 6
