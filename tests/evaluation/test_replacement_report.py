"""A report on replacing annotators, from answers in the database to the verdict, against counts by hand."""

from typing import Any

import pytest

from evaluation.building import build_report
from evaluation.parameters import ReportError
from evaluation.services import create_report
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db


def test_a_model_that_says_as_most_people_wins_against_the_one_who_differs(paired: Paired, parameters: dict[str, Any]):
    c, p = "culture", "preference"
    said = {"a": (c, c, p, p), "b": (c, c, p, p), "d": (p, p, c, p)}
    paired.record(
        [(paired.person(who), n, "norm", label) for who, labels in said.items() for n, label in enumerate(labels)]
    )
    model, persona = paired.model("tiny"), paired.model("tiny", country="India")
    for temperature, last in ((0, p), (1, c)):
        answers = [(model, n, "norm", label) for n, label in enumerate((c, c, p, last))]
        paired.record([*answers, (persona, 0, "norm", p)], temperature=temperature, prompt="plain v1")
    asked = {name: parameters[name] for name in ("dataset", "instrument", "people", "seed")}
    asked |= {"question": "norm", "kinds": ["participant"], "min_items": 4, "epsilon": 0.2}

    def ask(**changes: Any) -> dict[str, list[dict[str, Any]]]:
        report = create_report(
            project=paired.project, title="r", kind="replacement", parameters=asked | changes, created_by=None
        )
        sections = build_report(report.pk).sections
        return {t["code"]: [row["cells"] for row in t["rows"]] for section in sections for t in section["tables"]}

    found = ask()
    cold, warm = found["replacement"]
    assert (cold["model"], cold["annotators"], cold["items"]) == ("tiny at temperature 0", 3, 4)
    # It says as a and b do: a tie with both of them everywhere, and better than d on three of four items.
    assert cold["advantage"]["value"] == 1.0
    assert cold["passes"] == "yes"
    assert [(one["advantage"]["value"], one["own_advantage"]["value"]) for one in found["annotators"][:3]] == [
        (1.0, 1.0),
        (1.0, 1.0),
        (1.0, 0.25),
    ]
    assert warm["advantage"]["value"] == 3 / 4  # about the last item all people agree
    assert ask(min_items=5)["replacement"][0]["passes"] == "not tested"
    with pytest.raises(ReportError, match="no question none"):
        ask(question="none")
