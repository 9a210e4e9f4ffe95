"""`python -m config.prepare [--demo]`: what must be done before the first page, in one process to save start-ups."""

import os
import sys

import django
from django.core.management import call_command


def main(demo: bool) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    if demo:
        call_command("load_demo")


if __name__ == "__main__":
    main("--demo" in sys.argv[1:])
