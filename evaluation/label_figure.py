"""Agreement of the people of a labelling project by criterion, as a figure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.models import LabelProject
from annotation.querysets import simulated_annotators
from evaluation.figures import interval_dots
from evaluation.marks import Mark
from evaluation.sections.shape import Figure, two_decimals

SHOWN = {
    "observed_agreement": "Observed",
    "gwet_ac1": "Gwet’s AC1",
    "krippendorff_alpha": "Krippendorff’s α",
}


def agreement_figure(label_project: LabelProject, rows: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Three coefficients of each row of `label_agreement.compute_agreement`; None where none has a value."""
    mark, caution = _whose(label_project)
    dots = [dot | {"mark": mark, "simulated": bool(caution)} for row in rows for dot in _dots(row)]
    if not dots:
        return None
    lowest = min(number for dot in dots for number in (dot["value"], dot["low"]) if number is not None)
    return Figure(
        code="agreement",
        title="Agreement of annotators by criterion",
        caption="With 95 % intervals over items; n counts items with two answers or more, of pooled rows items times "
        "criteria. The coefficients differ in what they call agreement by chance.",
        source=f"Labelling project {label_project.name}. {caution}".strip(),
        spec=interval_dots(
            dots,
            who=list(dict.fromkeys(dot["who"] for dot in dots)),
            x_title="Agreement",
            domain=(-1 if lowest < 0 else 0, 1),
            caution=caution,
        ),
    )


def _dots(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    who = row["code"] or row["text"].replace(": ", " · ", 1)
    for name, title in SHOWN.items():
        cell = row["estimates"].get(name)
        if cell and cell["value"] is not None:
            yield {"who": who, "question": title, "label": f"{title} {two_decimals(cell['value'])}", **cell}


def _whose(label_project: LabelProject) -> tuple[Mark, str]:
    """The mark of the people in the figure, and the words for simulated ones."""
    submitted = label_project.assignments.filter(status="submitted")
    bots = submitted.filter(annotator__in=simulated_annotators(label_project.project_id))
    if not bots.exists():
        return "human", ""
    real = submitted.exclude(annotator__in=simulated_annotators(label_project.project_id)).exists()
    return "simulated", "People partly simulated" if real else "Simulated people"
