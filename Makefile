# Every target sets up what it needs in .venv; nothing else has to be installed but Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find pa_env baselines -name '*.py' -o -name py.typed) pyproject.toml README.md

.PHONY: test demo check speed clean
.DEFAULT_GOAL := test

$(VENV)/dependencies: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip hatchling
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable ".[train,bench,test]"
	$(BIN)/python -m pip uninstall --quiet --yes principal-agent-env
	touch $@

# Not editable: tests must see the package as users install it.
$(VENV)/package: $(VENV)/dependencies $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
	touch $@

test: $(VENV)/package  ## the whole test suite, against the installed package
	cd tests && ../$(BIN)/python -m pytest -n 2 -q

demo: $(VENV)/package  ## play and show a short game
	$(BIN)/python examples/demo.py

check: $(VENV)/package  ## linter and type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

speed: $(VENV)/package  ## the speed table
	$(BIN)/python -m baselines speed

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
