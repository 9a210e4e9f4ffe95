"""The WSGI application for gunicorn."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

application = get_wsgi_application()

# Django loads the pages at the first request. Loaded here, they are there before gunicorn's processes fork.
import config.urls  # noqa: E402, F401
