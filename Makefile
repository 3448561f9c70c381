# The work of this project, one target each; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
PEERS := build/peers-venv
BENCHMARKS := $(sort $(wildcard benchmarks/*.py))
PICTURES := borda-gaps:gap borda-gaps:bound condorcet-gaps:gap confidence:certainty positions:positions \
  random-instances:bound width:width

BRUTE := tests/matchings/test_decisions.py tests/matchings/test_integers.py tests/test_preferences_decisions.py \
  tests/models/test_lineups.py tests/explorers/frugal/test_seats.py tests/explorers/panel/test_seats.py \
  tests/explorers/panel/test_panel_conditions.py

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test brute check messages bench stats gallery pictures peers votes notebooks docs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Install everything into .venv (again only when pyproject.toml or the pins change)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "duelmatch needs Python 3.11 or newer, and '$(PYTHON)' is not: try make PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing into .venv, which takes a minute or two the first time ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { \
	  echo "Python could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PIP) --upgrade pip
	@$(PIP) --build-constraint constraints.txt --group dev --editable '.[plots,experiments,dask,studies,postgres,web]'
	@touch $@

demo: setup ## Show the main job on a bundled example
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh build/demo

serve: setup ## Serve a demo study with simulated voters to watch, at port 8000
	@mkdir -p build
	@rm -f build/serve.db build/serve.db-wal build/serve.db-shm
	@$(BIN)/duelmatch serve --demo --store sqlite:///build/serve.db

test: setup ## Run all tests, those of the documentation too, in three processes: some wait for servers and browsers
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 3 --dist worksteal tests

brute: setup ## Compare capacities, seats, weights and rules with lists of all decisions, on 1,008 random problems
	@DUELMATCH_PROBLEMS=1008 $(BIN)/python -m pytest $(BRUTE)

check: setup ## Lint, check the format, the types and the layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

messages: setup ## Bring the catalogues of translations up to date with what the pages say
	@PYTHONPATH=tests $(BIN)/python tests/web/messages.py

bench: setup ## Run every benchmark
	@for file in $(BENCHMARKS); do echo "== $$file"; PYTHONPATH=.:tests $(BIN)/python $$file || exit 1; done

stats: setup ## Measure error rates over thousands of runs (hours; goes on after Ctrl-C) for docs/error-rates.md
	$(BIN)/python -m benchmarks.error_rates --out docs/error-rates.md --save build/error-rates.jsonl

gallery: setup ## Run the experiments of docs/gallery (seven minutes of processor time) and put their figures there
	@for file in docs/gallery/*.toml; do name=$$(basename $$file .toml); \
	  $(BIN)/duelmatch experiment run $$file --out build/gallery/$$name || exit 1; \
	  $(BIN)/duelmatch experiment report build/gallery/$$name || exit 1; \
	  cp build/gallery/$$name/report/slopes.csv docs/gallery/$$name.csv || exit 1; done
	@for pair in $(PICTURES); do name=$${pair%%:*}; axis=$${pair##*:}; \
	  $(BIN)/duelmatch experiment figure build/gallery/$$name duels-against-$$axis \
	    --to docs/gallery/$$name-$$axis.svg || exit 1; done

pictures: setup ## Take the pictures of docs/organising.md anew (needs Chromium and its driver)
	@PYTHONPATH=.:tests $(BIN)/python docs/pictures.py docs/images

peers: $(PEERS)/.installed ## Play other packages on the same instances (half an hour; goes on after Ctrl-C) for docs/peers.md
	PYTHONPATH=benchmarks $(PEERS)/bin/python -m peers --save build/peers.jsonl --out docs/peers.md

$(PEERS)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip --disable-pip-version-check install --quiet --upgrade pip
	@$(PEERS)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt \
	  --build-constraint constraints.txt --group peers --editable .
	@$(PEERS)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt --no-deps arena-rank
	@touch $@

votes: setup ## Tell the story of the real votes anew (two minutes) for docs/real-votes.md
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/votes_page.py --save build/real-votes.jsonl --out docs

notebooks: setup ## Run the notebooks of docs/notebooks anew and store what they show
	@$(BIN)/python docs/_extensions/notebooks.py docs/notebooks/*.ipynb

docs: setup ## Build the documentation into docs/_build/html, notebooks run
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

clean: ## Remove everything that can be made again, .venv too
	rm -rf .venv build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
