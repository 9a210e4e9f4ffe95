"""Celery tasks: one does a stage, one takes up stages that nobody does or that models and people are through with."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from protocols import services
from protocols.models import StageRun
from protocols.outputs import is_over
from protocols.stages import StageError

PATIENCE = timedelta(seconds=30)  # until whoever was asked first must have begun


@shared_task
def perform_stage(stage_run_id: int) -> None:
    services.perform(stage_run_id)


@shared_task
def sweep() -> None:
    """Asking again is safe: the row of a stage that is being done is locked."""
    left = StageRun.objects.filter(status=StageRun.Status.PENDING, started_at__lt=timezone.now() - PATIENCE)
    for pk in left.values_list("pk", flat=True):
        services.perform(pk)
    under_way = StageRun.objects.filter(status=StageRun.Status.UNDER_WAY, problem="")
    for stage_run in under_way.select_related("run__project"):
        if is_over(stage_run.run.project, stage_run.outputs) and services.begin(stage_run.pk):
            try:
                services.collect_stage(run=stage_run.run, code=stage_run.code, by=stage_run.by)
            except StageError:  # it stands in the stage's row
                continue
