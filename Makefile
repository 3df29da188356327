# Each target is one command that can also be typed. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run race demo live-pictures test test-all coverage test-elasticmq check audit docs lock profiles timelines latencies history calibrated tips calls overload outage memory soak bench billing lab
.PHONY: shares bench-start image images image-test kind-load k8s-test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/local ## serve on http://127.0.0.1:8000 with an embedded queue, a worker and a stand-in of Chargebee; live page on 8001
	@$(BIN)/python -m local run

race: .venv/local ## two releases side by side on the live page, the same webhooks to both (make race ARGS="v02 v09")
	@$(BIN)/python -m local race $(or $(ARGS),v02 v09)

demo: .venv/local ## end to end: start, post the sample events, show them in the queue, bill them, audit each charge
	@$(BIN)/python -m local demo

# More than two cores, since tests mostly wait. (A single test: .venv/bin/python -m pytest -k …)
TEST_PROCESSES ?= 4
PYTEST = $(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES)
# The tools of the load test's tests, built once if Go or Maven is installed.
TESTED := $(if $(shell command -v go),$(addprefix loadtest/,tools/bin/vegeta tools/bin/toxiproxy-server sqs/bin/sqs))
TESTED += $(if $(shell command -v mvn),loadtest/elasticmq/target/classpath)
test: .venv/dev $(TESTED) ## the tests but the slow ones, the contract on the newest release
	$(PYTEST) --releases newest -m 'not slow' $(ARGS)

test-all: .venv/dev $(TESTED) ## all tests, the contract on every release (more than half an hour on two cores)
	$(PYTEST) --releases all $(ARGS)

coverage: .venv/dev $(TESTED) ## all tests, the contract on a release per SQS client; what of app/ and loadtest/ is not covered
	$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest --numprocesses $(TEST_PROCESSES) $(ARGS); passed=$$?; \
	  $(BIN)/coverage combine --quiet; $(BIN)/coverage report; exit $$passed

test-elasticmq: .venv/dev loadtest/elasticmq/target/classpath ## the contract's tests on ElasticMQ (Java 17, Maven)
	$(PYTEST) tests/web/test_contract.py --queue elasticmq $(ARGS)

# From the root, so that the generators find `app` and `loadtest`.
COG = $(BIN)/python -m cogapp -I .ci -p 'from parts import *' -P --verbosity=1
GENERATED = README.md CHANGELOG.md deploy/CAPACITY.md docs/lab.md loadtest/RESULTS.md

check: .venv/dev ## ruff, mypy, import-linter, assignments; locks and generated docs are up to date
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/assignments.py
	$(COG) --check --check-fail-msg='run `make docs`' $(GENERATED)
	$(BIN)/python -m loadtest.report --check
	$(BIN)/python -m lab.report --check
	$(BIN)/python .ci/locks.py --check

audit: .venv/dev ## security advisories for the pinned packages
	$(BIN)/python .ci/audit.py

docs: .venv/dev ## regenerate the generated parts of README.md, CHANGELOG.md and the other documents
	$(COG) -r $(GENERATED)
	$(BIN)/python -m loadtest.report
	$(BIN)/python -m lab.report

lock: .venv/dev ## resolve pyproject.toml into requirements*.lock (newer versions: make lock UPGRADE=--upgrade)
	$(BIN)/python .ci/locks.py $(UPGRADE)

profiles: .venv/dev ## profile each release on a slow queue: profiles/<release>.html and .txt
	$(BIN)/python -m profiles.make $(ARGS)

timelines: .venv/dev ## draw the course's pictures of who waits for what: profiles/*.svg
	$(BIN)/python -m profiles.timelines $(ARGS)

live-pictures: .venv/dev ## the live page under v02, v04 and v09, and a race (Chromium): profiles/live_*.png
	$(BIN)/python -m profiles.live $(ARGS)

# Measure on an otherwise idle machine.
TOOLS := .venv/loadtest loadtest/tools/bin/vegeta loadtest/tools/bin/toxiproxy-server
MEASURE = @PATH="$$PATH:$(CURDIR)/loadtest/tools/bin" $(BIN)/python -m
history: $(TOOLS) ## replay the published history and plot it (ARGS=--quick for a trial run, --help for more)
	$(MEASURE) loadtest.history $(ARGS)

calibrated: $(TOOLS) ## the published attack in the time of the published machine: f from v02, all others beside it
	$(MEASURE) loadtest.calibrated $(ARGS)

latencies: $(TOOLS) ## draw the course's pictures of attacks: profiles/*.png
	$(MEASURE) profiles.latencies $(ARGS)

tips: $(TOOLS) ## the effect of each of the talk's tips, on v07
	$(MEASURE) loadtest.tips $(ARGS)

calls: $(TOOLS) ## how many calls to SQS in flight, at several latencies
	$(MEASURE) loadtest.calls $(ARGS)

overload: $(TOOLS) ## the newest release at two and three times its capacity, refusals, 512 new connections
	$(MEASURE) loadtest.overload $(ARGS)

outage: $(TOOLS) loadtest/sqs/bin/sqs ## SQS cannot be reached for a minute at 500 webhooks a second
	$(MEASURE) loadtest.outage $(ARGS)

