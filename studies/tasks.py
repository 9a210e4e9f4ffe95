from uuid import UUID

from celery import shared_task
from django.utils import timezone

from studies.models import Study
from studies.services.people import delete_expired_ids
from studies.services.places import give_back_timed_out
from studies.services.platform_actions import send_list
from studies.services.platform_sync import connected_studies, pull_and_note


@shared_task
def give_back_places() -> int:
    """Let the places of people who stay away go to others; how many."""
    return give_back_timed_out(timezone.now())


@shared_task
def delete_expired_platform_ids() -> int:
    """Delete the platform ids of studies whose day has come; how many people's."""
    return delete_expired_ids(timezone.now().date())


@shared_task
def pull_submissions(study_id: int) -> None:
    """Ask the platform how the study's submissions stand."""
    if study := connected_studies().filter(pk=study_id).first():
        pull_and_note(study)


@shared_task
def pull_open_studies() -> None:
    """Have every open study that is connected asked for, each in a task of its own."""
    for pk in connected_studies().filter(status=Study.Status.OPEN).values_list("pk", flat=True):
        pull_submissions.delay(pk)


@shared_task
def send_platform_list(batch: str) -> None:
    """Send what is confirmed of a list to the platform."""
    send_list(UUID(batch))
