"""A run imports what it uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ais_prompt.extension import shipped
from tests.support.servers import ROOT, MockServer

UNUSED = (
    "checks.extraction",
    "checks.shown_questions",
    "comparison.differences",
    "data.hugging_face",
    "data.sheets",
    "engine.workers",
    "extensions.leaks.search",
    "extensions.programs.agent",
    "extensions.programs.evaluator",
    "extensions.programs.sandbox",
    "gates.shown",
    "judges",
    "locks",
    "models.huggingface",
    "models.server.started",
)
"""What a plain run of questions with short answers behind a server does not need."""
MOST = 242
"""Modules of the package that such a run imports, at most, without manifests of extensions, each of which is one value;
lower it when there are fewer."""
PROGRAM = """
import json, sys
from ais_prompt.cli import main
try:
    main(sys.argv[1:])
finally:
    print(json.dumps([name for name in sys.modules if name.startswith("ais_prompt.")]))
"""


@pytest.mark.process
@pytest.mark.thorough
def test_a_plain_run_imports_no_mode_that_it_does_not_use(tmp_path: Path, server: MockServer) -> None:
    (tmp_path / "questions.jsonl").write_text('{"question": "1+1=?", "answer": "2"}\n')
    command = [sys.executable, "-c", PROGRAM, "run", "--url", server.base_url, "--data", "questions.jsonl"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    imported = [name.removeprefix("ais_prompt.") for name in json.loads(done.stdout.splitlines()[-1])]
    assert [name for name in imported if f"{name}.".startswith(tuple(f"{room}." for room in UNUSED))] == []
    manifests = {f"extensions.{name}" for name in shipped()}
    assert len({*imported} - manifests) <= MOST
