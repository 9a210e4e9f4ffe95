import pytest

from materials.questions import AnswerError
from projects.models import Project
from responses import services
from responses.models import Condition, Respondent, RespondentKind, Response, SourceKind
from responses.services import Answer, ForeignAnswerError, Recorded, get_condition, get_respondent, record, withdraw
from tests.responses.conftest import Scene


def test_an_answer_is_stored_once_and_the_first_stands(scene: Scene):
    assert scene.record(scene.answer("yes")) == Recorded(stored=1)
    assert scene.record(scene.answer("no")) == Recorded(kept=1)
    assert scene.standing() == ["yes"]


def test_superseding_keeps_the_chain(scene: Scene):
    for value in ("yes", "no", "yes"):
        scene.record(scene.answer(value), on_conflict="supersede")
    first, second, third = Response.objects.order_by("pk")
    assert (first.superseded_by, second.superseded_by, third.superseded_by) == (second, third, None)
    assert [first.value, second.value, third.value] == ["yes", "no", "yes"]


def test_superseding_with_the_same_value_changes_nothing(scene: Scene):
    scene.record(scene.answer("yes"))
    assert scene.record(scene.answer("yes"), on_conflict="supersede") == Recorded(kept=1)
    assert Response.objects.count() == 1


def test_within_one_call_the_last_supersedes_and_the_first_is_kept(scene: Scene):
    assert scene.record(scene.answer("yes"), scene.answer("no")) == Recorded(stored=1, kept=1)
    assert scene.standing() == ["yes"]
    scene.record(scene.answer("yes", sample=1), scene.answer("no", sample=1), on_conflict="supersede")
    assert scene.standing() == ["yes", "no"]


def test_each_part_of_the_natural_key_makes_another_answer(scene: Scene):
    other = get_condition(project=scene.project, factors={"prompt": "plain v2"})
    last = scene.dataset.items.last()
    assert last
    recorded = scene.record(
        scene.answer("yes"),
        scene.answer("yes", sample=1),
        scene.answer("yes", condition_id=other.pk),
        scene.answer("yes", item_id=last.pk),
        scene.answer("yes", respondent_id=scene.model.pk),
        scene.answer("yes", question="note"),
    )
    assert recorded.stored == 6


def test_batches_are_all_or_none(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(services, "BATCH_ROWS", 2)
    good = [scene.answer("yes", sample=sample) for sample in range(5)]
    with pytest.raises(AnswerError, match="maybe"):
        scene.record(*good, scene.answer("maybe", sample=5))
    assert not Response.objects.exists()
    assert scene.record(*good, *good) == Recorded(stored=5, kept=5)


@pytest.mark.parametrize(
    ("question", "value"), [("fits", None), ("fits", "Yes"), ("fits", 1), ("why", ["c"]), ("x", "y")]
)
def test_values_that_the_instrument_does_not_allow_are_refused(scene: Scene, question: str, value: object):
    with pytest.raises(AnswerError):
        scene.record(scene.answer(value, question))
    assert not Response.objects.exists()


@pytest.mark.parametrize("value", [None, "", "  ", "\x00"])
def test_no_answer_to_an_optional_question_is_not_stored(scene: Scene, value: object):
    assert scene.record(scene.answer(value, "note")) == Recorded()
    kept = record(
        project=scene.project,
        instrument=scene.instrument,
        answer=scene.answer(value, "note"),
        source_kind=SourceKind.IMPORT,
    )
    assert kept is None


def test_values_keep_their_types(scene: Scene):
    scene.record(scene.answer(["b", "a"], "why"), scene.answer("2.50", "much"), scene.answer(" é\ud800 ", "note"))
    assert scene.standing() == [["a", "b"], 2.5, "é"]


def test_record_returns_what_stands(scene: Scene):
    def write(value: str, **options: str) -> Response | None:
        return record(
            project=scene.project,
            instrument=scene.instrument,
            answer=scene.answer(value),
            source_kind=SourceKind.IMPORT,
            **options,  # type: ignore[arg-type]
        )

    first = write("yes")
    assert first is not None
    assert write("no") == first
    replaced = write("no", on_conflict="supersede")
    assert replaced is not None
    assert (replaced.value, replaced.supersedes.get()) == ("no", first)


@pytest.mark.parametrize("noun", ["respondent", "item", "condition", "instrument"])
def test_nothing_of_another_project_is_accepted(scene: Scene, noun: str, make_dataset, make_instrument):
    other = Project.objects.create(name="Other", slug="other")
    foreign = {
        "respondent": lambda: {
            "respondent_id": get_respondent(project=other, kind=RespondentKind.MODEL, key="m", attributes={}).pk
        },
        "item": lambda: {"item_id": make_dataset(other).items.first().pk},
        "condition": lambda: {"condition_id": get_condition(project=other, factors={}).pk},
        "instrument": dict,
    }[noun]()
    if noun == "instrument":
        scene.instrument = make_instrument(other, questions=scene.instrument.questions)
    with pytest.raises(ForeignAnswerError, match="not in the project everyday-norms"):
        scene.record(scene.answer("yes"), scene.answer("yes", sample=1, **foreign))
    assert not Response.objects.exists()


def test_a_withdrawn_answer_is_history_and_leaves_its_place_free(scene: Scene):
    scene.record(scene.answer("yes", source_id=7), scene.answer("n", "note", source_id=7))
    assert withdraw(source_kind=SourceKind.IMPORT, source_id=7, questions=["fits"]) == 1
    assert scene.standing() == ["n"]
    assert scene.record(scene.answer("no")) == Recorded(stored=1)


def test_conditions_and_respondents_are_one_row_each(project: Project):
    first = get_condition(project=project, factors={"a": 1, "b": 2})
    assert get_condition(project=project, factors={"b": 2, "a": 1}) == first
    assert get_condition(project=project, factors={"b": 2, "a": "1"}) != first
    one = get_respondent(project=project, kind=RespondentKind.MODEL, key="m", attributes={"model": "x"})
    assert get_respondent(project=project, kind=RespondentKind.MODEL, key="m", attributes={"model": "y"}) == one
    assert (Condition.objects.count(), Respondent.objects.count()) == (2, 1)


@pytest.mark.parametrize("fields", [{"sample": -1}, {"sample": 2**31}, {"seconds": float("nan")}, {"seconds": -0.1}])
def test_an_answer_that_no_column_holds_is_refused_in_a_sentence(fields):
    with pytest.raises(ValueError, match=r"sample is numbered|seconds of at least 0"):
        Answer(respondent_id=1, item_id=1, question="q", value="a", condition_id=1, **fields)


def test_a_whole_number_is_one_level_of_a_factor_however_it_is_written(project: Project):
    whole = get_condition(project=project, factors={"temperature": 0, "top_p": 1.0})
    assert get_condition(project=project, factors={"temperature": 0.0, "top_p": 1}) == whole
    assert get_condition(project=project, factors={"temperature": 0.5, "top_p": 1}) != whole
