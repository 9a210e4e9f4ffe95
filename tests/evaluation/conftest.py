"""A small paired study with answers of people and a model whose counts are easy to do by hand."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from materials.models import Dataset, Instrument, Item
from projects.models import Project
from responses.models import Respondent, RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many

Row = tuple[Respondent, int, str, str]  # who, number of the item, question, option

OPTIONS = [{"code": "culture", "text": "As usual here"}, {"code": "preference", "text": "As they prefer"}]
PAIRED = [
    {"kind": "choice", "code": code, "text": f"The {code} question?", "options": OPTIONS}
    for code in ("personal", "norm")
]


@dataclass(frozen=True)
class Paired:
    """A dataset and an instrument with the questions personal and norm."""

    project: Project
    dataset: Dataset
    instrument: Instrument

    def person(self, name: str, *, simulated: bool = True, **attributes: Any) -> Respondent:
        return get_respondent(
            project=self.project,
            kind=RespondentKind.PARTICIPANT,
            key=f"session:{name}",
            attributes={"country": "Brazil", **attributes},
            simulated=simulated,
        )

    def model(self, name: str, *, demo_model: bool = True, **persona: Any) -> Respondent:
        attributes = {"model": name, "endpoint": "local", "persona": bool(persona), **persona}
        key = f"model:{name}:{'-'.join(persona.values())}"
        return get_respondent(
            project=self.project, kind=RespondentKind.MODEL, key=key, attributes=attributes, demo_model=demo_model
        )

    def record(self, rows: Iterable[Row], *, source_kind: SourceKind = SourceKind.IMPORT, **factors: Any) -> None:
        condition = get_condition(project=self.project, factors=factors)
        items = list(Item.objects.filter(dataset=self.dataset).values_list("pk", flat=True))
        record_many(
            project=self.project,
            instrument=self.instrument,
            answers=[Answer(who.pk, items[item], code, value, condition.pk) for who, item, code, value in rows],
            source_kind=source_kind,
            on_conflict="supersede",
        )


@pytest.fixture
def paired(
    project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]
) -> Paired:
    return Paired(project, make_dataset(project, n=4), make_instrument(project, questions=PAIRED, name="paired"))


@pytest.fixture
def answered(paired: Paired) -> Paired:
    """Two simulated people of Brazil and one of India on items 0 and 1; a demo model on items 0 to 2.

    Culture answers, of all: personal 2 of 3 on item 0, 1 of 3 on item 1; norm 3 of 3 and 2 of 3.
    The model without persona chooses culture on item 0 only; as Brazil always; as India never.
    """
    c, p = "culture", "preference"
    brazil, other, india = paired.person("a"), paired.person("b"), paired.person("c", country="India")
    given = {brazil: (c, p, c, c), other: (c, c, c, p), india: (p, p, c, c)}  # personal 0, 1; norm 0, 1
    for who, (personal_0, personal_1, norm_0, norm_1) in given.items():
        pairs = [("personal", 0, personal_0), ("personal", 1, personal_1), ("norm", 0, norm_0), ("norm", 1, norm_1)]
        paired.record([(who, item, code, value) for code, item, value in pairs], option_order="culture|preference")
    tiny = paired.model("tiny")
    as_brazil, as_india = paired.model("tiny", country="Brazil"), paired.model("tiny", country="India")
    for code in ("personal", "norm"):
        plain = [(tiny, 0, code, c), (tiny, 1, code, p), (tiny, 2, code, p)]
        personas = [(who, item, code, value) for who, value in ((as_brazil, c), (as_india, p)) for item in range(3)]
        paired.record(plain + personas, prompt="plain v1", temperature=0)
    return paired


@pytest.fixture
def parameters() -> dict[str, Any]:
    return {
        "dataset": "scenarios",
        "instrument": "paired",
        "questions": ["personal", "norm"],
        "people": "simulated",
        "resamples": 200,
        "splits": 50,
        "seed": 7,
    }
