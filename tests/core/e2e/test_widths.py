"""Every table fits into the terminal, and a pipe gets one line for each row."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from tests.core.e2e.project import DATASET, MODEL, Project
from tests.support.cli import run_cli

COMMANDS = [
    ["list"],
    ["check", "eval.py"],
    ["view-prompt", "eval.py", "-a"],
    ["lock", "eval.py"],
    ["run", "eval.py", "--dry-run"],
    ["run", "eval.py"],
    ["run", "eval.py", "-r", "--gate", "sums*: accuracy >= 20%", "--gate", "failed <= 0"],
    ["score", "eval", "--speed", "--baseline", "eval"],
    ["compare", "eval", "eval"],
    ["status", "eval/nightly"],
    ["baseline", "eval", "-o", "baseline.json"],
    ["export", "eval", "--to", "csv"],
    ["merge", "--help"],
]
TABULAR = re.compile(r"\S {2,}\S")
"""A line with columns. The terminal itself wraps a sentence, and a command must stay on one line to be copied."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a run, and one in shards, with a long host and long names."""
    project = Project(tmp_path_factory.mktemp("widths"))
    project.write_data()
    several = [DATASET.replace("abbr='sums'", f"abbr='sums_with_a_long_name_{number}'") for number in range(2)]
    project.write_config(models=MODEL.replace("'fake'", "'a-model-with-a-long-name'"), datasets=", ".join(several))
    for args in (["--shard", "0/1", "-r", "nightly", "-m", "infer"], []):
        assert project.run("run", "eval.py", *args).returncode == 0
    return project


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_table_fits_into_the_terminal(ran: Project, args: list[str], columns: int) -> None:
    done = run_cli(*args, folder=ran.root, columns=columns)
    assert done.returncode in (0, 1), done.stderr
    lines = plain(done.stdout).splitlines()
    assert [line for line in lines if TABULAR.search(line) and cell_len(line.rstrip()) > columns] == []


@pytest.mark.thorough
@pytest.mark.parametrize("args", [["list"], ["list", "datasets"]])
def test_nothing_is_lost_in_a_narrow_terminal(ran: Project, args: list[str]) -> None:
    pipe, narrow = (plain(run_cli(*args, folder=ran.root, columns=columns).stdout) for columns in (None, 50))
    assert narrow.split() == pipe.split()
    assert len(narrow.splitlines()) > len(pipe.splitlines())
