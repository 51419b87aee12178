# Everything runs in .venv, which is made on first use. PYTHON chooses the interpreter: make demo PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo gate test slow search lint clean

demo: .venv/installed
	$(BIN)/aisprompt run configs/eval.py

# Holds the latest demo against what is committed: the prompts, and the answers.
gate: .venv/installed
	$(BIN)/aisprompt lock configs/eval.py --check -o .ci/demo.lock
	$(BIN)/aisprompt score eval --baseline .ci/demo_baseline.json \
		--gate 'demo-[ac]*: accuracy >= 80%' --gate 'failed <= 0' --gate 'truncated <= 2%'

test: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2

# What takes minutes: hostile programs as root and as another user, and a thousand programs in a row.
slow: .venv/installed-dev
	$(BIN)/python -m pytest -m slow

# New counterexamples for the properties, in every call others; how to repeat it is printed with what is found.
search: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 -m hypothesis --hypothesis-profile search

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv build dist outputs

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[local]'
	touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@ .venv/installed
