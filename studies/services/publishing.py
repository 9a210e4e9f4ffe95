"""A study from draft to open to closed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from materials.fitting import missing_fields
from materials.models import Dataset, Instrument, Item
from materials.questions import QuestionError, option_codes
from projects.models import Project, User
from projects.services import audit
from studies.design import Design, DesignError
from studies.filters import DEFAULT_FILTERS, PLACED, Filter
from studies.flow import OUTCOME
from studies.models import Study
from studies.translating import missing_words

COMPLETION_CODE = re.compile(r"[A-Za-z0-9_-]{1,60}")


class StudyNotReadyError(ValueError):
    """The study cannot be opened. `problems` holds one sentence for each reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


@transaction.atomic
def create_study(
    *,
    project: Project,
    name: str,
    slug: str,
    dataset: Dataset,
    instrument: Instrument,
    texts: Mapping[str, str],
    design: Mapping[str, Any],
    demographics: Sequence[Mapping[str, Any]] = (),
    completion_codes: Mapping[str, str] | None = None,
    translations: Mapping[str, Any] | None = None,
    filters: Sequence[Mapping[str, Any]] | None = None,
    platform: Study.Platform = Study.Platform.PROLIFIC,
    by: User | None = None,
) -> Study:
    """A draft: the next version of the study with this slug. `completion_codes` are by outcome (see open_study)."""
    lock_versions(project, slug)
    latest = Study.objects.filter(project=project, slug=slug).aggregate(top=Max("version"))["top"] or 0
    study = Study.objects.create(
        project=project,
        name=name,
        slug=slug,
        version=latest + 1,
        dataset=dataset,
        instrument=instrument,
        texts=dict(texts),
        design=dict(design),
        demographics=list(demographics),
        completion_codes=dict(completion_codes or {}),
        translations=dict(translations or {}),
        filters=list(filters) if filters is not None else [{"kind": entry.kind} for entry in DEFAULT_FILTERS],
        platform=platform,
    )
    audit(project=project, user=by, action="study created", study=study.pk, name=str(study))
    return study


