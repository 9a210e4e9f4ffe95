#!/usr/bin/env python
"""Concord's commands. `manage.py serve` brings everything up; the rest are Django's and the apps' own."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    if sys.argv[1:2] == ["serve"]:
        # Settings need the services' addresses, so `serve` starts the services before Django.
        from config.serve import main as serve

        return serve(sys.argv[2:])
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(f"manage.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
