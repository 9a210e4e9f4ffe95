"""Time of an alignment report on answers of the demo's size, made through record_many."""

import random
from collections.abc import Iterator

from bench.importing import measure_import
from bench.recording import make_instrument
from bench.timing import interleaved
from evaluation.building import build_report
from evaluation.models import Report
from evaluation.services import create_report
from materials.models import Item
from projects.models import Project
from protocols.pact.instruments import MODEL_QUESTION_CODES, PARTICIPANT_COUNTRIES
from responses.models import RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many

ITEMS, PEOPLE, ITEMS_EACH = 48, 120, 7
PERSONAS = ({}, *({"country": country} for country in PARTICIPANT_COUNTRIES))
CODES = ("culture", "preference")


def measure_report(*, rounds: int) -> tuple[int, list[float]]:
    """How many answers the report reads, and the seconds of building it, `rounds` times."""
    project = Project.objects.create(name="Report", slug="bench-report")
    measure_import(project, items=ITEMS, rounds=1)
    rng = random.Random(1)
    answers = [*_people(project, rng), *_models(project, rng)]
    instrument = make_instrument(project)
    record_many(project=project, instrument=instrument, answers=answers, source_kind=SourceKind.IMPORT)
    parameters = {
        "dataset": "bench-0",
        "instrument": instrument.name,
        "questions": list(MODEL_QUESTION_CODES),
        "people": "simulated",
    }

    def ask() -> int:
        return create_report(
            project=project, title="Bench", kind="alignment", parameters=parameters, created_by=None
        ).pk

    def build(number: int) -> None:
        report = build_report(pks[number])
        if report.status != Report.Status.READY:
            raise RuntimeError(f"The report was not built: {report.problem}")

    pks = [ask() for _ in range(rounds)]
    return len(answers), interleaved({"report": build}, rounds=rounds)["report"]


def _people(project: Project, rng: random.Random) -> Iterator[Answer]:
    items = list(Item.objects.filter(dataset__project=project))
    for number in range(PEOPLE):
        person = get_respondent(
            project=project,
            kind=RespondentKind.PARTICIPANT,
            key=f"bench:{number}",
            attributes={"country": PARTICIPANT_COUNTRIES[number % len(PARTICIPANT_COUNTRIES)]},
            simulated=True,
        )
        yield from _both_questions(project, person.pk, rng.sample(items, ITEMS_EACH), rng)


def _models(project: Project, rng: random.Random) -> Iterator[Answer]:
    items = list(Item.objects.filter(dataset__project=project))
    for number, persona in enumerate(PERSONAS):
        model = get_respondent(
            project=project,
            kind=RespondentKind.MODEL,
            key=f"model:bench:{number}",
            attributes={"model": "bench", "persona": bool(persona), **persona},
            demo_model=True,
        )
        yield from _both_questions(project, model.pk, items, rng)


def _both_questions(project: Project, respondent: int, items: list[Item], rng: random.Random) -> Iterator[Answer]:
    condition = get_condition(project=project, factors={})
    for item in items:
        for question in MODEL_QUESTION_CODES:
            yield Answer(
                respondent_id=respondent,
                item_id=item.pk,
                question=question,
                value=rng.choice(CODES),
                condition_id=condition.pk,
            )
