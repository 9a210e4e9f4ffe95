"""Production: no default secrets; refuses to start without them."""

from config import env
from config.logs import logging_config
from config.settings.base import *  # noqa: F403
from config.settings.base import require_field_keys

DEBUG = False
LOGGING = logging_config(as_json=True)
SECRET_KEY = env.text("SECRET_KEY")
env.text("ALLOWED_HOSTS")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
require_field_keys()

SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", True)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
