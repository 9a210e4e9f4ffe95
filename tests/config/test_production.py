"""Production settings have no default secrets: without one of them nothing starts."""

import json
import os
import subprocess
import sys

import pytest
from cryptography.fernet import Fernet

from config.processes import ROOT

COMPLETE = {
    "DATABASE_URL": "postgresql://concord:secret@db/concord",
    "REDIS_URL": "redis://:secret@valkey:6379/0",
    "SECRET_KEY": "a long random text of this installation alone, fifty or more",
    "ALLOWED_HOSTS": "concord.example, www.concord.example",
    "CONCORD_FIELD_KEYS": Fernet.generate_key().decode(),
}
SHOW = """
import json
from config.settings import prod as p
names = ["DEBUG", "ALLOWED_HOSTS", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE"]
print(json.dumps({name: getattr(p, name) for name in names}))
"""


def _python(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings.prod"} | environment
    return subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, check=False)


def test_complete_settings_are_safe() -> None:
    result = _python(SHOW, COMPLETE)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "DEBUG": False,
        "ALLOWED_HOSTS": ["concord.example", "www.concord.example"],
        "SECURE_SSL_REDIRECT": True,
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
    }


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_it_refuses_to_start_without(name: str) -> None:
    result = _python(SHOW, {key: value for key, value in COMPLETE.items() if key != name})
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert f"Set {name}" in last or f"Set the environment variable {name}." in last


def test_embedded_services_are_never_imported() -> None:
    code = "import sys, django; django.setup(); print([m for m in sys.modules if m.startswith('config.')])"
    result = _python(code, COMPLETE)
    assert result.returncode == 0, result.stderr
    assert "config.settings.prod" in result.stdout
    assert "config.embedded" not in result.stdout


def test_what_computes_reports_is_not_held_by_every_web_process() -> None:
    heavy = "('pandas', 'scipy', 'statsmodels', 'altair', 'evalica')"
    code = f"import sys, django; django.setup(); import config.urls; print([m for m in {heavy} if m in sys.modules])"
    result = _python(code, COMPLETE)
    assert (result.stdout, result.returncode) == ("[]\n", 0), result.stderr


def test_manage_says_the_fault_in_one_line() -> None:
    env = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings.prod"}
    command = [sys.executable, str(ROOT / "manage.py"), "check"]
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "manage.py: Set the environment variable DATABASE_URL.\n"


@pytest.mark.parametrize("settings", ["config.settings.prod", "config.settings.dev"])
def test_a_field_key_that_is_none_is_refused_at_start(settings: str) -> None:
    result = _python(f"import {settings}", COMPLETE | {"CONCORD_FIELD_KEYS": "abc"})
    assert result.returncode != 0
    assert "CONCORD_FIELD_KEYS: key 1 of 1 is not a Fernet key" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(("given", "expected"), [({}, "60s"), ({"WEB_STATEMENT_SECONDS": "7"}, "7s")])
def test_web_processes_alone_have_a_limit_for_statements(given: dict[str, str], expected: str) -> None:
    options = "from config.settings import prod; print(prod.DATABASES['default']['OPTIONS'])"
    in_gunicorn = "import os, config.gunicorn as g; os.environ.update(line.split('=') for line in g.raw_env); "
    assert f"statement_timeout={expected}" in _python(in_gunicorn + options, COMPLETE | given).stdout
    assert _python(options, COMPLETE | given).stdout == "{}\n"
