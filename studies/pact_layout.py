"""The layout of the PACT study's file of human answers: one row a scenario and person, choices as A and B.

A is the option that follows the custom, B the one that follows the preference; an answer that is neither is empty.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from materials.fitting import missing_fields
from materials.question_kinds import Frozen
from materials.questions import option_codes
from responses.export_columns import Column
from studies.export_tables import Answered, Cell, Person, StudyTable, people_of, table_of
from studies.models import Study
from studies.quality import filter_sessions

NOT_SAID = "undisclosed"
CODES = {"A": "follows the custom", "B": "follows the preference"}


class PactFields(Frozen):
    """What of a study holds what the layout asks for."""

    country: str = "country"  # questions about people
    age: str = "age_group"
    gender: str = "gender"
    scenario: str = "situation"  # fields of items
    scenario_country: str = "receiver_country"
    receiver_age: str = "receiver_age"
    receiver_gender: str = "receiver_gender"
    personal: str = "personal"  # choices about items
    norm: str = "norm"
    culture: str = "culture"  # their options
    preference: str = "preference"


OF_PEOPLE = ("country", "age", "gender")
OF_ITEMS = ("scenario", "scenario_country", "receiver_age", "receiver_gender")
QUESTIONS = ("personal", "norm")
OPTIONS = ("culture", "preference")


def pact_problems(study: Study, fields: PactFields) -> Iterator[str]:
    """A sentence for each thing that the layout asks for and the study does not have."""
    about_people = [question.code for question in study.demographic_questions]
    for name in OF_PEOPLE:
        if (code := getattr(fields, name)) not in about_people:
            yield f"{name}: no question about people has the code {code}; there are {_listed(about_people)}."
    by_name = {getattr(fields, name): name for name in OF_ITEMS}
    for misfit in missing_fields(study.dataset, [], by_name):
        yield f"{by_name.get(misfit.field, misfit.field)}: {misfit}."
    choices = {question.code: question for question in study.item_questions if question.kind == "choice"}
    for name in QUESTIONS:
        code = getattr(fields, name)
        if code not in choices:
            yield f"{name}: no choice about items has the code {code}; there are {_listed(list(choices))}."
            continue
        options = option_codes(choices[code])
        for option in OPTIONS:
            if (chosen := getattr(fields, option)) not in options:
                yield f"{option}: {code} has no option {chosen}; it has {_listed(list(options))}."


def pact_table(study: Study, fields: PactFields, *, simulated: bool) -> StudyTable:
    """The layout for the people that the study's filters keep, or for the simulated people among them.

    What somebody did not say about themselves is "undisclosed". Raises DesignError when the filters cannot be used.
    """
    filtered = filter_sessions(study).get(simulated)
    kept = set(filtered.passed) if filtered else set()

    def records() -> Iterator[tuple[Person, Answered]]:
        return ((person, answered) for person in people_of(study, only=kept) for answered in person.items)

    def said(name: str, record: tuple[Person, Answered]) -> str:
        return str(record[0].session.attributes.get(getattr(fields, name)) or NOT_SAID)

    def content(name: str, record: tuple[Person, Answered]) -> str:
        return str(record[1].item.content.get(getattr(fields, name), ""))

    def chosen(name: str, record: tuple[Person, Answered]) -> str:
        letters = {fields.culture: "A", fields.preference: "B"}
        return letters.get(record[1].answers.get(getattr(fields, name), ""), "")

    country, age, gender = (partial(said, name) for name in OF_PEOPLE)
    scenario, scenario_country, receiver_age, receiver_gender = (partial(content, name) for name in OF_ITEMS)
    personal, norm = (partial(chosen, name) for name in QUESTIONS)
    cells: list[Cell] = [
        (Column("respondent_id", "text", "P and the session's number, S for simulated people"), _respondent),
        (Column("respondent_country", "text", "The person's country"), country),
        (Column("respondent_age_bucket", "text", "The person's age group"), age),
        (Column("respondent_gender", "text", "The person's gender"), gender),
        (Column("respondent_demo", "text", "Age group and gender"), lambda r: f"{age(r)}_{gender(r)}"),
        (Column("scenario_item_id", "text", "Id of the item"), lambda record: record[1].item.external_id),
        (Column("scenario_country", "text", "Where the scenario is set"), scenario_country),
        (Column("scenario", "text", "The scenario"), scenario),
        (Column("receiver_age", "text", "The receiver's age group"), receiver_age),
        (Column("receiver_gender", "text", "The receiver's gender"), receiver_gender),
        (Column("receiver_demo", "text", "Both"), lambda r: f"{receiver_age(r)}_{receiver_gender(r)}"),
        (Column("human_personal", "text", "What they would do", options=CODES), personal),
        (Column("human_norm", "text", "What most people there find right", options=CODES), norm),
    ]
    return table_of(cells, records)


def _respondent(record: tuple[Person, Any]) -> str:
    session = record[0].session
    return f"{'S' if session.simulated else 'P'}{session.number:03}"


def _listed(codes: list[str]) -> str:
    return ", ".join(codes) or "none"
