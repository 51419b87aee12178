"""Forms of exported results that extensions bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt import extension
from ais_prompt.verbs import export
from tests.support.cli import run_cli
from tests.support.packages import install_extension

CONFIG = r"""
models = [dict(type='ScriptedModel', abbr='fake', default='4')]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""
WRITER = """
def write(results, folder):
    folder.mkdir(parents=True)
    path = folder / "names.txt"
    path.write_text(" ".join(task.dataset for task in results.tasks))
    return [path]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sums.jsonl").write_text('{"question": "2+2", "answer": "4"}\n')
    (tmp_path / "eval.py").write_text(CONFIG)
    assert run_cli("run", "eval.py", folder=tmp_path).returncode == 0
    return tmp_path


def test_the_form_of_an_installed_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "'names' is not one of" in run_cli("export", "eval", "--to", "names", folder=folder).stderr
    install_extension(folder / "site", "names_writer", "exporters={'names': 'writer:write'}", writer=WRITER)
    monkeypatch.syspath_prepend(folder / "site")
    done = run_cli("export", "eval", "--to", "names", folder=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / done.stdout.strip()).read_text() == "sums"


def test_the_form_of_a_missing_extension(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "names.json").write_text('{"their": "journals"}')
    monkeypatch.setattr(extension, "_FOLDER", folder)
    done = run_cli("export", "eval", "--to", "their", folder=folder)
    assert done.returncode == 2
    assert "the extension 'journals' writes 'their', and is not here" in done.stderr


def test_an_unknown_form_offers_the_nearest(folder: Path) -> None:
    with pytest.raises(Exception, match="did you mean 'parquet'"):
        export("eval", "parket", work_dir=str(folder / "outputs"))
