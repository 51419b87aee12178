"""Hostile programs reach nothing: as the user of the tests, which may be root, and as one without rights."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.extensions.programs.sandbox import find_isolation
from tests.extensions.programs.hostile.attack_all import outcomes
from tests.extensions.programs.hostile.attacks import ATTACKS, Attack

ROOT = Path(__file__).parents[4]
FEW = list({attack.kind: attack for attack in reversed(ATTACKS)}.values())
"""The first of each kind."""
NAMES = [f"{attack.kind}: {attack.tries}" for attack in ATTACKS]

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="programs are confined on Linux only"),
]


def command_without_rights() -> list[str]:
    """Return the start of a command that runs Python as user 65534, who has no rights, with our packages."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user")
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    msgspec = importlib.util.find_spec("msgspec")
    assert msgspec is not None
    packages = Path(msgspec.origin or "").parents[1]
    drop += ["env", "-i", f"PYTHONPATH={ROOT}:{packages}", "PATH=/usr/bin:/bin:/usr/sbin:/sbin"]
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}", "/usr/local/bin/python3"):
        tried = subprocess.run(
            [*drop, python, "-c", "import ais_prompt.extensions.programs.sandbox"], cwd="/", capture_output=True
        )
        if tried.returncode == 0:
            return [*drop, python]
    pytest.skip("a user without rights has no Python of this version here, or cannot read this folder")


def skip_without(level: str) -> None:
    try:
        find_isolation(level)
    except ModelError as error:
        pytest.skip(error.what)


@pytest.mark.grid(len(FEW))
@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("attack", FEW, ids=lambda attack: attack.kind)
def test_one_of_each_kind_reaches_nothing(attack: Attack, level: str) -> None:
    skip_without(level)
    [found] = outcomes(level, [attack])
    assert found["complaints"] == []


@pytest.fixture(
    scope="module", params=[(user, level) for user in ("me", "without rights") for level in ("bubblewrap", "landlock")]
)
def report(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """What came of each attack, by one process for all."""
    user, level = request.param
    python = [sys.executable] if user == "me" else command_without_rights()
    skip_without(level)
    command = [*python, "-m", "tests.extensions.programs.hostile.attack_all", level]
    done = subprocess.run(command, cwd=ROOT if user == "me" else "/", capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return {found["tries"]: found for found in map(json.loads, done.stdout.splitlines())}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
def test_nothing_is_reached(attack: Attack, report: Mapping[str, Any]) -> None:
    assert report[attack.tries]["complaints"] == []


def test_every_attack_says_what_it_tries_and_how_that_is_seen() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 60
    assert all(attack.tries and attack.seen for attack in ATTACKS)
