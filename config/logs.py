"""Structured logs: JSON lines in production, readable lines elsewhere.

No line holds a query string or a key: survey platforms put a person's id into the query, and the key in the path is all
that it takes to continue a session or to read a shared report.
"""

import time
import uuid
from collections.abc import Callable
from typing import Any

import structlog
from celery.signals import setup_logging, task_postrun, task_prerun
from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bind_contextvars, clear_contextvars, merge_contextvars
from structlog.typing import Processor

LONGEST_REQUEST_ID = 64
NOT_LOGGED = ("/healthz", "/readyz", "/static/")
SHARED: list[Processor] = [
    merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def logging_config(*, as_json: bool) -> dict[str, Any]:
    """The LOGGING setting; also makes `structlog.get_logger()` write through it."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        # Plain tracebacks: the pretty ones print local variables, among them what people typed.
        else [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)]
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": SHARED,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"structured": formatter},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            # Its lines about 4xx answers repeat the request log's, with the whole path.
            "django.request": {"level": "ERROR"},
            "django.server": {"handlers": [], "propagate": False},
            "httpx2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
        },
    }


class RequestLogMiddleware:
    """One line a request, and an id that joins it with all other lines of the request (`X-Request-ID`)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.logger = structlog.get_logger("concord.request")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = _request_id(request.headers.get("X-Request-ID", ""))
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        if not request.path.startswith(NOT_LOGGED):
            milliseconds = round(1000 * (time.perf_counter() - started), 1)
            self.logger.info(
                "request",
                method=request.method,
                path=loggable_path(request),
                status=response.status_code,
                ms=milliseconds,
            )
        return response


def _request_id(given: str) -> str:
    """A proxy's id when it is one, a new one otherwise: what strangers send must not shape the log."""
    usable = given.isascii() and given.replace("-", "").isalnum() and len(given) <= LONGEST_REQUEST_ID
    return given if usable else uuid.uuid4().hex


def loggable_path(request: HttpRequest) -> str:
    """The path; where it holds a key, of participants and of shared reports, its pattern instead (`/s/<str:key>/`)."""
    match = request.resolver_match
    if not request.path.startswith(("/s/", "/shared/")):
        return request.path
    return f"/{match.route}" if match else f"/{request.path.split('/')[1]}/..."


@setup_logging.connect
def _keep_django_logging(**_: Any) -> None:
    """With a receiver Celery leaves logging as Django set it up."""


@task_prerun.connect
def _bind_task(task_id: str, task: Any, **_: Any) -> None:
    clear_contextvars()
    bind_contextvars(task_id=task_id, task=task.name)


@task_postrun.connect
def _unbind_task(**_: Any) -> None:
    clear_contextvars()
