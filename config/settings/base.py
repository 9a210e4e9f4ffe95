"""Settings that hold everywhere. Values that differ by place come from the environment, through config.env."""

from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from config import env
from config.database import database_settings
from config.logs import logging_config

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = env.var_dir()
VERSION = "0.1.0"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "axes",
    "config",
    "projects",
    "materials",
    "responses",
    "llm",
    "annotation",
    "studies",
    "evaluation",
    "protocols",
]

MIDDLEWARE = [
    "config.logs.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# config/gunicorn.py sets the limit for the web processes.
DATABASES = {"default": database_settings(env.text("DATABASE_URL"), env.integer("CONCORD_STATEMENT_SECONDS", 0))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL")
CACHES = {"default": {"BACKEND": "config.cache.ForgivingRedisCache", "LOCATION": REDIS_URL}}

# The database's ledger decides what is left to do, so a lost message costs nothing; see docs/architecture.md.
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
# Model jobs wait for servers for minutes at a time: a queue of their own keeps reports and imports from waiting behind
# them. A worker takes from both unless it is told otherwise.
CELERY_TASK_QUEUES = [Queue("celery"), Queue("models")]
CELERY_TASK_ROUTES = {"llm.tasks.run_shard": {"queue": "models"}, "llm.tasks.step_batches": {"queue": "models"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# In kB: after a report, whose libraries take 150 MB, a fresh process takes over.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 250_000
# Stopping waits this long for tasks, then leaves: what was not finished is claimed again.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 2.0
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "llm.tasks.sweep", "schedule": 15.0},
    "sweep imports": {"task": "materials.tasks.sweep", "schedule": 60.0},
    "sweep reports": {"task": "evaluation.tasks.sweep", "schedule": 60.0},
    "delete expired platform ids": {"task": "studies.tasks.delete_expired_platform_ids", "schedule": 3600.0},
    "give back places": {"task": "studies.tasks.give_back_places", "schedule": 60.0},
    "sweep protocols": {"task": "protocols.tasks.sweep", "schedule": 15.0},
    "pull submissions": {"task": "studies.tasks.pull_open_studies", "schedule": 600.0},
}

AUTH_USER_MODEL = "projects.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_VERBOSE = False

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 3000  # a form may hold lists of a hundred questions with ten fields each
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

LOGGING = logging_config(as_json=False)

# Encrypts endpoint keys and platform ids; the first key encrypts, all of them decrypt (rotation).
FIELD_KEYS = env.fernet_keys("CONCORD_FIELD_KEYS")
# A model endpoint in the environment stands in for the embedded model.
MODEL_BASE_URL = env.text("CONCORD_MODEL_BASE_URL", "")
MODEL_NAME = env.text("CONCORD_MODEL_NAME", "")
DEMO_MODEL = env.flag("CONCORD_DEMO_MODEL", False)  # it is the embedded one, and every answer of it says so
# The variables that an endpoint may name for its key, so that no page can read other secrets of the process.
MODEL_KEY_VARIABLE_PREFIX = "CONCORD_MODEL_KEY"
# A killed worker's calls go back to the others after this long.
MODEL_LEASE_SECONDS = env.integer("CONCORD_MODEL_LEASE_SECONDS", 20, minimum=2)
# What the Batch API takes in one file, and how many batches of a job are under way at once.
MODEL_BATCH_REQUESTS = env.integer("CONCORD_MODEL_BATCH_REQUESTS", 50_000, minimum=1)
MODEL_BATCH_BYTES = env.integer("CONCORD_MODEL_BATCH_BYTES", 100_000_000, minimum=1000)
MODEL_BATCHES_AT_ONCE = env.integer("CONCORD_MODEL_BATCHES_AT_ONCE", 4, minimum=1)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["projects.api_auth.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["projects.api_auth.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "projects.api_auth.IdCursorPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "PAGE_SIZE": 100,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "DESCRIPTION": "People and language models answer the same questions; read the items, answers and reports.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    # Enumerations that several nouns call "kind" or "status" get names of their own in the schema.
    "ENUM_NAME_OVERRIDES": {
        "RespondentKind": "responses.models.RespondentKind",
        "JobKind": "llm.models.Job.Kind",
        "JobStatus": "llm.models.Job.Status",
        "LabelProjectStatus": "annotation.models.LabelProject.Status",
        "StudyStatus": "studies.models.Study.Status",
        "ReportStatus": "evaluation.models.Report.Status",
    },
}


def require_field_keys() -> None:
    """Called by the settings that hold real people's data."""
    if not FIELD_KEYS:
        raise ImproperlyConfigured(
            f"Set CONCORD_FIELD_KEYS to one or more Fernet keys, separated by commas; {env.MAKE_FERNET_KEY}."
        )
