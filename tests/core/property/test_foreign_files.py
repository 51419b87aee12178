"""Odd values in run folders of others: a result or three lines, in little memory."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.e2e.project import ROWS
from tests.support.cli import run_cli
from tests.support.odd_files import assert_no_fault, change_file
from tests.support.parts import write_rows

pytestmark = [pytest.mark.process, pytest.mark.thorough]

SCORED: Final = """models = [dict(type='ScriptedModel', abbr='m', default='4')]
datasets = [dict(abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scored")
    write_rows(folder / "data/sums.jsonl", ROWS)
    (folder / "e.py").write_text(SCORED)
    assert run_cli("run", "e.py", folder=folder).returncode == 0
    return folder


@given(random=st.randoms(use_true_random=False))
def test_an_odd_run_folder_is_read_or_refused(project: Path, random: Random) -> None:
    [run] = (project / "outputs/e").iterdir()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(run, Path(place, "run")))
        (folder / ".made-here").unlink()
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl"))
        change_file(random.choice(files), random)
        for verb in ("score", "compare"):
            assert_no_fault(verb, str(folder), folder=project)
