"""Celery task: compute a report."""

from celery import shared_task

from evaluation import building


@shared_task
def build_report(report_id: int) -> None:
    building.build_report(report_id)
