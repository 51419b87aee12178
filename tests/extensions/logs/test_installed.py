"""A format of logs that an installed package brings: `import` and `explain` read it without knowing it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.extensions.logs.writers import Asked, write_inspect_json
from tests.support.cli import run_cli
from tests.support.packages import install_extension

READER = """
from ais_prompt.store import LogFormat
from ais_prompt.types import Completion, LoggedAnswer, LoggedTask


def recognizes(log):
    return log.path.suffix == ".tally"


def read(log):
    def answers():
        for number, line in enumerate(log.path.read_text().splitlines()):
            question, gold, said = line.split(";")
            yield LoggedAnswer(str(number), Completion(said), gold, question, values={"right": float(gold == said)})

    yield LoggedTask("tally", "parrot", "sums", answers, str(log.path))


FORMAT = LogFormat("tally", recognizes, read)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install_extension(tmp_path / "site", "tally_logs", "logs={'tally': 'reader:FORMAT'}", reader=READER)
    monkeypatch.syspath_prepend(tmp_path / "site")
    for name, third in (("one", 9), ("other", 6)):
        (tmp_path / f"{name}.tally").write_text(f"1+1;2;2\n2+2;4;4\n3+3;6;{third}\n")
    return tmp_path


def test_a_log_is_imported(folder: Path) -> None:
    done = run_cli("import", "one.tally", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(task["name"], task["samples"]) for task in found["tasks"]] == [("parrot/sums", 3)]
    [score] = json.loads((folder / found["folder"] / "results/parrot/sums.json").read_text())["scores"]
    assert (score["metric"], score["value"]) == ("right", pytest.approx(2 / 3))


def test_two_logs_are_explained(folder: Path) -> None:
    done = run_cli("explain", "one.tally", "other.tally", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "+33.3" in done.stdout


def test_a_shipped_format_is_asked_first(folder: Path) -> None:
    shipped = write_inspect_json(folder / "shipped", [Asked("1+1", "2", "2", "2", 1.0)])
    done = run_cli("import", str(shipped.rename(folder / "log.tally")), folder=folder)
    assert done.returncode == 0, done.stderr
    assert "parrot" not in done.stdout


def test_a_log_of_no_format_names_all(folder: Path) -> None:
    (folder / "nothing.txt").write_text("nothing")
    done = run_cli("import", "nothing.txt", folder=folder)
    assert done.returncode == 2
    assert "this is of none of inspect_ai" in done.stderr
    assert ", tally" in done.stderr
