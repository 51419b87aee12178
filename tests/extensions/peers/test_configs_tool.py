"""The measure of peers' configs counts what passes, and names the cause of what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS
from tests.support.peer_package import write_peer
from tools.peer_configs import JUDGE, main


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (PEER_FOLDERS.variable, "HF_HUB_OFFLINE", *JUDGE):  # the tool sets them
        monkeypatch.setenv(name, "")
    return write_peer(tmp_path)


def measured(*args: str) -> list[dict[str, object]]:
    output = Path("results.jsonl")
    result = CliRunner().invoke(main, [*args, "-j", "1", "-o", str(output)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in output.read_text().splitlines()]


@pytest.mark.thorough
def test_what_fails_is_named(peer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(peer)
    found = measured(str(peer), "--measure", "check", "--measure", "run")
    causes = {(one["measure"], str(one["file"]).rpartition("/")[2]): one["causes"] for one in found}
    missing = ["ConfigError: there is no opencompass.datasets.NowhereDataset"]
    assert causes == {
        ("check", "riddles_gen.py"): [],
        ("check", "broken_gen.py"): missing,
        ("run", "riddles_gen.py"): [],
        ("run", "broken_gen.py"): [],  # made-up rows take the place of its loader
    }


@pytest.mark.thorough
def test_without_wheels_their_code_is_a_fault(
    peer: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    found = measured(str(peer), "--measure", "check", "--without-wheels", "--only", "datasets/riddles/riddles*")
    assert [one["causes"] for one in found] == [["the config uses code of OpenCompass, which is not installed"] * 2]
