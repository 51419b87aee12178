"""Environments that a shell, a container or a service may have: each verb ends with a result or three lines."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Final

import pytest

from ais_prompt import cli
from tests.core.e2e.project import COMMAND, DATASET, MODEL, Project
from tests.support.cli import run_cli
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="limits and descriptors are those of Linux"),
]

NAMES: Final = ["COLUMNS", "LINES", "LC_ALL", "PYTHONIOENCODING", "HOME", "TMPDIR", "TERM"]
ASCII: Final = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
WIDTHS: Final = ("0", "1", "5", "-1", "abc", "", "²", "9" * 12)
VARIABLES: Final[dict[str, Mapping[str, str | None]]] = {
    "LINES=0": {"LINES": "0"},
    **{f"LC_ALL={value}": {"LC_ALL": value} for value in ("C", "POSIX", "xx_YY.UTF-8", "zh_CN.GBK", "")},
    "a locale of ASCII": ASCII,
    **{f"PYTHONIOENCODING={value}": {"PYTHONIOENCODING": value} for value in ("ascii", "latin-1", "utf-16")},
    **{f"HOME={value}": {"HOME": value} for value in (None, "", "/nowhere/x", "/etc/passwd")},
    **{f"TMPDIR={value}": {"TMPDIR": value} for value in ("", "/nowhere", "/etc/passwd", "relative")},
    **{f"TERM={value}": {"TERM": value} for value in (None, "", "dumb", "nonsense")},
    **{f"{name} is no folder": {name: "/dev/null/x"} for name in ("XDG_CACHE_HOME", "HF_HOME", "AISPROMPT_DATA")},
    "no PATH": {"PATH": ""},
    "no time zone": {"TZ": "Nowhere/Bad"},
    "proxies that are no URLs": {"HTTPS_PROXY": "http://[bad", "HTTP_PROXY": "::::", "ALL_PROXY": "x://y"},
}


def limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def closed(*descriptors: int) -> Callable[[], None]:
    return lambda: [os.close(one) for one in descriptors] and None


def folder_gone() -> None:
    Path("gone").mkdir()
    os.chdir("gone")
    Path("../gone").rmdir()


STATES: Final[dict[str, Callable[[], object]]] = {
    **{f"{most} descriptors": limited(resource.RLIMIT_NOFILE, most) for most in (7, 8, 9, 12, 20)},
    **{f"files of {most} bytes": limited(resource.RLIMIT_FSIZE, most) for most in (0, 100, 5000)},
    "a small stack": limited(resource.RLIMIT_STACK, 256 << 10),
    "no rights": lambda: os.umask(0o777),
    **{f"closed {gone}": closed(*gone) for gone in ((0,), (1,), (2,), (1, 2), (0, 1, 2))},
    "the folder is gone": folder_gone,
}
ALL_VERBS: Final[dict[str, list[str]]] = {
    "run": ["run", "eval.py"],
    "JSON": ["run", "eval.py", "--json"],
    "check": ["check", "eval.py"],
    "view-prompt": ["view-prompt", "eval.py"],
    "score": ["score", "eval"],
    "compare": ["compare", "eval"],
    "explain": ["explain", "eval", "eval"],
    "lock": ["lock", "eval.py", "-o", "prompts.lock"],
    "seal": ["seal", "eval", "-o", "again.seal"],
    "verify": ["verify", "eval.seal"],
    "export": ["export", "eval", "--to", "csv"],
    "list": ["list"],
    "describe": ["describe", "GenInferencer"],
    "help": ["run", "--help"],
}
VERBS: Final = {name: words for name, words in ALL_VERBS.items() if words[0] in cli.VERBS}
"""Those that are in this installation."""


@pytest.fixture
def made(project: Project) -> Project:
    """A project with names that not every locale has, two runs and a seal."""
    project.write_data()
    project.write_config(models=MODEL.replace("'fake'", "'模型'"), datasets=DATASET.replace("'sums'", "'数学 é'"))
    for words in (["run", "eval.py"], ["run", "eval.py"], ["seal", "eval", "-o", "eval.seal"]):
        assert words[0] not in cli.VERBS or project.run(*words).returncode == 0
    return project


def assert_ends_well(project: Project, words: list[str], state: Callable[[], object] | None = None) -> None:
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=project.root,
        env=project.variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        preexec_fn=state,
        timeout=WATCHDOG_SECONDS,
    )
    said = done.stderr.decode(errors="replace")
    assert done.returncode in (0, 1, 2, 3, 4), (words, said)
    assert "Traceback" not in said, words


def assert_no_variable_is_a_bug(made: Project, variables: Mapping[str, str | None], verbs: Iterable[str]) -> None:
    made.environment |= {**dict.fromkeys(NAMES), "HOME": str(made.root), "TERM": "dumb", **variables}
    for verb in verbs:
        assert_ends_well(made, VERBS[verb])


def assert_no_state_is_a_bug(made: Project, state: Callable[[], object], verbs: Iterable[str]) -> None:
    for verb in verbs:
        kept = shutil.copytree(made.root / "outputs", made.root / "kept")
        assert_ends_well(made, VERBS[verb], state)
        shutil.rmtree(made.root / "outputs")
        kept.rename(made.root / "outputs")


def together() -> list[Mapping[str, str | None]]:
    """Return few environments in which all the values occur: each has another value of every variable."""
    values: dict[tuple[str, ...], list[Mapping[str, str | None]]] = {}
    for one in VARIABLES.values():
        values.setdefault(tuple(one), []).append(one)
    return [dict(ChainMap(*row)) for row in zip_longest(*values.values(), fillvalue={})]


def test_no_width_of_the_terminal_is_a_bug(made: Project) -> None:
    for width in WIDTHS:
        for verb in ("run", "list"):
            done = run_cli(*VERBS[verb], folder=made.root, environment={"COLUMNS": width})
            assert (done.returncode in (0, 1, 2), "Traceback" in done.stderr) == (True, False), (width, verb, done)


@pytest.mark.slow
@pytest.mark.parametrize("variables", together())
def test_no_variables_of_the_environment_are_a_bug(made: Project, variables: Mapping[str, str | None]) -> None:
    assert_no_variable_is_a_bug(made, variables, ["run"])


@pytest.mark.slow
@pytest.mark.grid(6)
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_no_limit_or_closed_descriptor_is_a_bug(made: Project, state: Callable[[], object]) -> None:
    assert_no_state_is_a_bug(made, state, ["run"])


@pytest.mark.slow
@pytest.mark.grid(4)
@pytest.mark.parametrize("variables", VARIABLES.values(), ids=VARIABLES)
def test_no_variable_is_a_bug_of_any_verb(made: Project, variables: Mapping[str, str | None]) -> None:
    assert_no_variable_is_a_bug(made, variables, VERBS)


@pytest.mark.slow
@pytest.mark.grid(4)
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_no_state_is_a_bug_of_any_verb(made: Project, state: Callable[[], object]) -> None:
    assert_no_state_is_a_bug(made, state, VERBS)