def lock_versions(project: Project, slug: str) -> None:
    """Hold up others who make a version under this slug until the transaction ends; they would draw the same number."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [f"study {slug}", project.pk])


@transaction.atomic
def open_study(*, study: Study, by: User | None) -> Study:
    """Let people enter. From here on the design, the texts and the set of items are fixed.

    A closed study opens again as it was. Raises StudyNotReadyError with a sentence for each thing that is missing.
    """
    fresh = Study.objects.select_for_update(no_key=True).select_related("instrument", "project").get(pk=study.pk)
    if fresh.status == Study.Status.OPEN:
        return fresh
    if problems := list(find_problems(fresh)):
        raise StudyNotReadyError(problems)
    fresh.status = Study.Status.OPEN
    fresh.opened_at = fresh.opened_at or timezone.now()
    fresh.save(update_fields=["status", "opened_at"])
    audit(project=fresh.project, user=by, action="study opened", study=fresh.pk, name=str(fresh))
    return fresh


@transaction.atomic
def close_study(*, study: Study, by: User | None) -> bool:
    """Let nobody new in; who has started can finish. False when the study was not open."""
    closed = Study.objects.filter(pk=study.pk, status=Study.Status.OPEN).update(status=Study.Status.CLOSED)
    if closed:
        audit(project=study.project, user=by, action="study closed", study=study.pk, name=str(study))
    return bool(closed)


def find_problems(study: Study) -> Iterator[str]:
    """A sentence for each thing that keeps the study from being opened."""
    yield from design_problems(study)
    if study.platform == Study.Platform.PROLIFIC:
        try:
            yield from _code_problems(study.completion_codes, study.parsed_design)
        except DesignError:  # named above
            return


def design_problems(study: Study) -> Iterator[str]:
    """Those that keep it from being tried out, too; who tries it out needs no completion code."""
    try:
        design, questions, _, _ = study.parsed_design, study.item_questions, study.parsed_texts, study.parsed_filters
        demographics = study.demographic_questions
        pages, languages = study.item_pages, study.languages
    except (DesignError, QuestionError) as error:
        yield str(error)
        return
    if OUTCOME in (question.code for question in demographics):
        yield f"A question about people has the code {OUTCOME}, which says how a session ended: rename the question."
    yield from _item_problems(study, questions)
    yield from _page_problems(pages, questions, design.asked_on)
    yield from _people_problems(design, demographics)
    yield from _question_problems(design, demographics, questions)
    yield from _filter_problems(study.parsed_filters, questions)
    if len(set(languages)) < len(languages):
        yield f"The study is written in {design.language}, so it needs no translation to it: take that one out."
    yield from missing_words(study)


def _item_problems(study: Study, questions: Sequence[Any]) -> Iterator[str]:
    design = study.parsed_design
    count, needed = Item.objects.filter(dataset_id=study.dataset_id).count(), design.items_each
    if count < needed:
        yield (
            f"The dataset has {count} items, and each person needs {needed}: add items, or give a person fewer "
            "(items_each)."
        )
    levels = [level for factor in design.factors for level in factor.levels]
    shown = [*design.item_template.item_fields, *(entry for level in levels for entry in level.item_fields)]
    fields = [*(entry.field for entry in shown), *design.balance_fields]
    fields += [design.relation.field] if design.relation else []
    fields += [name for translation in study.parsed_translations.values() for name in translation.item_fields.values()]
    for misfit in missing_fields(study.dataset, questions, dict.fromkeys(fields)):
        yield f"{misfit}: add it to the item, or take it out of the design."


def _page_problems(pages: list[list[str]], questions: Sequence[Any], asked_on: Mapping[str, int]) -> Iterator[str]:
    page_of = {code: number for number, page in enumerate(pages) for code in page}
    for code in asked_on.keys() - page_of.keys():
        yield (
            f"What is asked about some items only (asked_on) names {code}, which is not asked: add it to questions, or "
            "take it out."
        )
    for question in questions:
        if question.show_if and page_of[question.show_if.question] > page_of[question.code]:
            yield (
                f"{question.code} depends on {question.show_if.question}, which comes on a later page: change the "
                "pages of an item (groups)."
            )


def _people_problems(design: Design, demographics: Sequence[Any]) -> Iterator[str]:
    """What the design wants to know of people and nobody asks them."""
    asked = {question.code: question for question in demographics}
    named = dict.fromkeys(design.strata, "strata")
    named |= {design.relation.attribute: "relation"} if design.relation else {}
    named |= {rule.question: "screening" for rule in design.screening}
    named |= {code: "quotas" for quota in design.quotas for code in quota.attributes}
    for code, place in named.items():
        if code not in asked:
            yield f"The design's {place} needs {code}, and no question about people has this code: add it."
    wanted = [(rule.question, value) for rule in design.screening for value in rule.allowed]
    wanted += [pair for quota in design.quotas for pair in quota.attributes.items()]
    wanted += [(design.relation.attribute, value) for value in design.relation.close] if design.relation else []
    for code, value in wanted:
        options = option_codes(asked[code]) if code in asked else ()
        if options and str(value) not in options:
            yield f"The design names {value} as an answer to {code}, whose options are {', '.join(options)}."


def _question_problems(design: Design, demographics: Sequence[Any], questions: Sequence[Any]) -> Iterator[str]:
    checks = [check.question for check in design.attention_checks]
    checks += design.comprehension.questions if design.comprehension else ()
    seen = Counter(question.code for question in (*demographics, *questions, *checks))
    for code in [code for code, times in seen.items() if times > 1]:
        yield f"Two questions of the study have the code {code}, about people, items or attention: rename one."


def _filter_problems(filters: Sequence[Filter], questions: Sequence[Any]) -> Iterator[str]:
    placed = [question.code for question in questions if question.kind in PLACED]
    for code in [code for entry in filters for code in getattr(entry, "questions", ()) if code not in placed]:
        yield f"The filters name {code}, but straight-lining shows only in choices, pairs and scales about items."


def _code_problems(codes: Mapping[str, str], design: Design) -> Iterator[str]:
    needed = {
        "completed": True,
        "failed_attention": bool(design.attention_checks),
        "screened_out": bool(design.screening),
        "quota_full": bool(design.quotas),
    }
    for outcome in [outcome for outcome, is_needed in needed.items() if is_needed]:
        if not codes.get(outcome):
            yield f"There is no completion code for the outcome {outcome}: copy it from the platform."
    for outcome, code in codes.items():
        if code and not COMPLETION_CODE.fullmatch(code):
            yield f"The completion code for {outcome} may hold letters, digits, _ and - only."
