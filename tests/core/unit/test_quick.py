"""``make quick``: tests with a marker are left out, and a test that lacks its marker fails."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import NOT_QUICK, corners
from tests.support.servers import ROOT

pytestmark = pytest.mark.process

TESTS = """
import subprocess, sys
import pytest


def start():
    subprocess.run([sys.executable, "-c", ""], check=True)


def test_that_starts_a_process():
    start()


def test_that_needs_nothing():
    pass


@pytest.mark.process
def test_with_the_marker():
    start()


@pytest.fixture
def asked(server):
    return server


def test_with_a_server_from_a_fixture(asked):
    raise AssertionError


@pytest.mark.torch
def test_with_another_marker():
    import torch
"""
PROPERTY = """
from hypothesis import given, settings
from hypothesis import strategies as st

drawn = []


@settings(max_examples=500)
@given(st.integers())
def test_property(number):
    drawn.append(number)


def test_few_were_drawn():
    assert 5 < len(drawn) <= 10
"""
WHOLE_MODULE = """
import pytest
pytestmark = pytest.mark.torch
raise ImportError("this module must not be imported")
"""


def test_markers_decide_a_missing_one_is_named_and_no_property_draws_more_examples(tmp_path: Path) -> None:
    for name, text in {"some": TESTS, "whole_module": WHOLE_MODULE, "property": PROPERTY}.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    config = ["-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    command = [sys.executable, "-m", "pytest", *config, "-p", "no:cacheprovider", "--quick", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert "this test needs a marker for what it does: process" in done.stdout
    assert "test_that_starts_a_process" in done.stdout
    assert "1 failed, 3 passed, 3 deselected" in done.stdout, done.stdout + done.stderr


SLOW_TO_IMPORT = "anthropic|datasets|openai|pandas|sacrebleu|scipy|statsmodels|torch|transformers"


def test_no_module_imports_what_takes_long() -> None:
    """Every worker collects all modules, so such an import at the top of one is paid for by each of them."""
    left_out = re.compile(rf"^pytestmark = .*\b({'|'.join(NOT_QUICK)})\b", re.MULTILINE)
    imports = re.compile(rf"^(import|from) ({SLOW_TO_IMPORT})\b", re.MULTILINE)
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "data" not in path.relative_to(ROOT).parts]
    texts = {path: path.read_text("utf-8") for path in files}
    slow = [str(path) for path, text in texts.items() if imports.search(text) and not left_out.search(text)]
    assert not slow, "write `name = Lazy('package')` (tests/support/lazy.py)"


def tried(count: int, *axes: tuple[str, list[tuple[object, ...]]]) -> list[dict[str, object]]:
    """Return the arguments of the tests that are left of a grid."""
    marks = [SimpleNamespace(args=(names,)) for names, _ in axes]
    names = [name for axis, _ in axes for name in axis.split(", ")]
    rows = (dict(zip(names, sum(row, ()), strict=True)) for row in product(*(values for _, values in axes)))
    items: Any = [SimpleNamespace(callspec=SimpleNamespace(params=row), iter_markers=lambda _: marks) for row in rows]
    return [item.callspec.params for item in corners(items, count)]


def test_few_combinations_of_a_grid_have_each_value() -> None:
    letters = ("letter", [("a",), ("b",)])
    pairs = ("number, square", [(2, 4), (3, 9), (5, 25)])
    assert tried(3, letters, pairs) == [
        {"letter": "a", "number": 2, "square": 4},
        {"letter": "a", "number": 5, "square": 25},
        {"letter": "b", "number": 3, "square": 9},
    ]
    many = ("place", [(place,) for place in range(200)])
    assert [one["place"] for one in tried(3, many)] == [0, 99, 199]
    assert [one["letter"] for one in tried(3, letters, many)] == ["a", "a", "b"]
