"""What is computed of a labelling project's answers: kept until they change, and computed by a worker.

Without pandas, because the pages look here. Results are in the cache alone: losing them costs computing them again.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from celery import current_app
from django.core.cache import cache
from django.db import connection

from annotation.models import LabelProject

OF_DECISION = ("decision_note", "decided_by", "decided_at")
COLUMNS = (  # of aggregated labels
    "item",
    "question",
    "n",
    "majority",
    "majority_share",
    "dawid_skene",
    "dawid_skene_probability",
    "adjudicated",
    *OF_DECISION,
    "simulated",
)
COMPUTE = "evaluation.tasks.compute_label_results"
FORM = 3  # of what is kept; raise it when that changes
KEPT = 7 * 24 * 3600  # seconds
ASKED_FOR = 60  # seconds after which a worker is asked again: while people label, numbers are that old at most
# Answers are added or taken back and never changed: these three numbers differ whenever any of them does.
STATE = """
SELECT count(*), coalesce(max(answer.id), 0),
       (SELECT coalesce(max(id), 0) FROM annotation_decision WHERE label_project_id = %(label_project)s)
FROM responses_response answer JOIN annotation_assignment place ON place.id = answer.source_id
WHERE place.label_project_id = %(label_project)s AND place.purpose = 'label'
  AND answer.source_kind = 'assignment' AND answer.superseded_by_id IS NULL"""


@dataclass(frozen=True, slots=True)
class Results:
    """`agreement` as evaluation.label_agreement gives it, None before the first time; `current`: of today's answers.

    `problem` says what kept it from being computed.
    """

    agreement: dict[str, Any] | None
    current: bool
    problem: str = ""


def look(label_project: LabelProject) -> Results:
    """The latest results; where answers came since then, a worker is asked for new ones.

    Results of no answers are not given once there are some: they would say that nobody has answered.
    """
    kept = cache.get(_key(label_project, "agreement")) or {}
    current = kept.get("state") == state(label_project)
    if not current and kept and not kept["state"][0]:
        kept = {}
    if not current and cache.add(_key(label_project, "asked"), True, ASKED_FOR):
        current_app.send_task(COMPUTE, [label_project.pk])
    return Results(kept.get("agreement"), current, kept.get("problem", ""))


def labels(label_project: LabelProject) -> Iterator[dict[str, Any]] | None:
    """The rows of the latest aggregated labels, one after the other; None where there are none."""
    kept = cache.get(_key(label_project, "labels"))
    return None if kept is None else (json.loads(line) for line in gzip.open(BytesIO(kept)))


def state(label_project: LabelProject) -> list[int]:
    """Numbers that differ when the answers or decisions do; costs a scan of the answers."""
    with connection.cursor() as cursor:
        cursor.execute(STATE, {"label_project": label_project.pk})
        return list(cursor.fetchone())


def keep(
    label_project: LabelProject, state: list[int], agreement: dict[str, Any], rows: Iterator[dict[str, Any]]
) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    cache.set(_key(label_project, "labels"), gzip.compress(lines.encode(), 1), KEPT)
    cache.set(_key(label_project, "agreement"), {"state": state, "agreement": agreement}, KEPT)
    if not state[0]:  # nothing was counted, so the first answers need not wait
        cache.delete(_key(label_project, "asked"))


def keep_problem(label_project: LabelProject, state: list[int], problem: str) -> None:
    cache.set(_key(label_project, "agreement"), {"state": state, "problem": problem}, KEPT)


def _key(label_project: LabelProject, what: str) -> str:
    return f"label-{what}:{FORM}:{label_project.pk}"
