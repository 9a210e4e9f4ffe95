"""`python -m config.prepare`: what the web server needs before it starts, in one process to save a start-up."""

import os

import django
from django.core.management import call_command


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


if __name__ == "__main__":
    main()
