"""Dockerfile and docker-compose.yml as far as they can be checked without a Docker engine."""

import re
import shlex
from fnmatch import fnmatch
from typing import Any

import pytest
import yaml

from config.processes import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
STEPS = [line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
SECRETS = {"SECRET_KEY", "CONCORD_FIELD_KEYS", "POSTGRES_PASSWORD", "VALKEY_PASSWORD"}


def test_every_part_is_there() -> None:
    assert set(SERVICES) == {"web", "worker", "model-worker", "beat", "migrate", "postgres", "valkey"}


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"migrate"}))
def test_every_lasting_service_has_a_health_check(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]


@pytest.mark.parametrize("name", ["web", "worker", "model-worker", "beat"])
def test_programs_wait_for_migrations_and_services(name: str) -> None:
    assert {key: value["condition"] for key, value in SERVICES[name]["depends_on"].items()} == {
        "postgres": "service_healthy",
        "valkey": "service_healthy",
        "migrate": "service_completed_successfully",
    }


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    used = re.findall(r"\$\{(\w+)(:?[-?])?", text)
    assert {name for name, _ in used} >= SECRETS
    assert {operator for name, operator in used if name in SECRETS} == {":?"}
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search("SECRET|KEY|PASSWORD|URL", name):
                assert "${" in value, name


def test_images_are_pinned() -> None:
    images = [service["image"] for service in SERVICES.values()] + [base for base, _ in _bases()]
    for image in images:
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+[\w.-]*", image), image


def test_only_the_web_server_is_reachable_and_only_from_this_machine() -> None:
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "web": ["127.0.0.1:${PORT:-8000}:8000"]
    }


def _bases() -> list[tuple[str, list[str]]]:
    return [(words[0], words[1:]) for step, rest in STEPS if step == "FROM" for words in [rest.split()]]


def test_image_runs_without_root_and_without_the_embedded_services() -> None:
    assert [rest for step, rest in STEPS if step == "USER"] == ["concord"]
    assert STEPS.index(["USER", "concord"]) < next(i for i, step in enumerate(STEPS) if step[0] == "CMD")
    assert "requirements/production.txt" in DOCKERFILE
    assert "pixeltable" not in (ROOT / "requirements" / "production.txt").read_text()
    assert "DJANGO_SETTINGS_MODULE=config.settings.prod" in DOCKERFILE


def test_what_the_image_copies_exists_and_passes_dockerignore() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert all((ROOT / path).exists() for path in allowed)
    for step, rest in STEPS:
        words = shlex.split(rest)
        if step == "COPY" and not words[0].startswith("--from"):
            assert words[0] == "." or any(fnmatch(words[0], path) for path in allowed), words[0]


def test_every_room_is_in_the_image() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages | {"manage.py", "static", "templates"} <= allowed
