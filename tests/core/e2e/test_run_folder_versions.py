"""Run folders of every earlier version go on working: ``tests/data/run_folders`` has one of each, as it was written."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from tests.core.e2e.project import Project
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


FOLDERS = sorted((Path(__file__).parents[2] / "data" / "run_folders").iterdir())
TASKS = [f"{model}/{dataset}" for model in ("fake", "served") for dataset in ("sums", "twice", "judged", "talks")]
NO_SERVER = {"MOCK_URL": "http://127.0.0.1:9/v1"}
"""An address where nothing answers: a request would fail."""


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """A copy of a folder of an earlier version, at another place and with a server at another address."""
    root = tmp_path / "project"
    shutil.copytree(request.param, root)
    for path in root.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"/project", str(root).encode()))
    return Project(root, dict(NO_SERVER))


def journals(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.glob("outputs/**/journal/**/*.jsonl"))}


def scores(root: Path) -> dict[tuple[str, str, str], float]:
    rows = json.loads(next(root.glob("outputs/eval/*/summary/summary.json")).read_text())
    return {(row["model"], row["dataset"], row["metric"]): row["score"] for row in rows}


def logged(project: Project, *command: str) -> str:
    """Run a command, and return what its run folder's log says of it; the terminal groups alike lines."""
    before = {path: path.stat().st_size for path in project.root.glob("outputs/*/*/logs/run.log")}
    done = project.run(*command)
    assert done.returncode == 0, done.stderr
    logs = project.root.glob("outputs/*/*/logs/run.log")
    return "".join(path.read_bytes()[before.get(path, 0) :].decode() for path in logs)


def tasks_held_against(project: Project, run: str, baseline: str) -> int:
    """How many tasks were compared with a baseline; three samples are too few for a verdict."""
    done = project.run("score", run, "--baseline", baseline)
    assert "FAIL" not in done.stdout, done.stdout + done.stderr
    return done.stdout.count("nothing changed") + done.stdout.count("3 samples or clusters cannot show")


def test_nothing_is_asked_again(old: Project) -> None:
    before = scores(old.root)
    for config, tasks in (("eval.py", TASKS), ("facts.py", ["fake/facts"])):
        log = logged(old, "run", config, "-r")
        assert all(f"[{task}] " in log for task in tasks)
        assert log.count(" 0 will be asked\n") == log.count(" will be asked") >= len(tasks)
    assert scores(old.root).items() >= before.items()  # there are more metrics now
    run_file = json.loads(next(old.root.glob("outputs/eval/*/run.json")).read_text())
    assert run_file["schema_version"] == 2
    # From now on the answers are found as those of this version: nothing is written once more.
    adopted = journals(old.root)
    again = old.run("run", "eval.py", "-r")
    assert again.returncode == 0, again.stderr
    assert "stored answers belong to other" not in again.stderr
    assert journals(old.root) == adopted


def test_answers_are_adopted_from_the_cache(old: Project) -> None:
    if not (old.root / "cache").exists():
        pytest.skip("that version had no cache")
    old.environment["MOCK_URL"] = _address_before(old.root)
    log = logged(old, "run", "eval.py", "--cache", "cache")
    assert "[served/twice] 7 of 7 samples are answered already, 0 will be asked; 14 answers come from" in log


def _address_before(root: Path) -> str:
    record = json.loads(next(root.glob("outputs/eval/*/run.json")).read_text())
    address: str = record["tasks"]["served/sums"]["model"]["base_url"]
    return address


def test_adopting_survives_being_killed(old: Project) -> None:
    process = old.start("run", "eval.py", "-r")
    journal = next(old.root.glob("outputs/eval/*/journal/served/sums.jsonl"))
    whole = len(journal.read_bytes())
    wait_until(lambda: len(journal.read_bytes()) != whole or process.poll() is not None, "the journal grows")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with journal.open("r+b") as file:  # wherever it was killed, the last line may be torn
        file.truncate(max(whole, len(journal.read_bytes()) - 7))
    assert logged(old, "run", "eval.py", "-r").count(" 0 will be asked\n") == len(TASKS) + 2


def test_a_killed_run_asks_only_what_is_missing(old: Project) -> None:
    folder = next(old.root.glob("outputs/eval/*"))
    run_file = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**run_file, "status": "running", "tasks": {}}))
    journal = folder / "journal/fake/sums.jsonl"
    journal.write_bytes(journal.read_bytes()[:-10])
    old.environment["MOCK_URL"] = _address_of(journal.parents[2] / "config.py")
    log = logged(old, "run", "eval.py", "-r")
    assert "[fake/sums] 6 of 7 samples are answered already, 1 will be asked" in log
    assert log.count(" 0 will be asked\n") == len(TASKS) + 1


def _address_of(config: Path) -> str:
    return config.read_text().partition("base_url='")[2].partition("'")[0]


def test_every_verb_reads_them(old: Project) -> None:
    run = str(next(old.root.glob("outputs/eval/*")))
    shutil.copytree(run, old.root / "before")
    before = scores(old.root)
    assert tasks_held_against(old, run, "baseline.json") == len(TASKS)
    assert scores(old.root).items() >= before.items()  # there are more metrics now
    for command in (["run", "eval.py", "-m", "viz", "-r"], ["lock", "eval.py", "--check", "-o", "eval.lock"]):
        viewed = old.run(*command)
        assert viewed.returncode == 0, viewed.stderr
    assert (Path(run) / "report.html").exists()

    again = old.run("run", "eval.py", "-r")  # writes predictions of this version
    assert again.returncode == 0, again.stderr
    for sides in (("before", run), (run, "before")):
        compared = old.run("compare", *sides, "--json")
        assert compared.returncode == 0, compared.stderr
        assert all(one["n"] in (3, 7) for one in json.loads(compared.stdout)["comparisons"])
    assert tasks_held_against(old, run, "baseline.json") == len(TASKS)
    assert old.run("diff", "before", run).returncode == 0
    old.run("baseline", run, "-o", "new.json")
    assert tasks_held_against(old, run, "new.json") == len(TASKS)
    refused = old.run("score", "before", "--baseline", "new.json")
    assert refused.returncode == 2
    assert "the run is of an earlier version" in refused.stderr


def test_predictions_of_earlier_versions_are_scored(old: Project) -> None:
    answers = str(next(old.root.glob("outputs/eval/*/predictions/served/sums.jsonl")))
    done = old.run("score", "--predictions", answers, "--config", "eval.py", "--dataset", "sums")
    assert done.returncode == 0, done.stderr
    assert "100.0 %" in done.stdout


def test_a_folder_of_a_later_version_is_refused(old: Project) -> None:
    path = next(old.root.glob("outputs/eval/*/run.json"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99}))
    done = old.run("run", "eval.py", "-r")
    assert done.returncode == 3
    assert "a later version of ais-prompt wrote this run" in done.stderr
