# Every target sets up what it needs in .venv; nothing else has to be installed but Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := $(shell find pa_env baselines -type f -not -path '*/__pycache__/*') pyproject.toml README.md

.PHONY: bench test lowest demo gif docs check speed reproduce clean
.DEFAULT_GOAL := bench

# What the game and the benchmark need ...
$(VENV)/bench: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip hatchling
	$(PIP) ".[bench]"
	touch $@

# ... and what training, Ray, the tests, the linters and the documentation need on top.
$(VENV)/everything: $(VENV)/bench
	$(PIP) ".[bench,tune,train,learners,ray,test,docs]"
	touch $@

# Not editable: tests must see the package as users install it.
$(VENV)/package: $(VENV)/bench $(SOURCES)
	$(PIP) --no-deps --no-build-isolation --force-reinstall .
	touch $@

# One task first: its table comes within minutes, those of the long games much later.
bench: $(VENV)/package  ## the default benchmark: tables, figures and a page in results/benchmark
	$(BIN)/pa-bench run --task k5-t200-uniform --out results/benchmark
	$(BIN)/pa-bench run --out results/benchmark
	$(BIN)/pa-bench report results/benchmark

test: $(VENV)/everything $(VENV)/package  ## the whole test suite, against the installed package
	cd tests && ../$(BIN)/python -m pytest -n 2 --dist worksteal -q

# uv is asked for the lowest versions of what pyproject.toml names; what these need in turn is as new as can be.
lowest:  ## the core tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct \
		-r pyproject.toml --extra bench --extra test
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST) --no-deps .
	cd tests && ../$(LOWEST)/bin/python -m pytest -n 2 -q pa_env baselines/test_protocol.py baselines/test_simulate.py \
		baselines/test_compare.py

demo: $(VENV)/package  ## play and show a short game
	$(BIN)/python examples/demo.py

gif: $(VENV)/package  ## draw the README's animation, docs/game.gif
	$(BIN)/python examples/animation.py docs/game.gif

docs: $(VENV)/everything $(VENV)/package  ## build the documentation and run its notebooks: docs/_build/html/index.html
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

check: $(VENV)/everything $(VENV)/package  ## linter and type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

speed: $(VENV)/everything $(VENV)/package  ## the speed table
	$(BIN)/pa-bench speed

# Resumes where it was stopped. --quick makes small versions of all pages in results/quick.
reproduce: $(VENV)/everything $(VENV)/package  ## every page of results again, in docs
	$(BIN)/pa-bench reproduce all --page docs

clean:
	rm -rf $(VENV) $(LOWEST) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
