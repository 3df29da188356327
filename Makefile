# Thin on purpose: each target is one command that can also be typed. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run demo test test-elasticmq check docs lock profiles bench-start

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/local ## serve on http://127.0.0.1:8000 with an embedded queue
	@APP_LOCAL=1 $(BIN)/python -m app web

demo: .venv/local ## the whole way once: start, post the sample events, show what arrived
	@$(BIN)/python -m app demo

test: .venv/dev ## all tests, on the embedded queue
	$(BIN)/python -m pytest $(ARGS)

# One release for each way in which we speak to SQS; all of them: make test-elasticmq SPEAKERS=v0
SPEAKERS := v06_shared_queue or v08_native_async or v09_group_commit
test-elasticmq: .venv/dev loadtest/elasticmq/target/classpath ## the contract's tests on ElasticMQ (Java 17, Maven)
	$(BIN)/python -m pytest tests/web/test_contract.py --queue elasticmq -k '$(SPEAKERS)' $(ARGS)

check: .venv/dev ## ruff, mypy, import-linter; locks and generated docs are fresh
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/docs.py --check
	$(BIN)/python .ci/locks.py --check

docs: .venv/dev ## regenerate what is generated in README.md and CHANGELOG.md
	$(BIN)/python .ci/docs.py

lock: .venv/dev ## resolve pyproject.toml into requirements*.lock (newer versions: make lock UPGRADE=--upgrade)
	$(BIN)/python .ci/locks.py $(UPGRADE)

profiles: .venv/dev ## profile each release on a slow queue: profiles/<release>.html and .txt
	$(BIN)/python profiles/make.py $(ARGS)

bench-start: .venv/dev ## memory, seconds to ready, and what importing costs most
	$(BIN)/python loadtest/bench_start.py

.venv/local: requirements-local.lock
.venv/dev: requirements-dev.lock
.venv/local .venv/dev:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1); another one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "error: Python's venv module is missing; on Debian: apt install python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

loadtest/elasticmq/target/classpath: loadtest/elasticmq/pom.xml
	mvn --quiet --batch-mode --file $< dependency:build-classpath -Dmdep.outputFile=target/classpath
