"""A disk that is full at any point ends a run with exit code 3, or not at all; what was answered is kept."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.core.e2e.project import COMMAND, ROWS, Project

pytestmark = pytest.mark.process
VERBS = [
    ("run", "eval.py", "-w", "{folder}"),
    ("lock", "eval.py", "-o", "{folder}/eval.lock"),
    ("run", "eval.py", "--save-config", "{folder}/saved.py"),
    ("run", "eval.py", "-w", "runs", "--cache", "{folder}"),
]


def ended(done: subprocess.CompletedProcess[str]) -> int:
    assert "a bug" not in done.stderr, done.stderr
    assert done.returncode in (0, 3), done.stderr
    assert ("no space left" in done.stderr or "File too large" in done.stderr) >= (done.returncode == 3), done.stderr
    return done.returncode


@pytest.mark.parametrize("kib", [1, 16])
def test_files_that_may_not_grow(project: Project, kib: int) -> None:
    project.write_data(ROWS * 8)
    project.write_config()
    command = [
        "bash",
        "-c",
        f'ulimit -f {kib}; exec "$@"',
        "bash",
        *COMMAND,
        "run",
        "eval.py",
        "--max-failures",
        "100%",
    ]
    done = subprocess.run(
        command, cwd=project.root, env=project.variables(), capture_output=True, text=True, check=False
    )
    if ended(done):
        again = project.run("run", "eval.py", "-r", "--max-failures", "100%")
        assert again.returncode == 0, again.stderr


@pytest.mark.grid(4)
@pytest.mark.parametrize("args", VERBS)
@pytest.mark.parametrize("kib", [0, 8, 24, 64])
def test_a_disk_that_is_full(project: Project, args: tuple[str, ...], kib: int) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("a small disk needs a mount namespace")
    project.write_data(ROWS * 8)
    project.write_config()
    disk = project.root / "disk"
    disk.mkdir()
    # All blocks but `kib` of a file system of 256 KiB are taken.
    mounted = (
        f'mount -t tmpfs -o size=256k none "{disk}" && head -c {256 - kib}k /dev/zero > "{disk}/taken" && exec "$@"'
    )
    words = [word.format(folder=Path(disk)) for word in args]
    command = ["unshare", "-rm", "bash", "-c", mounted, "bash", *COMMAND, *words]
    limits = ["--max-failures", "100%"] if words[0] == "run" else []
    ended(
        subprocess.run(
            [*command, *limits], cwd=project.root, env=project.variables(), capture_output=True, text=True, check=False
        )
    )
