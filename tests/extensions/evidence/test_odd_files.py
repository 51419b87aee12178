"""Odd values in seals and run folders of others: a result or three lines, in little memory."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.e2e.project import ROWS
from tests.core.property.test_foreign_files import SCORED
from tests.support.cli import run_cli
from tests.support.odd_files import assert_no_fault, change_file
from tests.support.parts import write_rows

pytestmark = [pytest.mark.process, pytest.mark.thorough]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sealed")
    write_rows(folder / "data/sums.jsonl", ROWS)
    (folder / "e.py").write_text(SCORED)
    for command in (["run", "e.py"], ["seal", "e", "-o", "e.seal"]):
        assert run_cli(*command, folder=folder).returncode == 0
    return folder


@given(random=st.randoms(use_true_random=False))
def test_an_odd_seal_is_verified_or_refused(project: Path, random: Random) -> None:
    seal = Path(shutil.copy(project / "e.seal", project / "odd.seal"))
    change_file(seal, random)
    assert_no_fault("verify", "odd.seal", folder=project)


@given(random=st.randoms(use_true_random=False))
def test_an_odd_run_folder_is_sealed_or_refused(project: Path, random: Random) -> None:
    [run] = (project / "outputs/e").iterdir()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(run, Path(place, "run")))
        (folder / ".made-here").unlink()
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl"))
        change_file(random.choice(files), random)
        assert_no_fault("seal", str(folder), "-o", str(Path(place, "x.seal")), folder=project)
