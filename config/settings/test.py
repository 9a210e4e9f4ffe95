"""Settings of the test run: real PostgreSQL and Valkey (tests/services.py starts them), fast password hashes."""

import os

os.environ.setdefault("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/not_started")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from config.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = "only-for-tests"
FIELD_KEYS = ["dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktdGVzdC0="]
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
