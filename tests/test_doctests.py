"""Runs the examples in docstrings outside the metrics, which have a test of their own."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings

ROOMS = ("projects", "materials", "responses", "llm", "annotation", "studies", "evaluation", "protocols", "config")


def modules_with_examples() -> list[str]:
    root = Path(settings.BASE_DIR)
    files = [file for room in ROOMS for file in (root / room).rglob("*.py") if ">>> " in file.read_text()]
    names = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    return sorted(name for name in names if not name.startswith("evaluation.metrics."))


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_hold(name: str):
    failed, attempted = doctest.testmod(import_module(name))
    assert attempted
    assert not failed
