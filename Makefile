# `make demo`, `make test` and `make soak` each work as the first command in a fresh clone.
VENV ?= .venv
PY := $(VENV)/bin/python
MINUTES ?= 90
# Also where Python is told to write no bytecode: without it each process would prepare all test modules again.
PYTEST := PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n auto --maxprocesses 4 --dist worksteal
export VENV

.PHONY: demo test soak check bench durability endurance fuzz experiments gpu bundle clean setup

setup:
	@bash .ci/setup

demo: setup ## builds the demo project and opens the window (offscreen with a screenshot where there is no display)
	$(PY) -m curator demo demo-out

test: check ## lint, types, and all tests but those of `make soak`
	$(PYTEST)

soak: setup ## what takes long: real trainings, kills, random keys, long imports
	$(PYTEST) -m soak -o faulthandler_timeout=0

check: setup ## lint and types only
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: setup ## timings; not part of the suite
	$(PY) -m tests.benchmarks

durability: MINUTES = 30
durability: setup ## kills, power failures and failing disks where files are changed or read; writes durability-report.txt
	$(PY) -m tests.durability --minutes $(MINUTES)

endurance: MINUTES = 240
endurance: setup ## hours of keys, imports, trainings and killed linkers in one window: nothing lost, nothing grows
	$(PY) -m tests.endurance --minutes $(MINUTES) --report endurance-report.txt

fuzz: MINUTES = 10
fuzz: setup ## changed files for every reader, guided by coverage, MINUTES for each; findings in fuzz-findings/
	@bash .ci/setup fuzz
	$(PY) -m tests.fuzz --seconds $$(($(MINUTES) * 60))

experiments: setup ## the papers' questions on BC5CDR, in runs that can be stopped and resumed
	$(PY) -m tests.benchmarks.experiments --minutes $(MINUTES)

gpu: MINUTES = 40
gpu: ## a GPU against the processor: vectors, search, speed, full memory, and a training of every recipe
	$(or $(wildcard $(PY)),python3) -m tests.gpu --minutes $(MINUTES)

bundle: setup ## a folder that needs no Python, its archive and a Debian package in dist/; takes some minutes
	@bash .ci/bundle

clean:
	rm -rf $(VENV) demo-out build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
