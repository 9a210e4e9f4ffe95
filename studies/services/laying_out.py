"""Which screens a session has and what stands on them: a function of its study, its attributes and its place."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform

from materials.models import Item
from materials.questions import draw_orders, is_shown
from studies.dealing import deal_cell, deal_items
from studies.flow import Step, steps_before_place, steps_of_place
from studies.models import Screen, Session, Study
from studies.translating import PLATFORM_ID_QUESTION


def questions_of(screen: Screen) -> tuple[Any, ...]:
    """The questions on a screen; empty where there is only something to read or to agree to."""
    study = screen.session.study
    if screen.kind in (Screen.Kind.ITEM, Screen.Kind.ATTENTION):
        return tuple(study.questions[code] for code in screen.asked)
    if screen.kind == Screen.Kind.DEMOGRAPHICS:
        return study.demographic_questions
    if screen.kind == Screen.Kind.COMPREHENSION and (check := study.parsed_design.comprehension):
        return check.questions
    return (PLATFORM_ID_QUESTION,) if screen.kind == Screen.Kind.PLATFORM_ID else ()


def earlier_answers(screen: Screen) -> dict[str, Any]:
    """What was answered about the same item on pages before, where a question depends on it. May cost a query."""
    depends_on = {question.show_if.question for question in questions_of(screen) if question.show_if}
    if not screen.group or depends_on <= set(screen.asked):
        return {}
    before = Screen.objects.filter(session=screen.session, item=screen.item_id, group__lt=screen.group)
    return {code: value for answers in before.values_list("answers", flat=True) for code, value in answers.items()}


def asks_nothing(screen: Screen) -> bool:
    """Whether earlier answers leave nothing to ask on this page about an item."""
    if screen.kind != Screen.Kind.ITEM:
        return False
    earlier = earlier_answers(screen)
    return not any(is_shown(question, earlier) for question in questions_of(screen))


def screens_before_place(session: Session) -> list[Screen]:
    """The session's first screens, unsaved: all until its place is dealt."""
    steps = steps_before_place(session.study.parts(place=1, seed=""))
    screens = [Screen(session=session, position=position, kind=step.kind) for position, step in enumerate(steps)]
    key = f"{session.study.parsed_design.seed}/{session.number}"
    for screen in screens:
        screen.orders = draw_orders(questions_of(screen), key=f"{key}/{screen.kind}")
    return screens


def screens_of_place(session: Session) -> list[Screen]:
    """The screens that follow, unsaved, with the items, levels and orders that belong to its place."""
    study, place, seed = session.study, session.dealt_place, session.dealing_seed
    parts = study.parts(place=place, seed=seed)
    items = _dealt_items(session, place, seed)
    start = len(steps_before_place(parts))
    return [
        _screen(session, start + position, step, items, f"{seed}/{place}")
        for position, step in enumerate(steps_of_place(parts))
    ]


def _screen(
    session: Session, position: int, step: Step, items: Sequence[tuple[Item, dict[str, str]]], key: str
) -> Screen:
    study, screen = session.study, Screen(session=session, position=position, kind=step.kind, group=step.group)
    questions: tuple[Any, ...] = ()
    if step.item is not None:
        screen.item, screen.factors = items[step.item]
        screen.asked = list(step.asked)
        questions, key = study.item_questions, f"{key}/{screen.item.external_id}"  # linked ones may be on other pages
    elif step.check is not None:
        screen.asked = [study.parsed_design.attention_checks[step.check].question.code]
    questions = questions or questions_of(screen)
    shown = {question.code for question in questions_of(screen)}
    orders = draw_orders(questions, key=key)
    screen.orders = {code: order for code, order in orders.items() if code in shown}
    return screen


def item_number(screen: Screen) -> int:
    """Which of the person's items (1, 2, ...) the screen is about."""
    session = screen.session
    parts = session.study.parts(place=session.dealt_place, seed=session.dealing_seed)
    item = steps_of_place(parts)[screen.position - len(steps_before_place(parts))].item
    return 0 if item is None else item + 1


def preview_screens(study: Study) -> list[Screen]:
    """All screens, unsaved, as the first to enter would have them who chose the first option of each question."""
    attributes = {q.code: q.options[0].code for q in study.demographic_questions if q.kind == "choice"}
    session = Session(study=study, number=1, place=1, attributes=attributes)
    session.stratum = stratum_of(study, attributes)
    session.cell = cell_of(session)
    return screens_before_place(session) + screens_of_place(session)


def stratum_of(study: Study, attributes: Mapping[str, Any]) -> str:
    """Among whom the places are dealt, such as "country=India"; "" when all are dealt together."""
    return ", ".join(f"{name}={attributes.get(name, '')}" for name in study.parsed_design.dealt_apart)


def cell_of(session: Session) -> dict[str, str]:
    """The levels of the factors between people that belong to the session's place, by factor."""
    factors = session.study.parsed_design.between
    cells = list(product(*([level.code for level in factor.levels] for factor in factors)))
    cell = deal_cell(len(cells), place=session.dealt_place, seed=session.dealing_seed)
    return dict(zip((factor.name for factor in factors), cells[cell], strict=True))


def _dealt_items(session: Session, place: int, seed: str) -> list[tuple[Item, dict[str, str]]]:
    """The items of the place in the order to show them, each with its levels by factor, the relation among them."""
    design = session.study.parsed_design
    pks, balanced, relations = _item_levels(session)
    conditions = list(product(*([level.code for level in factor.levels] for factor in design.within)))
    hand = deal_items(balanced, items_each=design.items_each, place=place, seed=seed, conditions=len(conditions))
    found = Item.objects.in_bulk([pks[index] for index, _ in hand])
    names = [factor.name for factor in design.within]
    return [
        (found[pks[index]], dict(zip(names, conditions[condition], strict=True)) | relations[index])
        for index, condition in hand
    ]


def _item_levels(session: Session) -> tuple[list[int], list[tuple[str, ...]], list[dict[str, str]]]:
    """Of all items: the primary keys, what is balanced, and the relation to the person as a factor."""
    design = session.study.parsed_design
    fields = list(dict.fromkeys([*design.balance_fields, *([design.relation.field] if design.relation else [])]))
    pks, balanced, relations = [], [], []
    texts = {f"text_{position}": KeyTextTransform(field, "content") for position, field in enumerate(fields)}
    for pk, *values in items_of(session.study).values_list("pk", *texts.values()):
        content = dict(zip(fields, values, strict=True))
        relation = {design.relation.name: design.relation.level(session.attributes, content)} if design.relation else {}
        pks.append(pk)
        balanced.append(tuple(str((content | relation)[name]) for name in design.balance))
        relations.append(relation)
    return pks, balanced, relations


def items_of(study: Study) -> QuerySet[Item]:
    """The study's items: what came after the opening would change who gets what; a draft has all there are."""
    items = Item.objects.filter(dataset_id=study.dataset_id).order_by("position", "pk")
    return items.filter(created_at__lte=study.opened_at) if study.opened_at else items
