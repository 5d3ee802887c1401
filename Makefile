# Two commands do everything on a fresh Debian machine with git, make, python3 (3.11 or newer) and python3-venv:
#   make run    install into .venv and serve the dashboard on http://localhost:8501 with sample games
#   make test   install what the tests need (a browser too) and run all checks and tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The browser tests wait more than they compute, so three at a time take less long than two even on two cores.
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help run install install-dev browser test test-long test-tools test-faults soak check style types format validity bench bench-pages bench-judging bench-raters bench-peers screenshots site package bad-input-table lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

run: install ## Serve the dashboard with sample games on http://localhost:8501
	$(BIN)/dramaturg serve --samples

install: $(VENV)/installed ## Install Dramaturg into .venv

install-dev: $(VENV)/installed-dev

$(VENV)/installed: requirements.lock pyproject.toml scripts/install.sh
	PYTHON="$(PYTHON)" bash scripts/install.sh default
	@touch $@

$(VENV)/installed-dev: requirements.lock pyproject.toml scripts/install.sh
	PYTHON="$(PYTHON)" bash scripts/install.sh default login dev
	@touch $@ $(VENV)/installed

browser: ## Install Chromium and fonts for the browser tests (through apt, where it may)
	@bash scripts/browser.sh

check: style types ## Formatting, lint, types and import rules

style: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: install-dev
	$(BIN)/mypy

format: install-dev ## Format and mend what can be mended automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Types take half a minute of one processor, so they are checked beside the tests; what is wrong with them is said last.
test: install-dev browser style ## All checks and tests
	@mkdir -p build; $(BIN)/mypy >build/types.txt 2>&1 & types=$$!; tests=0; trap 'kill $$types' INT TERM; \
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 25 || tests=$$?; \
	wait $$types || { cat build/types.txt; exit 1; }; exit $$tests

test-long: install-dev browser ## All pages in all sizes and themes, floods and kills, simulations with known truth, thorough properties
	$(BIN)/pytest -m "long or hypothesis" --hypothesis-profile thorough --ignore tests/cli/tools \
		--numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 25 -rP

test-tools: install-dev ## Label Studio, Argilla, Inspect, MLflow, W&B and agent frameworks themselves, in environments of their own
	$(BIN)/pytest tests/cli/tools -m long

# The tests of the store that make a disk full, read-only or locked, move or replace the file, or set the clock.
STORE_FAULTS := $(patsubst %,tests/unit/store/test_store_%.py,faults places moved processes schema clock)

test-faults: install-dev ## A hundred kills, all faults of disk, file and clock, 10,000 fuzzed inputs, 300 addresses (KILLS, INPUTS, SEED)
	$(BIN)/python -m tests.faults.kills --kills $(or $(KILLS),100) --seed $(or $(SEED),1)
	$(BIN)/python -m tests.faults.fuzz --inputs $(or $(INPUTS),10000) --seed $(or $(SEED),1)
	$(BIN)/python -m tests.faults.fuzz_pages --inputs 300 --seed $(or $(SEED),1)
	DRAMATURG_FLIPS=200 $(BIN)/pytest -m "long or not long" tests/faults $(STORE_FAULTS) tests/unit/workflows/test_corpora.py tests/unit/benchmarks/test_soak.py

validity: install-dev ## Print what the metrics notice of planted faults, length and people (FINAL=1 opens the kept labels)
	$(BIN)/python -m benchmarks.validity $(FOLDER) $(if $(PEOPLE),--people $(PEOPLE))

bench: install-dev ## Print measured speed and memory beside what is wanted
	$(BIN)/python -m benchmarks.speed

bench-pages: install-dev browser ## Print the pages' times on 1,000 games beside what is wanted
	$(BIN)/python -m benchmarks.pages

bench-judging: install-dev ## Print the speed of judging on a local server beside what is wanted
	$(BIN)/python -m benchmarks.judging

soak: install-dev ## An hour of mixed load from 20 clients (MINUTES); prints errors, memory and the slowest forms
	$(BIN)/python -m benchmarks.soak --minutes $(or $(MINUTES),60)

bench-raters: install-dev ## Print what becomes of 20 raters' forms on 1,000 games, and how long each takes
	$(BIN)/python -m benchmarks.raters

bench-peers: install-dev ## The same server judged through by Inspect and DeepEval, in an environment of their own
	$(BIN)/python -m benchmarks.judging --peers

screenshots: install-dev browser ## Take pictures of every page in each state, and those of the README anew
	$(BIN)/pytest tests/browser -k screenshots -m "long or not long" --numprocesses 0
	$(BIN)/python scripts/screenshots.py

site: install-dev ## Build the documentation site, with the reference from code, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

package: install-dev ## Build wheel and source package into dist
	$(BIN)/python -m build --no-isolation

bad-input-table: install-dev ## Write docs/bad-input.md anew, from what each bad input gets
	$(BIN)/python -m tests.faults.bad_input_table

lock: ## Write the lock file anew (needs uv)
	bash scripts/lock.sh

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) build dist test-results .mypy_cache .ruff_cache .pytest_cache .hypothesis
