# Each target is one command that can also be typed. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
# Many images set PYTHONDONTWRITEBYTECODE. Tests start hundreds of processes, and without bytecode each of them would
# compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run demo race test test-all check docs docs-site docs-serve lock history images kind-load k8s-test

help: ## list the targets
	@awk -F ':.*## ' '/^##@ /{print "\n" substr($$0, 5)} /^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use it
run: .venv/local ## serve on http://127.0.0.1:8000 with an embedded queue, a worker and a stand-in of Chargebee; live page on 8001
	@$(BIN)/python -m local run

demo: .venv/local ## end to end: start, post the sample events, show them in the queue, bill them, audit each charge
	@$(BIN)/python -m local demo

race: .venv/local ## two releases side by side on the live page, the same webhooks to both (make race ARGS="v02 v09")
	@$(BIN)/python -m local race $(or $(ARGS),v02 v09)

##@ Work on it
# More than two cores, since tests mostly wait. (A single test: .venv/bin/python -m pytest -k …)
TEST_PROCESSES ?= 6
# Tests run Go, which may be the one that `.ci/go` has installed.
PYTEST = PATH="$$(.ci/go env GOROOT)/bin:$$PATH" $(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --dist worksteal
# The tools of the load test's tests, built once.
TESTED := $(addprefix loadtest/,tools/bin/vegeta tools/bin/toxiproxy-server sqs/bin/sqs)
test: .venv/dev $(TESTED) ## the tests but the slow ones, the contract on the newest release
	$(PYTEST) --releases newest -m 'not slow' $(ARGS)

test-all: .venv/dev $(TESTED) ## all tests, the contract on every release (more than half an hour on two cores)
	$(PYTEST) --releases all $(ARGS)

# From the root, so that the generators find `app` and `loadtest`.
COG = $(BIN)/python -m cogapp -I .ci -p 'from parts import *' -P --verbosity=1
# Figures inside sentences.
FIGURES = PYTHONPATH=.ci $(BIN)/python -m figures
GENERATED = pyproject.toml README.md CHANGELOG.md deploy/CAPACITY.md deploy/k8s/overlays/aws/kustomization.yaml docs/*.md docs/questions/*.md loadtest/RESULTS.md

check: .venv/dev ## ruff, mypy, import-linter, assignments, zizmor; locks and generated docs are up to date
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/assignments.py
	$(BIN)/zizmor --quiet --offline --persona pedantic .github
	$(COG) --check --check-fail-msg='run `make docs`' $(GENERATED)
	$(FIGURES) --check $(GENERATED)
	$(BIN)/python -m loadtest.report --check
	$(BIN)/python -m lab.report --check
	$(BIN)/python .ci/locks.py --check

docs: .venv/dev ## regenerate the generated parts of all documents
	$(BIN)/python -m loadtest.report
	$(COG) -r $(GENERATED)
	$(FIGURES) $(GENERATED)
	$(BIN)/python -m lab.report

docs-site: .venv/dev ## build the documentation site into .run/docs, and follow each of its links
	@$(BIN)/python .ci/docs.py $(ARGS)

docs-serve: .venv/dev ## the same, and serve it on http://127.0.0.1:8003 (another port: ARGS="--port 8004")
	@$(BIN)/python .ci/docs.py --serve $(ARGS)

lock: .venv/dev ## resolve pyproject.toml into locks/*.lock (newer versions: make lock UPGRADE=--upgrade)
	$(BIN)/python .ci/locks.py $(UPGRADE)

##@ Measure it, on an otherwise idle machine (the other measurements: python -m loadtest, python -m lab)
TOOLS := .venv/dev loadtest/tools/bin/vegeta loadtest/tools/bin/toxiproxy-server loadtest/sqs/bin/sqs
history: $(TOOLS) ## replay the published history and plot it (ARGS=--quick for a trial run, --help for more)
	@PATH="$$PATH:$(CURDIR)/loadtest/tools/bin" $(BIN)/python -m loadtest history $(ARGS)

##@ Deploy it
# For another builder set DOCKER, BUILD_ARGS, and PREFIX, which precedes the images' names.
# Without BuildKit, which is the default since Docker 23, every stage before the target is built, the tests too:
# https://docs.docker.com/build/buildkit/
export DOCKER_BUILDKIT := 1
DOCKER ?= docker
PREFIX ?=
TAG ?= dev
PARTS := loadtest local sqs toxiproxy
LABELS = --build-arg VERSION=$(TAG) --build-arg REVISION=$$(git rev-parse --short HEAD)

images: ## the images of the service, the load test, the stand-ins and the queue; only Python's image is pulled
	$(DOCKER) build $(BUILD_ARGS) $(LABELS) --target app --tag $(PREFIX)invoice-webhook:$(TAG) .
	for part in $(PARTS); do \
	  $(DOCKER) build $(BUILD_ARGS) --target $$part --tag $(PREFIX)invoice-webhook-$$part:$(TAG) . || exit 1; done

kind-load: ## copy the images into kind's node
	kind load docker-image --name invoice-webhook invoice-webhook:$(TAG) $(PARTS:%=invoice-webhook-%:$(TAG))

k8s-test: .venv/dev ## test deploy/k8s on the cluster of KUBECONFIG (one section: ARGS='-k saturation')
	$(BIN)/python -m pytest tests/cluster --override-ini timeout=1800 --capture=no --verbose $(ARGS)

# A lock includes the smaller ones.
.venv/local: locks/local.lock locks/app.lock
.venv/dev: locks/dev.lock locks/local.lock locks/app.lock
.venv/local: SIZE := 170 MB
.venv/dev: SIZE := 1,125 MB
# Set if the Python of `.venv` has been removed, or upgraded to a version that does not see the packages.
STALE := $(shell [ ! -e .venv/bin ] || $(BIN)/python -c 'import pip' 2>/dev/null || echo anew)
.PHONY: anew
# As `python -m venv --clear .venv`, but Ctrl-C ends it without a traceback.
MAKE_VENV = import signal, venv; signal.signal(signal.SIGINT, signal.SIG_DFL); venv.main(["--clear", ".venv"])
.venv/local .venv/dev: $(STALE)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || \
	  { echo "error: Python 3.11 to 3.14 is required (packages have no wheels for newer ones), $(PYTHON) is $$($(PYTHON) -V 2>&1); another one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "error: Python's venv module is missing; on Debian: apt install python3-venv"; exit 1; }
	@$(BIN)/python -c 'import pip' 2>/dev/null || { \
	  echo "$(if $(STALE),the Python of .venv is gone or was upgraded: )making .venv with $$($(PYTHON) -V) …"; \
	  $(PYTHON) -c '$(MAKE_VENV)'; }
	@$(BIN)/python .ci/install.py $< "$(SIZE)"
	@touch $@

tests/harness/elasticmq/target/classpath: tests/harness/elasticmq/pom.xml
	@echo "downloading ElasticMQ (about 40 MB), once …"
	@mvn --quiet --batch-mode -Dstyle.color=never --file $< dependency:build-classpath -Dmdep.outputFile=target/classpath

# `.ci/go` brings Go where there is none. Without the -ldflags, the tools' `-version` prints no version.
GO := "$(CURDIR)/.ci/go"
loadtest/tools/bin/vegeta: loadtest/tools/go.mod
	@echo "building vegeta with Go, once: a minute or two …"
	@cd loadtest/tools && $(GO) build -o bin/vegeta \
	  -ldflags "-X main.Version=$$($(GO) list -m -f '{{.Version}}' github.com/tsenart/vegeta/v12)" \
	  github.com/tsenart/vegeta/v12

loadtest/tools/bin/toxiproxy-server: loadtest/tools/go.mod
	@echo "building toxiproxy with Go, once: a minute or two …"
	@cd loadtest/tools && $(GO) build -o bin/toxiproxy-server \
	  -ldflags "-X github.com/Shopify/toxiproxy/v2.Version=$$($(GO) list -m -f '{{.Version}}' github.com/Shopify/toxiproxy/v2)" \
	  github.com/Shopify/toxiproxy/v2/cmd/server

# Its sources are ours, and Go's own library all that it uses: built again whenever they change.
loadtest/sqs/bin/sqs: loadtest/sqs/go.mod $(wildcard loadtest/sqs/*.go)
	@cd loadtest/sqs && $(GO) build -o bin/sqs .
