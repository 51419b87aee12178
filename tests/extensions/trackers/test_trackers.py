"""Trackers and messages for real where their packages are installed; what fails there costs a warning only."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from tests.core.e2e.project import Project
from tests.support.cli import ROOT

pytestmark = [pytest.mark.process, pytest.mark.thorough]


def run(project: Project, more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a config with a tracker in a process of its own: trackers keep threads and change settings."""
    project.write_config(more=more)
    project.environment |= {"HOME": str(project.root), "WANDB_SILENT": "true", **environment}
    return project.run_process("run", "eval.py")


def needs(package: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def test_mlflow_has_scores_samples_and_report(project: Project) -> None:
    needs("mlflow")
    done = run(project, "track = dict(to='mlflow', offline=True, samples=3)")
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(project.folder() / "mlflow.db") as found:
        metrics = dict(found.execute("select key, value from metrics"))
        params = dict(found.execute("select key, value from params"))
    [row] = project.summary()
    assert metrics["fake/sums/accuracy/score"] == row["score"]
    assert metrics["fake/sums/accuracy/ci95_low"] == pytest.approx(row["ci95_low"])
    assert (metrics["fake/sums/accuracy/n"], params["models"]) == (8, "fake")
    files = {path.name: path for path in project.folder().rglob("artifacts/*")}
    assert {"report.html", "config.py", "samples.json"} <= files.keys()
    assert len(json.loads(files["samples.json"].read_text())["data"]) == 3


def test_trackio_has_scores_and_samples(project: Project) -> None:
    needs("trackio")
    done = run(project, "track = 'trackio'", TRACKIO_DIR=str(project.root / "trackio"))
    assert done.returncode == 0, done.stderr
    assert "got nothing" not in done.stderr
    with sqlite3.connect(project.root / "trackio" / "aisprompt.db") as found:
        logged = [json.loads(line) for (line,) in found.execute("select metrics from metrics")]
    assert logged[0]["fake/sums/accuracy/score"] == project.summary()[0]["score"]
    assert "samples" in logged[1]
    assert "Trackio" not in done.stdout


@pytest.mark.parametrize(("tracker", "files"), [("wandb", "wandb/offline-run-*"), ("swanlab", "swanlog/run-*")])
def test_others_write_to_this_machine(tracker: str, files: str, project: Project) -> None:
    needs(tracker)
    done = run(project, f"track = dict(to={tracker!r}, offline=True)")
    assert done.returncode == 0, done.stderr
    assert "got nothing" not in done.stderr
    assert len([*project.folder().glob(files)]) == 1


def test_a_message_has_scores_and_no_samples(project: Project) -> None:
    needs("apprise")
    taken: list[dict[str, Any]] = []

    class Chat(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"json://127.0.0.1:{server.server_port}/?token=hidden-away"
        done = run(project, "notify = '$CHAT'\ngates = ['accuracy >= 90%']", CHAT=address)
    finally:
        server.shutdown()
        server.server_close()
    assert "got nothing" not in done.stderr
    [message] = taken
    assert message["title"] == "eval: finished, 1 broken gate"
    assert "fake · sums · accuracy: 25.0%" in message["message"]
    assert "3+3" not in message["message"]
    assert not any(b"hidden-away" in path.read_bytes() for path in project.folder().rglob("*") if path.is_file())


FAKE: Final = "def init(**_):\n    raise ConnectionError('the tracker is away')\n"


def test_a_tracker_that_fails_costs_a_warning(project: Project, tmp_path: Path) -> None:
    package = tmp_path / "fake" / "trackio"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE)
    path = os.pathsep.join([str(package.parent), str(ROOT)])
    done = run(project, "track = 'trackio'", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "trackio got nothing of this run: ConnectionError: the tracker is away" in " ".join(done.stderr.split())
    assert project.summary()[0]["score"] == 0.25


MISSING: Final = [
    ("track = 'wandb'", "track needs the package wandb, which is not installed"),
    ("notify = '$CHAT'", "notify needs the package apprise, which is not installed"),
]
WRONG: Final = [
    ("track = 'tensorboard'", "there is no tracker 'tensorboard'"),
    ("track = dict(to='mlflow', sample=3)", "sample"),
    ("notify = 'json://secret@host'", "is a secret"),
]


def test_what_is_wrong_is_one_sentence_before_anything_is_asked(project: Project) -> None:
    for more, words in WRONG:
        project.write_config(more=more)
        checked = project.run("check", "eval.py")
        assert (checked.returncode, words in checked.stderr) == (2, True), checked.stderr
    for more, words in MISSING:
        project.write_config(more=more)
        blind = "import sys; sys.modules.update(wandb=None, apprise=None); from ais_prompt.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", blind, "run", "eval.py"],
            cwd=project.root,
            env={**project.variables(), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert words in " ".join(done.stderr.split()), done.stderr
        assert not [*project.root.glob("outputs/eval/*/journal")]
