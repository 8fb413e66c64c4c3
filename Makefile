# Development commands. They install the locked dependencies in requirements/ into $(VENV), and only
# if these have changed.

VENV ?= .venv
# Where Python puts the programs of an environment. Windows sets OS; there, `make` runs in Git's bash.
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
EXE := .exe
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The checks of the web page, from the npm registry. Node itself is in requirements/dev.txt.
NPM := web/node_modules/.locked
BIOME := $(BIN)/node web/node_modules/@biomejs/biome/bin/biome
# Wheels only, so that no compiler is needed.
INSTALL := $(PIP) install --quiet --only-binary :all: --require-hashes
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

# The first of these that is Python 3.11 or newer. `make PYTHON=/path/to/python3.12` overrides it.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$name; break; }; \
	done)

# The tests start the program a thousand times. Without compiled modules, each start takes longer.
unexport PYTHONDONTWRITEBYTECODE

ARGS ?=
# One test process more than there are cores, at most four (tests/conftest.py). `ARGS=-n0` runs the
# tests one after another.
PARALLEL := -n auto --maxprocesses 4 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test pytest lint format bench long browser vendor recording screens docs build mcpb released container lock clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-9s %s\n", $$1, $$2 }'

demo: $(VENV)/.runtime  ## Serve, index, search and read a sample vault
	@$(BIN)/vault-agent demo

test: lint  ## Check the code, and run all but the long tests
	@if [ -n "$$CI" ] && command -v apt-get >/dev/null; then $(MAKE) --no-print-directory browser; fi
	$(BIN)/pytest $(PARALLEL) $(ARGS)

pytest: $(VENV)/.dev  ## Run tests alone, e.g. make pytest ARGS=tests/cli
	$(BIN)/pytest $(PARALLEL) $(ARGS)

lint: $(NPM)  ## Run the linters, the format checks and the type checkers; check the workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec packaging/compose.yaml
	$(BIOME) ci --error-on-warnings
	$(BIN)/node web/check.mjs

format: $(NPM)  ## Format the code and apply safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIOME) check --write

bench: $(VENV)/.dev  ## Measure performance, e.g. make bench ARGS=--quick; `python -m benchmarks` lists all
	$(BIN)/python -m benchmarks run $(ARGS)

long: $(VENV)/.dev  ## Run the soak and fuzz tests that `make test` skips
	$(BIN)/pytest -m long $(ARGS)

browser:  ## Install a browser for the tests of the web page, where apt can
	@if command -v chromium-headless-shell || command -v chromium || command -v google-chrome; then \
		echo "A browser is installed."; \
	elif command -v apt-get >/dev/null; then \
		as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
		$$as_root apt-get update -qq; \
		chromium=chromium; \
		apt-cache show $$chromium-headless-shell >/dev/null 2>&1 && chromium=$$chromium-headless-shell; \
		$$as_root apt-get install -y --no-install-recommends \
			$$chromium fonts-noto-core fonts-noto-cjk; \
	else \
		echo "Install Chromium, Chrome or Edge, or give its path as VAULT_AGENT_TEST_BROWSER." >&2; exit 1; \
	fi

vendor: $(NPM)  ## Build the vendored files of the web page
	$(BIN)/node web/build.mjs

docs: $(VENV)/.dev  ## Write the pages of the documentation that are made from the program
	$(BIN)/python -m docs.make

recording: $(VENV)/.dev  ## Record the demo for the README
	$(BIN)/python docs/images/record.py

screens: $(VENV)/.dev  ## Take the pictures of the web page of VAULT, a clone of the Obsidian Hub
	$(BIN)/python docs/images/screens.py $(VAULT)

build: $(VENV)/.dev  ## Build the sdist and the wheel into dist/
	$(BIN)/python -m build --no-isolation

mcpb: build  ## Build the file that installs vault-agent in Claude Desktop into dist/
	$(BIN)/python packaging/mcpb.py

released: $(VENV)/.dev  ## Check that the tag, the version and the changelog agree
	$(BIN)/python packaging/released.py

container:  ## Build the container image `vault-agent` by podman or docker
	$(or $(shell command -v podman),docker) build --file packaging/Containerfile --tag vault-agent .

lock: $(VENV)/.dev  ## Update the locked dependencies
	$(LOCK) --upgrade pyproject.toml --output-file requirements/runtime.txt
	$(LOCK) --upgrade --constraint requirements/runtime.txt --group build \
		--output-file requirements/build.txt
	$(LOCK) --upgrade --constraint requirements/runtime.txt --constraint requirements/build.txt \
		--group dev pyproject.toml --output-file requirements/dev.txt

clean:  ## Remove everything that these commands created
	rm -rf $(VENV) web/node_modules .tox build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python$(EXE):
	@test -n "$(PYTHON)" || { \
		echo "vault-agent needs Python 3.11 or newer, but found none." >&2; \
		echo "Install it, or give its path: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml | $(BIN)/python$(EXE)
	@echo "Installing vault-agent and its locked dependencies into $(VENV)"
	@$(INSTALL) -r requirements/runtime.txt -r requirements/build.txt
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@echo "Installing the locked development tools into $(VENV)"
	@$(INSTALL) -r requirements/dev.txt
	@touch $@

$(NPM): web/package-lock.json $(VENV)/.dev
	@echo "Installing the locked checks of the web page into web/node_modules"
	@$(BIN)/npm --prefix web ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@
