"""Passages are compared with the item's own text before they are stored; rankings are counted by their first place."""

import pytest

from materials.questions import AnswerError
from responses.distributions import distributions
from responses.models import SourceKind
from responses.querysets import value_counts
from responses.services import record_many
from tests.responses.conftest import Scene

OPTIONS = [{"code": code, "text": code.upper()} for code in "ab"]
QUESTIONS = [
    {"kind": "span", "code": "marks", "text": "?", "field": "text", "labels": [{"code": "x", "text": "X"}]},
    {"kind": "rank", "code": "order", "text": "?", "options": OPTIONS},
    {"kind": "best_worst", "code": "ends", "text": "?", "options": OPTIONS},
]


@pytest.fixture
def record(scene: Scene, make_instrument):
    instrument = make_instrument(scene.project, questions=QUESTIONS, name="kinds")

    def record(*answers):
        return record_many(
            project=scene.project, instrument=instrument, answers=answers, source_kind=SourceKind.ASSIGNMENT
        )

    return record


@pytest.mark.django_db(transaction=True)
def test_a_passage_outside_the_items_text_is_refused(scene: Scene, record):
    length = len(scene.item.content["text"])
    inside = {"start": 0, "end": length, "label": "x"}
    assert record(scene.answer([inside], question="marks")).stored == 1
    with pytest.raises(AnswerError, match=f"which has {length} characters"):
        record(scene.answer([inside | {"end": length + 1}], question="marks", sample=1))


def test_counts_of_rankings_and_extremes(scene: Scene, record):
    record(
        *(
            scene.answer(order, question="order", sample=n)
            for n, order in enumerate((["a", "b"], ["a", "b"], ["b", "a"]))
        ),
        scene.answer({"best": "b", "worst": "a"}, question="ends"),
    )
    counts = value_counts(scene.item)
    instruments = {count["instrument_id"]: scene.project.instruments.get(name="kinds") for count in counts}
    order, ends = distributions(counts, instruments, scene.item.content)
    assert [(label, [cell.n for cell in cells]) for label, cells in order.rows] == [
        ("first: A", [2]),
        ("first: B", [1]),
    ]
    assert [label for label, cells in ends.rows if cells[0].n] == ["best: B", "worst: A"]
