# Two commands for a newcomer: `make up` and `make test`. Needs Python 3.11+ and make; uses uv when present.
PYTHON ?= python3
VENV := .venv
# Two for each core: most tests wait for processes and sockets some of the time.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(2 * (os.cpu_count() or 1))")
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
# Compiled when installed, as pip does: some packages have warnings that the tests would treat as errors.
INSTALL := $(if $(UV),$(UV) pip install --compile-bytecode --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check)
# Each stamp is written when its step is complete, inside the folder that the step fills:
# an interrupted step runs again, and a deleted folder takes its stamps with it.
VENV_STAMP := $(VENV)/.stamp-venv
RUN_STAMP := $(VENV)/.stamp-run
DEV_STAMP := $(VENV)/.stamp-dev
# Exists while packages are installed. uv cannot go on after an interruption in between, because a
# package without its metadata is an error to it; so the folder is then created again.
INCOMPLETE := $(VENV)/.incomplete
TRAIN := .train
TRAIN_STAMP := $(TRAIN)/.stamp
SERVERS := .servers
# Another stamp with npm: the servers that need it are installed once npm is present.
SERVERS_STAMP := $(SERVERS)/.stamp$(if $(shell command -v npm 2>/dev/null),-npm)

.PHONY: up test servers check format bench train clean

up: $(RUN_STAMP) ## set up and serve the demo's tools, and the servers of this folder, over HTTP; PORT=9000 for another port
	$(BIN)/tooldrawer serve --http --demo $(if $(PORT),--port $(PORT))

test: $(DEV_STAMP) $(SERVERS_STAMP) ## set up and run every test
	$(BIN)/python -m pytest -n $(WORKERS)

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

clean: ## remove everything that was built
	rm -rf $(VENV) $(TRAIN) $(SERVERS) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# The folder may be left over from an interrupted run, so it is created again from nothing.
$(VENV_STAMP): $(wildcard $(INCOMPLETE))
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "tooldrawer needs Python 3.11 or newer; this is %s. Set PYTHON=..." % sys.version.split()[0])'
	@echo "Creating a virtual environment in $(VENV) ..."
ifneq ($(UV),)
	$(UV) venv --clear --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --upgrade 'pip>=25.1' # dependency groups came with pip 25.1
endif
	@touch $@

$(RUN_STAMP): pyproject.toml $(VENV_STAMP)
	@echo "Installing tooldrawer and its dependencies (a few hundred megabytes) ..."
	@touch $(INCOMPLETE)
	$(INSTALL) --editable '.[tokens,agent]'
	@rm $(INCOMPLETE)
	@touch $@

$(DEV_STAMP): pyproject.toml $(RUN_STAMP)
	@echo "Installing what the tests need ..."
	@touch $(INCOMPLETE)
	$(INSTALL) --editable '.[tokens,agent,pydantic-ai,openai-agents,langchain]' --group dev
	@rm $(INCOMPLETE)
	@touch $@

# A virtual environment of its own: the packages for training are large and pinned.
$(TRAIN_STAMP): training/requirements.txt pyproject.toml
	$(PYTHON) -m venv --clear $(TRAIN)
	$(TRAIN)/bin/python -m pip install --editable .
	$(TRAIN)/bin/python -m pip install --no-deps --requirement training/bare.txt
	$(TRAIN)/bin/python -m pip install --requirement training/requirements.txt
	@touch $@

# Third-party packages, pinned and installed from the registries, never copied into this repository.
$(SERVERS_STAMP): $(addprefix tests/real/,install.py mcp1.txt mcp2.txt package.json package-lock.json) | $(VENV_STAMP)
	@echo "Installing the MCP servers that the tests run (one to three minutes) ..."
	$(BIN)/python tests/real/install.py $(SERVERS)
	@touch $@
