"""What the annotator's pages show: an item with its questions, a training item's feedback, guidelines, own answers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from annotation.models import Assignment, Draft, Flag, Guidelines, LabelMember, LabelProject
from annotation.progress import Progress
from annotation.services import Judged, set_shown
from annotation.suggested import AUDITED, PRESELECTED, Suggested, audits_of, show_suggestions
from materials.item_parts import Part, item_parts, item_title, pairs
from materials.models import Item
from materials.presentation import ShownQuestion, shown_questions, side_of
from materials.questions import span_fields
from projects.markdown import render_markdown
from projects.models import User
from responses.models import Response, SourceKind
from responses.querysets import standing_values
from responses.showing import value_text


class Key(NamedTuple):
    """What a key does on the item page, until the person gives it another one."""

    action: str
    key: str
    does: str


KEYS = (
    Key("submit", "Enter", "Submit, or go on; in a text of several lines with Ctrl"),
    Key("back", "←", "Go back through your own answers"),
    Key("forward", "→", "Go forward through them"),
    Key("undo", "U", "Undo: back to what you did last, to change it"),
    Key("text", "T", "Write in the next text field; Esc leaves it"),
    Key("skip", "S", "Skip this item and say why"),
    Key("flag", "F", "Flag this item for the researchers"),
    Key("guidelines", "G", "Guidelines"),
    Key("keys", "?", "This list"),
)


def item_page(
    place: Assignment,
    user: User,
    progress: Progress,
    *,
    typed: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    changing: bool | None = None,
) -> dict[str, Any]:
    """The item with what is known of this person's answers: just typed, else their draft, else submitted."""
    own = place.annotator_id == user.pk
    if not own:  # what somebody else did with the place since must not show
        set_shown(place, _member(place, user))
    submitted = own and place.status == Assignment.Status.SUBMITTED
    if typed is None:
        typed = _known_answers(place, user, submitted=submitted)
    questions = _questions(place, typed, errors or {})
    return _item(place.label_project, place.item.content, place.orders) | {
        "place": place,
        "key": uuid4(),
        "questions": questions,
        "suggester": _suggester(place),
        "changing": submitted if changing is None else changing,
        "errors": [
            {"text": _said_of(shown.question), "target": shown.question.name}
            for shown in questions
            if shown.question.error
        ],
        "flags": () if place.untouched else _flags(place, user),
        "previous": Assignment.objects.before(place, user) if place.finished_at and own else progress.last,
        "following": Assignment.objects.after(place, user),
    }


def _member(place: Assignment, user: User) -> LabelMember:
    member = LabelMember.objects.filter(label_project=place.label_project_id, user=user).first()
    return member or LabelMember(label_project=place.label_project, user=user)


def _suggester(place: Assignment) -> str:
    """What is said of the model whose answers the place shows; empty where it shows none."""
    model = place.label_project.suggestions_of if place.suggested else None
    return "" if model is None else "demo-model" if model.demo_model else "model"


def _said_of(question: ShownQuestion) -> str:
    """The question and what is wrong with its answer."""
    return f"{question.legend}{' ' if question.legend.endswith(('.', '?', '!', ':', '…')) else ': '}{question.error}"


def _known_answers(place: Assignment, user: User, *, submitted: bool) -> Mapping[str, Any]:
    draft = None if place.untouched else _draft(place, user)
    if draft and draft.answers:
        answers: dict[str, Any] = draft.answers
        return answers
    if submitted:
        standing = standing_values(SourceKind.ASSIGNMENT, place.pk)
        return standing | (audits_of(place.suggested, standing) if place.suggested_as == AUDITED else {})
    return place.suggested if place.suggested_as == PRESELECTED else {}


def _draft(place: Assignment, user: User) -> Draft | None:
    return Draft.objects.filter(label_project=place.label_project_id, item=place.item_id, annotator=user).first()


def _flags(place: Assignment, user: User) -> Iterable[Flag]:
    return Flag.objects.filter(label_project=place.label_project_id, item=place.item_id, annotator=user)


def _questions(place: Assignment, typed: Mapping[str, Any], errors: Mapping[str, str]) -> list[Suggested]:
    questionnaire, content, suggested = (
        place.label_project.instrument.questionnaire,
        place.item.content,
        place.suggested,
    )
    questions = shown_questions(questionnaire, content, orders=place.orders, answers=typed, errors=errors)
    says = {
        shown.code: _in_words(shown, questionnaire[shown.code], suggested[shown.code], content)
        for shown in questions
        if shown.code in suggested
    }
    return show_suggestions(questions, suggested=suggested, says=says, shown_as=place.suggested_as, answers=typed)


