"""The Celery application; workers start with `celery -A config.celery worker`."""

import os

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init

from config.watchdog import end_with_serve, end_with_worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

app = Celery("concord")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

beat_init.connect(end_with_serve)
worker_init.connect(end_with_serve)
worker_process_init.connect(end_with_worker)
