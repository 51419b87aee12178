"""Results as tables, and what holds for all forms of exported results."""

from __future__ import annotations

import csv
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from ais_prompt.catalog import EXPORTERS
from ais_prompt.extension import import_object
from ais_prompt.report import SAMPLE_COLUMNS
from tests.support.cli import run_cli

SPECIAL: Final = {"otel", "ratings"}
"""Forms for runs of agents, and of judges that compare models."""

KEY = "sk-live-0123456789abcdef0123456789"

CONFIG = r"""
sums = dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{question}\nAnswer: {answer}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='Gsm8kEvaluator'), pred_postprocessor=dict(type='gsm8k_postprocess')))
often = dict(sums, abbr='often-three', infer_cfg=dict(sums['infer_cfg'], inferencer=dict(type='GenInferencer', n=3)))
talk = dict(
    abbr='talk', type='LocalDataset', path='talk.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(inferencer=dict(type='ChatInferencer', infer_mode='every')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))
unscored = dict(sums, abbr='unscored', eval_cfg=dict())
datasets = [sums, often, talk, unscored]
models = [dict(
    type='ScriptedModel', abbr='my model',
    answers={
        r'^3\+3': 'It is 6.', r'^4\+4': '<think>twice four</think>It is 8 \ud800 “é”.',
        r'^5\+5': dict(failure='timeout', message='no answer from sk-live-0123456789abcdef0123456789'),
        r'^6\+6': 'no idea', r'^7\+7': dict(text='It is', finish_reason='length'),
    }, default='It is 4.')]
"""
STATES = {"scored": 5, "unparsed": 1, "truncated": 1, "failed": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all four states, repeats, dialogues and a task that is not scored."""
    folder = tmp_path_factory.mktemp("run")
    rows = [{"question": f"{n}+{n}=?", "answer": str(2 * n), "level": n % 3, "status": "open"} for n in range(8)]
    talks = [{"question": ["0+0=?", "2+2=?"], "answer": ["0", "It is 4."]}]
    for name, lines in (("sums", rows), ("talk", talks)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "eval.py").write_text(CONFIG)
    done = run_cli("run", "eval.py", "--max-failures", "9", folder=folder, environment={"MY_API_KEY": KEY})
    assert done.returncode == 0, done.stderr
    [found] = (folder / "outputs" / "eval").iterdir()
    return found


def export(run: Path, to: str, *more: str) -> list[Path]:
    done = run_cli("export", str(run), "--to", to, *more, folder=run.parent)
    assert done.returncode == 0, done.stderr
    return [run.parent / line for line in done.stdout.splitlines()]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_form_has_a_writer() -> None:
    assert all(callable(import_object(home)) for home in EXPORTERS.values())


@pytest.mark.thorough
@pytest.mark.parametrize("to", sorted(EXPORTERS.keys() - SPECIAL))
def test_a_second_export_writes_the_same_files_and_no_secret(run: Path, tmp_path: Path, to: str) -> None:
    first = {path.relative_to(tmp_path / "a"): content(path) for path in export(run, to, "-o", str(tmp_path / "a"))}
    again = {path.relative_to(tmp_path / "b"): content(path) for path in export(run, to, "-o", str(tmp_path / "b"))}
    assert first == again
    assert first
    assert not [path for path, found in first.items() if KEY.encode() in found]


def content(path: Path) -> bytes:
    """The bytes of a file; of an archive those of its members, of Parquet its rows."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            return b"\n".join(name.encode() + archive.read(name) for name in archive.namelist())
    return str(pq.read_table(path).to_pylist()).encode() if path.suffix == ".parquet" else path.read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_numbers_and_short_texts_of_the_rows_are_columns(run: Path, tmp_path: Path, to: str) -> None:
    [path] = [path for path in export(run, to, "-o", str(tmp_path)) if path.stem == "samples"]
    rows = pq.read_table(path).to_pylist() if to == "parquet" else list(csv.DictReader(path.open(encoding="utf-8")))
    begin = len(SAMPLE_COLUMNS)
    assert list(rows[0])[begin : begin + 3] == ["question", "level", "row_status"]
    assert {str(row["level"]) for row in rows if row["dataset"] == "sums"} == {"0", "1", "2"}


def test_the_files_go_into_the_run_folder_unless_named(run: Path) -> None:
    paths = export(run, "csv")
    assert paths == [run / "export" / "csv" / name for name in ("scores.csv", "samples.csv")]
    assert run_cli("score", str(run), folder=run.parents[2]).returncode in (0, 1), "the run is still a run"


def test_tables_hold_scores_and_samples_with_their_states(run: Path, tmp_path: Path) -> None:
    export(run, "csv", "-o", str(tmp_path))
    export(run, "parquet", "-o", str(tmp_path))
    for name in ("scores", "samples"):
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            texts = list(csv.DictReader(stream))
        values = pq.read_table(tmp_path / f"{name}.parquet").to_pylist()
        assert len(texts) == len(values)
        for text, value in zip(texts, values, strict=True):
            assert text == {column: "" if cell is None else str(cell) for column, cell in value.items()}
    scores = {(row["dataset"], row["metric"]): row for row in pq.read_table(tmp_path / "scores.parquet").to_pylist()}
    sums = scores["sums", "accuracy"]
    assert {state: sums[state] for state in STATES} == STATES
    samples = pq.read_table(tmp_path / "samples.parquet").to_pylist()
    assert Counter(row["status"] for row in samples if row["dataset"] == "sums") == STATES
    known = [row["score_accuracy"] for row in samples if row["dataset"] == "sums" and row["status"] != "failed"]
    assert sum(known) / len(known) == pytest.approx(sums["score"])
    assert {row["dataset"] for row in samples} == {"sums", "often-three", "talk", "unscored"}
    [failed] = [row for row in samples if row["dataset"] == "sums" and row["status"] == "failed"]
    assert failed["score"] is None
    assert failed["failure"] == "timeout: no answer from ***"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("export", "no-such-run", "--to", "csv"), "there is no run"),
        (("export", "eval", "--to", "xml"), "'xml' is not one of"),
        (("export", "eval"), "Missing option '--to'"),
    ],
)
def test_wrong_commands_are_explained(run: Path, args: tuple[str, ...], words: str) -> None:
    done = run_cli(*args, folder=run.parents[2])
    assert done.returncode == 2
    assert words in done.stderr


def test_a_run_without_predictions_is_explained(tmp_path: Path, run: Path) -> None:
    empty = tmp_path / "outputs" / "eval" / run.name
    empty.mkdir(parents=True)
    for name in ("config.py", "run.json"):
        (empty / name).write_bytes((run / name).read_bytes())
    done = run_cli("export", "eval", "--to", "csv", folder=tmp_path)
    assert done.returncode == 3
    assert "the run has no predictions yet" in done.stderr
    assert "fix:" in done.stderr
