"""Celery task: compute a report."""

from celery import shared_task


@shared_task
def build_report(report_id: int) -> None:
    from evaluation import building  # its libraries take 150 MB, which workers that only ask models need not hold

    building.build_report(report_id)
