"""Run folders that the peers' own code wrote are imported and scored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ais_prompt.extensions.peers.peer_packages import peer_package
from tests.extensions.peer_loaders.their_runs import TIME
from tests.support.cli import run_cli

ROOT = Path(__file__).parents[3]
PACKAGES = ("opencompass", "ais_bench")

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not all(map(peer_package, PACKAGES)), reason="OpenCompass and AISBench are not there"),
]


@pytest.fixture(params=PACKAGES)
def theirs(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder of the peer, in the working directory, beside its data."""
    folder = tmp_path / "data" / "gsm8k"
    folder.mkdir(parents=True)
    rows = [{"question": f"What is {n}+{n}?", "answer": f"Add them.\n#### {2 * n}"} for n in range(4)]
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "tests.extensions.peer_loaders.their_runs", request.param],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    if "ModuleNotFoundError" in done.stderr:  # their inferencers need more than their loaders
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return tmp_path / "theirs" / TIME


@pytest.mark.parametrize("has_data", [True, False])
def test_what_their_code_wrote_is_imported_and_scored(theirs: Path, has_data: bool) -> None:
    if not has_data:
        Path("data").rename("elsewhere")
    done = run_cli("import", str(theirs))
    assert done.returncode == 0, done.stderr
    failed = {f.stem for f in theirs.glob("predictions/gpt/*_failed.jsonl")}
    wrong = 2 if failed else 1  # in AISBench one request fails too
    assert f"accuracy {25 * (4 - wrong)} there" in done.stdout
    [run] = Path("outputs/theirs").iterdir()
    scored = run_cli("score", str(run))
    assert ("2 of 8 samples failed" in scored.stderr) == bool(failed)
    for name, repeats in (("gsm8k", 1), ("gsm8k_twice", 2)):
        lines = [json.loads(line) for line in (run / f"predictions/gpt/{name}.jsonl").read_text().splitlines()]
        answers = ["It is 0.", "It is 2.", "It is 5.", None if failed else "It is 6."]
        expected = answers if repeats == 1 else [[answer] * repeats for answer in answers]
        assert [line["prediction"] for line in lines] == expected
        prompts = [message["content"] for line in lines for message in line["origin_prompt"]]
        assert prompts == [f"Q: What is {n}+{n}?" for n in range(4)]
