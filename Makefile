# Every start of the platform from a clone. `make` alone prints this list.
#
# Set-up leaves a stamp inside .venv, named after the content of the locks and written last: nothing
# is done twice, nothing half done counts as done, and a second start asks no network.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
LOCKS := requirements-build.lock requirements.lock
STAMP := $(VENV)/.installed-$(shell cat $(LOCKS) | cksum | cut -d' ' -f1)
INSTALL := $(BIN)/python -m pip install --quiet --no-deps --no-compile --require-hashes
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate

.PHONY: help setup demo up browser test chaos night kills check lint types fmt bench lock clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## install what is locked, fetch jars, prepare classes, migrate the ledger (idempotent)
	@$(BIN)/backfill setup

demo: setup ## tell the story of the case study in the terminal
	@$(BIN)/backfill demo

up: setup ## start Dagster and a warm Spark on localhost, until Ctrl-C
	@exec $(BIN)/backfill up

browser: setup ## a Chromium for the tests of Dagster's pages, where there is none
	@.ci/browser

test: browser ## run the tests: whole runs through Spark beside all others
	@said=$$(mktemp); $(BIN)/python -m pytest -m spark >$$said 2>&1 & with_spark=$$!; failed=0; \
	$(BIN)/python -m pytest -m "not spark" || failed=$$?; \
	wait $$with_spark || failed=$$?; cat $$said; rm $$said; exit $$failed

chaos: setup ## kill a run at every step, recover it and compare (minutes)
	@$(BIN)/python -m backfill_platform_tests.scenarios.crash_matrix

night: setup ## leave gaps to a real daemon, and tell what it made of them (minutes)
	@$(BIN)/python -m backfill_platform_tests.scenarios.night

kills: setup ## kill workers, daemon, webserver and all of it amid a repair, and start again (minutes)
	@$(BIN)/python -m backfill_platform_tests.scenarios.kills

check: lint types test ## everything that CI checks

lint: $(STAMP) ## ruff, formatting and import rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports

types: $(STAMP) ## pyright
	@$(BIN)/pyright

fmt: $(STAMP) ## format, and repair what ruff can repair
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: setup ## measure ratios side by side, and compare them with the recorded ones (two hours)
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.pipeline

lock: $(STAMP) ## resolve the requirements again into the lock files
	@$(COMPILE) --allow-unsafe requirements-build.in -o requirements-build.lock
	@$(COMPILE) requirements-dev.in -o requirements.lock

clean: ## remove the environment and all caches; data under var/ stays
	rm -rf $(VENV) .cache .pytest_cache .ruff_cache .import_linter_cache *.egg-info build

# The old stamp goes first: if this is interrupted, the next start begins with an empty environment.
$(STAMP): $(LOCKS)
	@python=$$(for p in "$${PYTHON:-}" python3.11 python3 python; do \
	  [ -n "$$p" ] && "$$p" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null \
	  && command -v "$$p" && break; done || true); \
	[ -n "$$python" ] || { echo "Python 3.11 was not found: install it, or name it with 'make setup PYTHON=/path/to/python3.11'." >&2; exit 1; }; \
	echo "Setting up $(VENV) with $$python; this takes a minute or two, once."; \
	ls $(VENV)/.installed-* >/dev/null 2>&1 || rm -rf $(VENV); \
	rm -f $(VENV)/.installed-*; \
	"$$python" -m venv $(VENV)
	@$(INSTALL) -r requirements-build.lock
	@# pyspark has no wheel: pip builds one only to unpack it, so it is not worth compressing 470 MB.
	@printf '[bdist_wheel]\ncompression = stored\n' > $(VENV)/build.cfg
	@DIST_EXTRA_CONFIG=$(CURDIR)/$(VENV)/build.cfg $(INSTALL) --no-build-isolation -r requirements.lock
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation \
	  --config-settings editable_mode=compat --editable .
	@# So that the first verb is as quick as the second.
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib backfill_platform
	@touch $@
