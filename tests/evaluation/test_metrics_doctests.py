"""The examples in the docstrings of the metrics are true, and every public function has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import evaluation.metrics

MODULES = [
    importlib.import_module(f"evaluation.metrics.{info.name}")
    for info in pkgutil.iter_modules(evaluation.metrics.__path__)
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_are_true(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_function_has_an_example(module):
    functions = inspect.getmembers(module, inspect.isfunction)
    own = [f for name, f in functions if f.__module__ == module.__name__ and not name.startswith("_")]
    assert [f.__name__ for f in own if ">>>" not in (f.__doc__ or "")] == []
