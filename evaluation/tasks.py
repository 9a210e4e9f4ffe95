"""Celery tasks: compute a report, and the agreement and labels of a labelling project; look for reports that nobody
works on."""

from contextlib import suppress

from celery import shared_task

from evaluation import services
from evaluation.models import Report


@shared_task
def build_report(report_id: int) -> None:
    from evaluation import building  # its libraries take 150 MB, which workers that only ask models need not hold

    with suppress(Report.DoesNotExist):  # deleted meanwhile
        building.build_report(report_id)


@shared_task
def sweep() -> None:
    services.sweep()


@shared_task
def compute_label_results(label_project_id: int) -> None:
    from evaluation import label_building

    label_building.build_label_results(label_project_id)
