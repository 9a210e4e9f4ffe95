"""What is wrong with the environment is said before anything starts, without a password."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import preflight
from config.embedded import free_port
from config.preflight import check_environment, check_packages
from config.processes import ROOT, StartError


@pytest.mark.parametrize(
    ("name", "url", "words"),
    [
        ("REDIS_URL", "nonsense", "REDIS_URL must look like redis://:password@host:6379/0."),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:many/0", "REDIS_URL must look like redis://:password@host:6379/0."),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:{port}/0", "The server that REDIS_URL names cannot be used: "),
        ("DATABASE_URL", "postgresql://me:hidden@127.0.0.1:{port}/x", "The database that DATABASE_URL names cannot be"),
    ],
)
def test_an_address_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch, name: str, url: str, words: str) -> None:
    monkeypatch.setenv(name, url.format(port=free_port()))
    with pytest.raises(StartError) as caught:
        check_environment()
    assert str(caught.value).startswith(words)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_addresses_that_answer() -> None:
    assert os.environ["DATABASE_URL"]
    check_environment()


def test_a_package_that_cannot_be_loaded_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    check_packages()
    monkeypatch.setattr(preflight, "COMPILED", {"not_there": "not-there"})
    with pytest.raises(
        StartError, match=r"^The package not-there cannot be loaded \(No module .*\); install .* Docker"
    ):
        check_packages()


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--workers", "0"], {}, "--workers: '0' is not a number of processes; give a whole number of at least 1"),
        (["--port", "70000"], {}, "--port: '70000' is not a port; give a whole number from 1 to 65535"),
        (["--port", "-1"], {}, "--port: '-1' is not a port; give a whole number from 1 to 65535"),
        ([], {"CONCORD_FIELD_KEYS": "abc"}, "serve: CONCORD_FIELD_KEYS: key 1 of 1 is not a Fernet key"),
        (
            [],
            {"DATABASE_URL": "postgresql://me@db:many/x"},
            "serve: The port or the brackets in DATABASE_URL are wrong",
        ),
    ],
)
def test_serve_says_it_at_once(tmp_path: Path, arguments: list[str], environment: dict[str, str], words: str) -> None:
    command = [sys.executable, ROOT / "manage.py", "serve", "--port", str(free_port()), *arguments]
    env = {"PATH": os.environ["PATH"], "CONCORD_VAR": str(tmp_path)} | environment
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert result.returncode in {1, 2}
    assert words in result.stderr.splitlines()[-1]
    assert result.stdout == ""
