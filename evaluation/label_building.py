"""Computing what the pages of a labelling project's agreement and labels show, for workers."""

from annotation.models import LabelProject
from evaluation.label_agreement import compute_agreement
from evaluation.label_results import keep, keep_problem, state
from evaluation.labels import label_rows


def build_label_results(label_project_id: int) -> None:
    """Compute and keep the results; a fault of the program is kept as one sentence and raised."""
    label_project = LabelProject.objects.select_related("instrument").get(pk=label_project_id)
    before = state(label_project)  # answers that come while this computes make it out of date, not wrong
    try:
        keep(label_project, before, compute_agreement(label_project), label_rows(label_project))
    except Exception:
        sentence = "A fault in the program kept this from being computed; the worker’s log has the details."
        keep_problem(label_project, before, sentence)
        raise
