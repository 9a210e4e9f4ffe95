"""Settings of an instance with one task more: it takes longer than any test and does not let itself be stopped."""

import signal
import time

from celery import shared_task

from config.settings.dev import *  # noqa: F403

CELERY_IMPORTS = ["tests.config.busy"]


@shared_task
def stay() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})
    print("I stay", flush=True)
    time.sleep(600)
