"""``make quick``: tests with a marker are left out, and a test that lacks its marker fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import ROOT

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


@pytest.mark.torch
def test_with_another_marker():
    import torch
"""
WHOLE_MODULE = """
import pytest
pytestmark = pytest.mark.torch
raise ImportError("this module must not be imported")
"""


def test_markers_decide_and_a_missing_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_whole_module.py").write_text(WHOLE_MODULE)
    config = ["-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    command = [sys.executable, "-m", "pytest", *config, "-p", "no:cacheprovider", "--quick", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "this test needs a marker for what it does: process" in done.stdout
    assert "test_that_starts_a_process" in done.stdout
    assert "1 failed, 1 passed, 2 deselected" in done.stdout, done.stdout + done.stderr
