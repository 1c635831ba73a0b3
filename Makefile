# `make demo` and `make test` each work as the first command in a fresh clone.
VENV ?= .venv
PY := $(VENV)/bin/python
MINUTES ?= 90
export VENV

.PHONY: demo test check bench experiments clean setup

setup:
	@bash .ci/setup

demo: setup ## builds the demo project and opens the window (offscreen with a screenshot where there is no display)
	$(PY) -m curator demo demo-out

test: check ## lint, types and the whole suite
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

check: setup ## lint and types only
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: setup ## timings; not part of the suite
	$(PY) -m pip install --quiet --constraint .ci/constraints.txt --editable '.[bench]'
	$(PY) -m tests.benchmarks

experiments: setup ## the papers' questions on BC5CDR, in runs that can be stopped and gone on with
	$(PY) -m tests.benchmarks.experiments --minutes $(MINUTES)

clean:
	rm -rf $(VENV) demo-out build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
