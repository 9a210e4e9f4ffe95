from celery import shared_task
from django.utils import timezone

from studies.services.places import give_back_timed_out


@shared_task
def give_back_places() -> int:
    """Let the places of people who stay away go to others; how many."""
    return give_back_timed_out(timezone.now())
