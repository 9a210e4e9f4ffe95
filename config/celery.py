"""The Celery application; workers start with `celery -A config.celery worker`."""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_before_create_process, worker_init, worker_process_init

from config.watchdog import end_with_serve, end_with_worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

app = Celery("concord")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_before_create_process.connect
def _share_memory_with_the_pool(**_: Any) -> None:
    """What is loaded stays in pages that all processes share: collecting garbage would write to each."""
    gc.collect()
    gc.freeze()


beat_init.connect(end_with_serve)
worker_init.connect(end_with_serve)
worker_process_init.connect(end_with_worker)
