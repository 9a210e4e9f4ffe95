"""Celery tasks: one checks or imports an uploaded file, one looks for imports that nobody works on."""

from celery import shared_task

from materials import importing_runs


@shared_task
def work(run_id: int) -> None:
    importing_runs.perform(run_id)


@shared_task
def sweep() -> None:
    importing_runs.sweep()