soak: $(TOOLS) loadtest/sqs/bin/sqs ## a million webhooks while the service is killed and SQS fails, audited (some 20 minutes)
	$(MEASURE) loadtest.soak $(ARGS)

memory: $(TOOLS) loadtest/sqs/bin/sqs ## the service's peak memory under seven faults of SQS, over TLS and plain (some 9 minutes)
	$(MEASURE) loadtest.memory $(ARGS)

shares: $(TOOLS) ## where the CPU of a webhook goes, stage by stage
	$(MEASURE) loadtest.shares $(ARGS)

lab: .venv/lab loadtest/tools/bin/vegeta ## the published sync/async experiments, ratios beside the published ones (ARGS=--quick for a trial run)
	$(MEASURE) lab measure $(ARGS)

bench: $(TOOLS) ## CPU per accepted webhook: every release, the floor, and a peer in Go; CPU of a worker per event
	$(MEASURE) loadtest.bench $(ARGS)
	$(MEASURE) loadtest.bench_worker

billing: .venv/loadtest ## thousands of events through workers that are killed, audited charge by charge (some half an hour)
	$(MEASURE) loadtest.billing $(ARGS)

# For another builder set DOCKER, BUILD_ARGS, and PREFIX, which precedes the images' names.
# Without BuildKit, which is the default since Docker 23, every stage before the target is built, the tests too:
# https://docs.docker.com/build/buildkit/
export DOCKER_BUILDKIT := 1
DOCKER ?= docker
PREFIX ?=
TAG ?= dev
IMAGES := invoice-webhook invoice-webhook-loadtest invoice-webhook-local invoice-webhook-elasticmq invoice-webhook-toxiproxy
BUILD = $(DOCKER) build $(BUILD_ARGS)
LABELS = --build-arg VERSION=$(TAG) --build-arg REVISION=$$(git rev-parse --short HEAD)

image: ## the service's image, invoice-webhook:dev
	$(BUILD) $(LABELS) --target app --tag $(PREFIX)invoice-webhook:$(TAG) .

images: image ## and those of the load test and its queue; only Python's image is pulled
	for part in loadtest local elasticmq toxiproxy; do $(BUILD) --target $$part --tag $(PREFIX)invoice-webhook-$$part:$(TAG) . || exit 1; done

# (A test with a thousand senders requires more than 1,024 open files in the builder.)
image-test: ## all tests but the documents', on the image's Python
	$(BUILD) --target test .

kind-load: ## copy the images into kind's node
	kind load docker-image --name invoice-webhook $(IMAGES:%=%:$(TAG))

k8s-test: .venv/dev ## test deploy/k8s on the cluster of KUBECONFIG (one section: ARGS='-k rolling')
	$(BIN)/python -m pytest tests/cluster --override-ini timeout=1800 --capture=no --verbose $(ARGS)

bench-start: .venv/dev ## memory, seconds to ready, and the slowest imports
	$(BIN)/python -m loadtest.bench_start

.venv/local: requirements-local.lock
.venv/loadtest: requirements-loadtest.lock
.venv/lab: requirements-lab.lock
.venv/dev: requirements-dev.lock
.venv/local: SIZE := 160 MB
.venv/loadtest: SIZE := 285 MB
.venv/lab: SIZE := 555 MB
.venv/dev: SIZE := 1,055 MB
.venv/local .venv/loadtest .venv/lab .venv/dev:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is required, $(PYTHON) is $$($(PYTHON) -V 2>&1); another one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "error: Python's venv module is missing; on Debian: apt install python3-venv"; exit 1; }
	@test -x $(BIN)/python || { echo "making .venv with $$($(PYTHON) -V) …"; $(PYTHON) -m venv .venv; }
	@$(BIN)/python .ci/install.py $< "$(SIZE)"
	@touch $@

loadtest/elasticmq/target/classpath: loadtest/elasticmq/pom.xml
	@echo "downloading ElasticMQ (about 40 MB), once …"
	@mvn --quiet --batch-mode -Dstyle.color=never --file $< dependency:build-classpath -Dmdep.outputFile=target/classpath

# Without the -ldflags, the tools' `-version` prints no version.
loadtest/tools/bin/vegeta: loadtest/tools/go.mod
	@echo "building vegeta with Go, once: a minute or two …"
	@cd loadtest/tools && go build -o bin/vegeta \
	  -ldflags "-X main.Version=$$(go list -m -f '{{.Version}}' github.com/tsenart/vegeta/v12)" \
	  github.com/tsenart/vegeta/v12

loadtest/tools/bin/toxiproxy-server: loadtest/tools/go.mod
	@echo "building toxiproxy with Go, once: a minute or two …"
	@cd loadtest/tools && go build -o bin/toxiproxy-server \
	  -ldflags "-X github.com/Shopify/toxiproxy/v2.Version=$$(go list -m -f '{{.Version}}' github.com/Shopify/toxiproxy/v2)" \
	  github.com/Shopify/toxiproxy/v2/cmd/server

# Its sources are ours, and Go's own library all that it uses: built again whenever they change.
loadtest/sqs/bin/sqs: loadtest/sqs/go.mod $(wildcard loadtest/sqs/*.go)
	@cd loadtest/sqs && go build -o bin/sqs .
