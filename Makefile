# Two commands do everything on a fresh Debian machine with git, make, python3 (3.11 or newer) and python3-venv:
#   make run    install into .venv and serve the dashboard on http://localhost:8501 with sample games
#   make test   install what the tests need (a browser too) and run all checks and tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The browser tests wait more than they compute, so three at a time take less long than two even on two cores.
WORKERS ?= 3

# Inputs that the long tests change, kills and addresses that they try, and the seed of all three.
KILLS ?= 22
INPUTS ?= 10000
SEED ?= 1

define STYLE
$(BIN)/ruff format --check .
$(BIN)/ruff check .
$(BIN)/lint-imports --no-cache
endef

.DEFAULT_GOAL := help
.PHONY: help run test test-long check validity bench samples reader screenshots clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

run: $(VENV)/installed ## Install into .venv, and serve the dashboard with sample games on http://localhost:8501
	$(BIN)/dramaturg serve --samples

# Types take half a minute of one processor, so they are checked beside the tests; what is wrong with them is said last.
test: $(VENV)/installed-dev ## All checks and tests
	@bash scripts/browser.sh
	$(STYLE)
	@mkdir -p build; $(BIN)/mypy >build/types.txt 2>&1 & types=$$!; tests=0; trap 'kill $$types' INT TERM; \
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 25 || tests=$$?; \
	wait $$types || { cat build/types.txt; exit 1; }; exit $$tests

test-long: $(VENV)/installed-dev ## All pages in all sizes and themes, floods, faults and kills, simulations with known truth, thorough properties
	@bash scripts/browser.sh
	@failed=0; set -x; \
	$(BIN)/pytest -m "long or hypothesis" --hypothesis-profile thorough \
		--numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 25 -rP || failed=1; \
	$(BIN)/python -m tests.faults.kills --kills $(KILLS) --seed $(SEED) || failed=1; \
	$(BIN)/python -m tests.faults.fuzz --inputs $(INPUTS) --seed $(SEED) || failed=1; \
	exit $$failed

check: $(VENV)/installed-dev ## Formatting, lint, types and import rules
	$(STYLE)
	$(BIN)/mypy

validity: $(VENV)/installed-dev ## Print how far each metric can be trusted, on the test games or on those below FOLDER
	$(BIN)/python -m benchmarks.validity $(FOLDER)

bench: $(VENV)/installed-dev ## Print measured speed and memory beside what is wanted
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.judging

samples: $(VENV)/installed-dev ## Score the sample games anew and write their recorded scores
	$(BIN)/python scripts/record_samples.py

reader: $(VENV)/installed-dev ## Train the reader on data/labels, print its figures, and write it
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.reader

screenshots: $(VENV)/installed-dev ## Take pictures of every page in each state, and those of the README anew
	@bash scripts/browser.sh
	$(BIN)/pytest tests/browser -k screenshots -m "long or not long" --numprocesses 0
	$(BIN)/python scripts/screenshots.py

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) build dist test-results .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Workflows and scripts may call the environments by these names.
install: $(VENV)/installed

install-dev: $(VENV)/installed-dev

$(VENV)/installed: requirements.lock pyproject.toml scripts/install.sh
	PYTHON="$(PYTHON)" bash scripts/install.sh default
	@touch $@

$(VENV)/installed-dev: requirements.lock pyproject.toml scripts/install.sh
	PYTHON="$(PYTHON)" bash scripts/install.sh default login dev
	@touch $@ $(VENV)/installed
