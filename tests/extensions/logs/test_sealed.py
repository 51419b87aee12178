"""A log of another tool that is imported, and sealed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.extensions.logs.writers import write_lm_eval
from tests.support.cli import run_cli
from tests.support.packages import needs_extension

pytestmark = [pytest.mark.process, needs_extension("evidence")]


def test_an_imported_run_is_not_known_to_be_what_its_tool_did(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    assert run_cli("import", str(write_lm_eval(tmp_path / "log")), folder=tmp_path).returncode == 0
    [run] = (tmp_path / "outputs").glob("*/*")
    done = run_cli("seal", str(run), "-o", "e.seal", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run_cli("verify", "e.seal", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {one["subject"]: one["holds"] for one in json.loads(done.stdout)["findings"]}
    assert found["content"] is True
    assert (found["data"], found["prompts"], found["scores"]) == (None, None, None)
