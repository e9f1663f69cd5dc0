# Every target works on a fresh clone: the first one that needs .venv makes it (scripts/bootstrap.sh).
# ARGS is passed on: make test ARGS="-x tests/unit", make recall ARGS="--locomo FILE".
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

BIN := .venv/bin
STAMP := .venv/.stamp
ARGS ?=
# So many files of tests run at a time; each lane has engines and services of its own.
LANES ?= 2

.PHONY: help setup demo serve check test fmt lint types contracts deletion wheel adapters docs recall calibrate latency bundles lock clean FORCE

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## find or fetch Python 3.12, make .venv, install the locked packages

demo: $(STAMP) ## load a small life and ask it three questions
	$(BIN)/substrate demo $(ARGS)

serve: $(STAMP) ## serve the REST API on the loopback address
	$(BIN)/substrate serve $(ARGS)

check: lint types contracts test ## everything that CI demands: format, lint, types, import contracts, tests

test: $(STAMP) ## run the tests with coverage; fails below 90 % (not for a part: ARGS=...)
	$(BIN)/python -m pytest -n $(LANES) --dist loadfile --no-loadscope-reorder --cov --cov-report= $(if $(ARGS),--cov-fail-under=0) $(ARGS)

fmt: $(STAMP) ## format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(STAMP) ## check format, lint and shape
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m scripts.shape_lint

types: $(STAMP) ## mypy, strict; the client by itself, as Python 3.10 reads it
	$(BIN)/mypy
	$(BIN)/mypy --config-file clients/python/pyproject.toml

contracts: $(STAMP) ## import-linter: layers, cycles, pure modules
	$(BIN)/lint-imports

deletion: $(STAMP) ## take each feature out of a copy: types and contracts hold, the tests of the others for one
	$(BIN)/python -m scripts.deletion $(ARGS)

wheel: $(STAMP) ## build the wheels of the service and of its client into dist/
	rm -f dist/*.whl
	$(BIN)/python -m hatchling build -t wheel -d dist
	cd clients/python && ../../$(BIN)/python -m hatchling build -t wheel -d ../../dist

adapters: $(STAMP) ## test the adapters beside the real frameworks, of which each gets an environment of its own
	$(BIN)/python -m pytest tests/acceptance/test_frameworks.py tests/acceptance/test_typescript_client.py $(ARGS)

docs: $(STAMP) ## build the documentation into site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet $(ARGS)

recall: $(STAMP) ## measure evidence recall (ARGS="--locomo FILE --beam DIR")
	$(BIN)/python -m benchmarks.recall $(ARGS)

calibrate: $(STAMP) ## fit the weights of answer_confidence anew (ARGS="--locomo FILE --beam DIR")
	$(BIN)/python -m benchmarks.calibration $(ARGS)

latency: $(STAMP) ## measure the time of retrieval against the queries alone (ARGS="--nodes N --links N")
	$(BIN)/python -m benchmarks.latency $(ARGS)

bundles: $(STAMP) ## write the plugin of Claude Code and the .mcpb bundle of desktops into dist/
	@mkdir -p dist && $(BIN)/python -m scripts.bundles dist

HASHED := --quiet --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --python-version 3.12
LOCKED := $(HASHED) --no-emit-package substrate-client --all-extras

lock: ## resolve all lock files again from the pyproject.toml files (ARGS="--upgrade" for newer versions)
	uv=$$(scripts/bootstrap.sh uv) && \
		"$$uv" pip compile $(LOCKED) --group dev pyproject.toml -o requirements.lock $(ARGS) && \
		"$$uv" pip compile $(LOCKED) --constraint requirements.lock pyproject.toml -o deploy/requirements.lock $(ARGS) && \
		for lock in clients/python/locks/*.txt; do \
			"$$uv" pip compile $(HASHED) --extra "$$(basename "$$lock" .txt)" --group clients/python/pyproject.toml:test \
				clients/python/pyproject.toml -o "$$lock" $(ARGS) || exit; \
		done

clean: ## remove everything that setup, the tools and the tests made (your memories stay)
	rm -rf .venv .tools .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage .coverage.* htmlcov .screenshots dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp from another directory, or a missing interpreter, counts as no environment.
ifneq ($(shell test -x $(BIN)/python && test "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd -P)" && echo whole),whole)
$(STAMP): FORCE
endif
$(STAMP): requirements.lock pyproject.toml clients/python/pyproject.toml .python-version scripts/bootstrap.sh
	@scripts/bootstrap.sh
FORCE:
