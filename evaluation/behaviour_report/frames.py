"""What a behaviour report is computed from, read from the database: the only way in which answers reach it."""

import pandas as pd

from evaluation.behaviour_report.cells import Cells
from evaluation.behaviour_report.counts import count_frames
from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.behaviour_report.reading import read_cells
from evaluation.behaviour_report.selecting import Chosen, respondents, select_behaviour
from evaluation.counting import asked, calls_without_answer
from llm.models import Call, Job
from projects.models import Project


def read_frames(project: Project, parameters: BehaviourParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.behaviour_report.behaviour.Behaviour`, by name."""
    selection = select_behaviour(project, parameters)
    cells = read_cells(selection)
    return {
        "asked": asked(selection),
        "models": _models(selection),
        "pooled": _pooled(selection, cells),
        "calls": _calls(selection),
        **count_frames(cells, parameters),
    }


def _models(selection: Chosen) -> pd.DataFrame:
    """Each model by name, how many personas it answers as, and whether it is a demo model."""
    found = [
        (respondent.attributes.get("model", ""), bool(respondent.attributes.get("persona")), respondent.demo_model)
        for respondent in respondents(selection)
    ]
    frame = pd.DataFrame.from_records(found, columns=["model", "personas", "demo_model"])
    return frame.groupby("model", as_index=False).agg({"personas": "sum", "demo_model": "any"})


def _pooled(selection: Chosen, cells: Cells) -> pd.DataFrame:
    """The factors of conditions that differ among the answers and are not compared, with how many levels each has."""
    conditions = list(selection.project.conditions.order_by("pk").values_list("factors", flat=True))
    levels: dict[str, set[str]] = {}
    for place in sorted(set(cells.owners["condition"].tolist())):
        for name, value in conditions[place].items():
            levels.setdefault(f"cond_{name}", set()).add(str(value))
    left = [(name, len(own)) for name, own in sorted(levels.items()) if name not in selection.parameters.columns]
    return pd.DataFrame.from_records([row for row in left if row[1] > 1], columns=["column", "levels"])


def _calls(selection: Chosen) -> pd.DataFrame:
    """Calls of this dataset and instrument that ended without an answer, or have not ended, by model and status."""
    jobs = Job.objects.filter(
        project=selection.project, dataset=selection.dataset, instrument__in=selection.instruments
    )
    if selection.parameters.models:
        jobs = jobs.filter(endpoint__model__in=selection.parameters.models)
    found = calls_without_answer(Call.objects.filter(job__in=jobs), jobs)
    return found.assign(status=[Call.Status(status).label for status in found["status"]])
