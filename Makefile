# Everything runs in .venv, which the first target that needs it makes. Only Python 3.11 (or later) and make are needed.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
TESTS ?= tests papers examples/test_my_gradient.py
FUZZ_EXAMPLES ?= 10000
GPU_PYTHON ?= python3

# One thread a worker: the matrices of the tests are small, and threads of several processes wait for each other.
test fuzz: export OPENBLAS_NUM_THREADS := 1

# The workers, and the processes that many tests start, find each other's compiled modules.
test fuzz: export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test fuzz gpu-check lint format clean

help:
	@echo "make demo    logistic regression and a small network on real data, then three problems solved in structure"
	@echo "make test    all tests (TESTS=... for some of them, WORKERS=... processes)"
	@echo "make fuzz    the property tests with FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) random examples each"
	@echo "make gpu-check  the conformance suite of the backends on a GPU (GPU_PYTHON=... has CuPy, PyTorch or JAX for it)"
	@echo "make lint    style, types, layers"
	@echo "make format  rewrite the sources in the project's style"
	@echo "make clean   remove what the other targets made"

demo: $(VENV)/run.stamp
	$(BIN)/python examples/newton_logistic.py
	$(BIN)/python examples/mlp_digits.py
	$(BIN)/python examples/newton_factorisation.py
	$(BIN)/python examples/laplace_poisson.py
	$(BIN)/python examples/bundle_adjustment.py

test: $(VENV)/run.stamp
	$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

fuzz: $(VENV)/run.stamp
	HYPOTHESIS_PROFILE=fuzz FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -n $(WORKERS) -m fuzz $(TESTS)

gpu-check:
	$(GPU_PYTHON) tests/backends/gpu_check.py

lint: $(VENV)/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later was not found: set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# One stamp for what the tests and demos need, one for the linters: each is made again when pyproject.toml changes.
$(VENV)/run.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e ".[test,demo]"
	touch $@

$(VENV)/lint.stamp: pyproject.toml | $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet -e ".[lint]"
	touch $@
