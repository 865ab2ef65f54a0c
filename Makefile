# `make demo` and `make test` do all the set-up themselves; a second run starts at once.

BIN := .venv/bin
# For set-up: the environment's own Python, else the first on the PATH that is new enough.
PYTHON := $(or $(wildcard $(BIN)/python),$(shell \
  for python in python3.13 python3.12 python3.11 python3; do \
    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
    then echo $$python; break; fi; \
  done))

.PHONY: demo test lint types bench nightly clean setup
.DEFAULT_GOAL := test

# Short runs: a JVM that compiles less and starts faster. Not for benchmarks.
demo test nightly: export EVERVIEW_SHORT_RUN = 1

demo: setup
	@$(BIN)/everview demo

# Two processes, each with a Spark session of its own, take one file after the other.
test: lint types
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-logo

types: setup
	@$(BIN)/mypy

# Everything, the slow suites too.
nightly: lint types
	@$(BIN)/pytest -m ''

# `make bench what='queries --scale 0.1'`: see docs/performance.md
bench: setup
	@$(BIN)/python -m bench $(what)

setup:
ifeq ($(strip $(PYTHON)),)
	@echo 'setup: Python 3.11 or newer is needed and none was found; install one and run again' >&2; exit 1
else
	@$(PYTHON) tools/setup.py
endif

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
