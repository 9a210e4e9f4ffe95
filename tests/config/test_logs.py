"""Log lines can be joined by request, and never hold a platform id, a session's key or a query."""

import io
import json
import logging
import logging.config
import uuid
from collections.abc import Callable, Iterator

import pytest
import structlog
from django.test import Client

from config.gunicorn import QuietLogger
from config.logs import logging_config

pytestmark = pytest.mark.django_db
Lines = Callable[[], list[dict[str, object]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """The log as JSON lines, as in production."""
    config = logging_config(as_json=True)
    formatter = logging.config.DictConfigurator(config).configure_formatter(config["formatters"]["structured"])
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(formatter)
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in output.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)


def test_one_line_a_request_with_its_id(lines: Lines) -> None:
    response = Client().get("/login/?PROLIFIC_PID=5f00aa")
    (line,) = [line for line in lines() if line["event"] == "request"]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/login/", 200)
    assert line["request_id"] == response["X-Request-ID"] == uuid.UUID(str(line["request_id"])).hex
    assert isinstance(line["ms"], float)
    assert "5f00aa" not in json.dumps(line)


def test_a_proxys_id_is_kept_and_a_strangers_text_is_not(lines: Lines) -> None:
    assert Client().get("/login/", headers={"X-Request-ID": "abc-123"})["X-Request-ID"] == "abc-123"
    for text in ("a" * 65, 'x"} forged', "ü"):
        assert Client().get("/login/", headers={"X-Request-ID": text})["X-Request-ID"] != text


def test_a_participants_key_is_not_logged(lines: Lines) -> None:
    Client().get("/s/studykey/sessionkey/?PROLIFIC_PID=5f00aa")
    text = json.dumps(lines())
    assert "/s/<slug:key>/<slug:session_key>/" in text
    assert "sessionkey" not in text
    assert "5f00aa" not in text


def test_health_checks_do_not_fill_the_log(lines: Lines) -> None:
    Client().get("/healthz")
    assert lines() == []


def test_plain_loggers_and_tracebacks_are_json_too(lines: Lines) -> None:
    structlog.contextvars.bind_contextvars(task_id="t1")
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("some.library").exception("it failed")
    structlog.contextvars.clear_contextvars()
    (line,) = lines()
    assert (line["event"], line["level"], line["task_id"]) == ("it failed", "error", "t1")
    assert "ValueError: broken" in str(line["exception"])


def test_gunicorns_fault_names_no_query(caplog: pytest.LogCaptureFixture) -> None:
    logger = QuietLogger.__new__(QuietLogger)
    logger.error_log = logging.getLogger("gunicorn.test")
    logger.exception("Error handling request %s %s", "GET", "/s/key/?PROLIFIC_PID=5f00aa")
    assert caplog.messages == ["Error handling request GET /s/key/"]
