# Everything a person or CI asks of this checkout. `make` alone lists it.

PYTHON ?= python3
ARGS ?=
# Two test processes a core: many tests wait, for clocks and for processes of their own.
TESTERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))' 2>/dev/null || echo auto)

VENV := .venv
RUN := $(VENV)/bin/python -m
# With bytecode kept, whatever the shell says: the tests start hundreds of processes.
PYTEST := PYTHONDONTWRITEBYTECODE= $(RUN) pytest
PIP := $(RUN) pip --disable-pip-version-check install -qq

# Parts that are fast and need no other part: what a change is likely to break first; without whole matches and counts.
UNIT := $(wildcard tests/events tests/projections tests/service/auth tests/service/games tests/service/live tests/service/log \
	tests/service/rules tests/service/test_*.py tests/test_house.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test check lint types contracts licences unit laws golden openapi released client bench format hooks lock clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: $(VENV)/.runtime ## Serve with a store of its own and print the address (ARGS="--port 8000 …")
	@$(VENV)/bin/evenfold serve $(ARGS)

test: $(VENV)/.dev ## Run every test, what takes long at a small size (ARGS="-k capture …")
	@$(PYTEST) -n $(TESTERS) $(ARGS)

check: lint types contracts licences unit ## Lint, types, import contracts, licences, unit tests: under two minutes

lint: $(VENV)/.dev ## Check style and format
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .

types: $(VENV)/.dev ## Check types, strictly
	@$(RUN) mypy

contracts: $(VENV)/.dev ## Check which package may import which
	@$(VENV)/bin/lint-imports --no-logo

licences: $(VENV)/.runtime ## Check that every runtime dependency has a licence we may ship
	@$(VENV)/bin/python tests/licences.py

unit: $(VENV)/.dev ## Run the unit tests
	@$(PYTEST) -n auto $(UNIT) --ignore-glob='*/test_matches.py' --ignore-glob='*counts.py' $(ARGS)

laws: $(VENV)/.dev ## Run every test at its full size, the laws of all games above all: the better part of an hour
	@EVENFOLD_TESTS=full $(PYTEST) -n auto -o faulthandler_timeout=3600 $(ARGS)

golden: $(VENV)/.dev ## Add golden logs for what none of them holds yet; those that exist stay as they are
	@$(RUN) tests.replays

openapi: $(VENV)/.runtime ## Write openapi/openapi.json from the routes
	@$(VENV)/bin/evenfold openapi --output openapi/openapi.json

released: openapi ## Hold the clients of the present document unbroken from now on: part of a release
	@cp openapi/openapi.json openapi/released.json

client: $(VENV)/.client ## Generate a Python client from the document, and have it play a match
	@$(VENV)/client/bin/python tests/client/play.py $(VENV)/bin/evenfold

bench: $(VENV)/.dev ## Measure commands, folds and where the time goes (ARGS="…")
	@$(RUN) tests.bench $(ARGS)

format: $(VENV)/.dev ## Format the code and mend what can be mended without thought
	@$(RUN) ruff check --fix .
	@$(RUN) ruff format .

hooks: $(VENV)/.dev ## Have git run the quick checks before each commit
	@$(RUN) pre_commit install

# Compiled twice, so that the second lock holds the first one's versions. A lock names no host: the
# index is whatever pip is configured for, and the hashes say that it sent the right files.
LOCK_ALONE = $(RUN) uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links
LOCK = $(LOCK_ALONE) pyproject.toml --group build
lock: $(VENV)/.dev ## Write the locks anew from pyproject.toml (ARGS="--upgrade")
	@$(LOCK) $(ARGS) --output-file requirements.lock
	@$(LOCK) $(ARGS) --group dev --constraints requirements.lock --output-file tests/requirements.lock
	@$(LOCK_ALONE) $(ARGS) tests/client/requirements.in --output-file tests/client/requirements.lock

clean: ## Remove the virtual environment and what the tools cached
	@rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# Each stamp stands for a finished step, so that an interrupted one is done again.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo 'Evenfold needs Python 3.11 or newer as "$(PYTHON)"; name another with: make PYTHON=/path/to/python' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo '"$(PYTHON)" cannot make virtual environments; on Debian: apt-get install python3-venv' >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created requirements.lock pyproject.toml
	@echo 'Installing what requirements.lock names into $(VENV) …'
	@$(PIP) --require-hashes --requirement requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime tests/requirements.lock
	@echo 'Installing what tests/requirements.lock names into $(VENV) …'
	@$(PIP) --require-hashes --requirement tests/requirements.lock
	@touch $@

# Apart from all else: the generator of clients wants other versions of what the service uses too.
$(VENV)/.client: $(VENV)/.runtime tests/client/requirements.lock
	@echo 'Installing what tests/client/requirements.lock names into $(VENV)/client …'
	@$(PYTHON) -m venv --clear $(VENV)/client
	@$(VENV)/client/bin/python -m pip --disable-pip-version-check install -qq \
		--require-hashes --requirement tests/client/requirements.lock
	@touch $@
