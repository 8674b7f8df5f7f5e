# Two commands for a newcomer: `make up` and `make test`. Needs Python 3.11+ and make; uses uv when present.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
RUN_STAMP := .make/run
DEV_STAMP := .make/dev
TRAIN := .train
TRAIN_STAMP := .make/train
SERVERS := .servers
# Another stamp where there is npm: what needs it is installed once there is.
SERVERS_STAMP := .make/servers$(if $(shell command -v npm 2>/dev/null),-npm)

.PHONY: up test servers check format bench train clean

up: $(RUN_STAMP) ## set up and serve the demo's tools, and the servers of this folder, over HTTP
	$(BIN)/tooldrawer serve --http --demo

test: $(DEV_STAMP) $(SERVERS_STAMP) ## set up and run every test
	$(BIN)/python -m pytest -n auto

servers: $(SERVERS_STAMP) ## install the MCP servers and the conformance suite that the tests run

check: $(DEV_STAMP) ## formatting, lint, types, architecture, file sizes, dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/loq
	$(BIN)/deptry src

format: $(DEV_STAMP) ## rewrite the files the way `check` wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV_STAMP) ## measure, and write the figures into the documents
	$(BIN)/tooldrawer bench core $(if $(CATALOG),--catalog $(CATALOG)) --write README.md --write docs/benchmarks.md
	$(BIN)/tooldrawer bench dependencies --write docs/dependencies.md
	-$(BIN)/tooldrawer bench gateway --write docs/benchmarks.md # says with its exit code when a bar is missed

train: $(TRAIN_STAMP) ## train the search model: DATA=<public sets> CATALOGS=<recorded tools>; about an hour on two cores
	@test -n "$(DATA)" -a -n "$(CATALOGS)" || { echo "Say where the data is: make train DATA=<public sets> CATALOGS=<recorded tools>"; exit 2; }
	$(TRAIN)/bin/python -m training.train --data $(DATA) --catalogs $(CATALOGS) --out build/encoder.pt
	$(TRAIN)/bin/python -m training.export --weights build/encoder.pt
	$(TRAIN)/bin/python -m training.fit --data $(DATA) --catalogs $(CATALOGS)

clean: ## forget everything that was built
	rm -rf $(VENV) $(TRAIN) $(SERVERS) .make build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
ifneq ($(UV),)
	$(UV) venv --python $(PYTHON) $(VENV)
else
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "tooldrawer needs Python 3.11 or newer; this is %s. Set PYTHON=..." % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' # dependency groups came with pip 25.1
endif

$(RUN_STAMP): pyproject.toml | $(BIN)/python
ifneq ($(UV),)
	$(UV) pip install --quiet --python $(BIN)/python --editable '.[tokens,agent]'
else
	$(BIN)/python -m pip install --quiet --editable '.[tokens,agent]'
endif
	@mkdir -p .make && touch $@

$(DEV_STAMP): pyproject.toml $(RUN_STAMP) | $(BIN)/python
ifneq ($(UV),)
	$(UV) pip install --quiet --python $(BIN)/python --editable '.[tokens,agent,pydantic-ai,openai-agents,langchain]' --group dev
else
	$(BIN)/python -m pip install --quiet --editable '.[tokens,agent,pydantic-ai,openai-agents,langchain]' --group dev
endif
	@mkdir -p .make && touch $@

# A place of its own: the training's packages are large and pinned.
$(TRAIN_STAMP): training/requirements.txt pyproject.toml
	$(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python -m pip install --quiet --editable .
	$(TRAIN)/bin/python -m pip install --quiet --no-deps --requirement training/bare.txt
	$(TRAIN)/bin/python -m pip install --quiet --requirement training/requirements.txt
	@mkdir -p .make && touch $@

# Written by others, so never in this repository: fetched from the registries, pinned.
$(SERVERS_STAMP): $(addprefix tests/real/,install.py mcp1.txt mcp2.txt package.json package-lock.json) | $(BIN)/python
	$(BIN)/python tests/real/install.py $(SERVERS)
	@mkdir -p .make && touch $@