def _in_words(shown: ShownQuestion, question: Any, value: Any, content: Mapping[str, Any]) -> str:
    """The label that the page's option has, which for a pair is its side; else the value as answers are shown."""
    labels = {option.code: option.label for option in shown.options}
    return labels.get(str(value)) or value_text(question, value, content)


def _item(label_project: LabelProject, content: Mapping[str, Any], orders: Mapping[str, list[str]]) -> dict[str, Any]:
    questionnaire = label_project.instrument.questionnaire
    sides = pairs(questionnaire, content, orders, label_project.item_fields)
    apart = [field for pair in sides for field in pair]
    marked = span_fields(questionnaire.questions)
    return {
        "parts": item_parts(content, label_project.item_fields, without=apart, marked=marked),
        "pairs": list(sides.values()),
    }


def _words(question: Any, value: Any, content: Mapping[str, Any], orders: Mapping[str, list[str]]) -> str:
    """The answer as others are shown; the chosen text of a pair behind its side."""
    side, words = side_of(question, value, orders), value_text(question, value, content)
    return f"{side}: {words}" if side else words


@dataclass(frozen=True, slots=True)
class Marked:
    """A question of a training item: what was answered and what is right, in words."""

    text: str
    given: str
    right: bool
    right_answers: str


def feedback_page(place: Assignment, user: User, judged: Judged) -> dict[str, Any]:
    """The training item with the person's answers, the right ones, and why."""
    questionnaire, content = place.label_project.instrument.questionnaire, place.item.content
    given = standing_values(SourceKind.ASSIGNMENT, place.pk)

    def words(question: Any, value: Any) -> str:
        return _words(question, value, content, place.orders)

    return _item(place.label_project, content, place.orders) | {
        "place": place,
        "marked": [
            Marked(
                text=question.text,
                given=words(question, given[question.code]) if question.code in given else "no answer",
                right=judged.right[question.code],
                right_answers=" or ".join(words(question, value) for value in judged.right_answers[question.code]),
            )
            for question in questionnaire.questions
            if question.code in judged.right
        ],
        "why": render_markdown(judged.why),
        "previous": Assignment.objects.before(place, user),
        "following": Assignment.objects.after(place, user),
    }


@dataclass(frozen=True, slots=True)
class Example:
    """An item of the guidelines with right answers, as pairs of the question's and the answer's words.

    `pairs`: the two texts of each pair that is compared, the first one on side A.
    """

    parts: list[Part]
    pairs: list[list[Part]]
    answers: list[tuple[str, str]]
    why: str


def guidelines_page(label_project: LabelProject, guidelines: Guidelines | None) -> dict[str, Any]:
    """The text and the examples; of an item that is gone there is none. Two queries where there are examples."""
    if guidelines is None:
        return {"guidelines": "", "examples": []}
    named = [example["item"] for example in guidelines.examples]
    items = {
        item.external_id: item for item in Item.objects.filter(dataset=label_project.dataset_id, external_id__in=named)
    }
    examples = [
        _example(label_project, items[entry["item"]], entry) for entry in guidelines.examples if entry["item"] in items
    ]
    return {"guidelines": render_markdown(guidelines.text), "examples": examples}


def _example(label_project: LabelProject, item: Item, entry: Mapping[str, Any]) -> Example:
    given = [
        (question.text, _words(question, entry["answers"][question.code], item.content, {}))
        for question in label_project.instrument.questionnaire.questions
        if question.code in entry["answers"]
    ]
    return Example(**_item(label_project, item.content, {}), answers=given, why=render_markdown(entry["why"]))


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """A finished place in the person's list: the beginning of the item's text, and what they answered."""

    place: Assignment
    title: str
    answers: str
    at: datetime | None


def own_answers(places: Sequence[Assignment]) -> list[OwnAnswer]:
    """Places with their items loaded, as a list shows them; one query."""
    values: dict[int, dict[str, Any]] = defaultdict(dict)
    standing = Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=[place.pk for place in places], superseded_by=None
    )
    for answer in standing.only("source_id", "question", "value"):
        values[answer.source_id or 0][answer.question] = answer.value
    return [
        OwnAnswer(
            place,
            item_title(place.item.content, place.label_project.item_fields),
            _answers(place, values[place.pk]),
            place.finished_at,
        )
        for place in places
    ]


def _answers(place: Assignment, values: Mapping[str, Any]) -> str:
    return " · ".join(
        _words(question, values[question.code], place.item.content, place.orders)
        for question in place.label_project.instrument.questionnaire.questions
        if question.code in values
    )
