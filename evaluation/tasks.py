"""Celery task: compute a report."""

from celery import shared_task

from evaluation import services


@shared_task
def build_report(report_id: int) -> None:
    services.build_report(report_id)
