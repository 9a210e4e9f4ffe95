"""The embedded default: `manage.py serve` starts the services and puts their addresses into the environment.

Other commands find a running instance's addresses in var/run/services.env.
"""

from config.embedded import load_running_services

load_running_services()

from config import env  # noqa: E402
from config.embedded import local_secret  # noqa: E402
from config.settings.base import *  # noqa: E402, F403
from config.settings.base import VAR_DIR  # noqa: E402

DEBUG = env.flag("DEBUG", False)
SECRET_KEY = local_secret(VAR_DIR, "secret_key")
FIELD_KEYS = env.fernet_keys("CONCORD_FIELD_KEYS") or [local_secret(VAR_DIR, "field_key")]
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
