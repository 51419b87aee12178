"""Results in the forms of other programs, read as those programs read them."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import venv
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from ais_prompt.catalog import EXPORTERS
from ais_prompt.extension import import_object
from ais_prompt.report import SAMPLE_COLUMNS
from tests.support.cli import run_cli
from tests.support.servers import ROOT

SCHEMAS = ROOT / "tests" / "data" / "every_eval_ever"
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
@pytest.mark.parametrize("to", EXPORTERS)
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
@pytest.mark.parametrize("to", EXPORTERS)
def test_numbers_and_short_texts_of_the_rows_are_kept(run: Path, tmp_path: Path, to: str) -> None:
    paths = export(run, to, "-o", str(tmp_path))
    found: list[dict[str, Any]] = []
    if to in ("csv", "parquet"):
        [path] = [path for path in paths if path.stem == "samples"]
        rows = pq.read_table(path).to_pylist() if to == "parquet" else list(csv.DictReader(path.open(encoding="utf-8")))
        begin = len(SAMPLE_COLUMNS)
        assert list(rows[0])[begin : begin + 3] == ["question", "level", "row_status"]
        found = [row for row in rows if row["dataset"] == "sums"]
    elif to != "inspect":  # which is compared below
        lines = [line for path in paths if path.suffix == ".jsonl" for line in lines_of(path)]
        found = [row for line in lines if "level" in (row := line.get("doc") or line["metadata"])]
    assert {str(row["level"]) for row in found} == (set() if to == "inspect" else {"0", "1", "2"})


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


def test_records_are_valid_in_every_eval_ever(run: Path, tmp_path: Path) -> None:
    records = Draft7Validator(json.loads((SCHEMAS / "eval.schema.json").read_text()))
    samples = Draft202012Validator(json.loads((SCHEMAS / "instance_level_eval.schema.json").read_text()))
    assert list(records.iter_errors({})), "the schema can refuse"
    paths = export(run, "eee", "-o", str(tmp_path))
    found = {}
    for path in paths:
        if path.suffix == ".json":
            record = json.loads(path.read_text("utf-8"))
            records.validate(record)
            found[record["evaluation_results"][0]["evaluation_name"]] = record
    assert set(found) == {"sums", "often-three", "talk"}, "a task without scores has no record"
    for name, record in found.items():
        details = record["detailed_evaluation_results"]
        file = tmp_path / details["file_path"]
        assert details["checksum"] == hashlib.sha256(file.read_bytes()).hexdigest()
        rows = lines_of(file)
        assert len(rows) == details["total_rows"] == {"sums": 7, "often-three": 7, "talk": 1}[name]
        for row in rows:
            samples.validate(row)
            assert row["evaluation_id"] == record["evaluation_id"]
        score = record["evaluation_results"][0]["score_details"]
        mean = sum(row["evaluation"]["score"] for row in rows) / len(rows)
        assert score["score"] == pytest.approx(mean), "failed samples do not count as wrong"
        assert sum(row["evaluation"]["is_correct"] for row in rows) == sum(
            row["evaluation"]["score"] == 1 for row in rows
        )
    assert found["sums"]["evaluation_results"][0]["score_details"]["details"] == {
        state: str(count) for state, count in STATES.items()
    }
    [dialogue] = lines_of(tmp_path / found["talk"]["detailed_evaluation_results"]["file_path"])
    assert dialogue["interaction_type"] == "multi_turn"
    assert [turn["role"] for turn in dialogue["messages"]] == ["user", "assistant", "user", "assistant"]
    thinking = lines_of(tmp_path / found["sums"]["detailed_evaluation_results"]["file_path"])[4]
    assert thinking["output"]["raw"][0].startswith("It is 8")
    assert thinking["output"]["reasoning_trace"] == ["twice four"]
    often = lines_of(tmp_path / found["often-three"]["detailed_evaluation_results"]["file_path"])
    assert all(len(row["output"]["raw"]) == 3 for row in often)


def test_files_have_the_fields_of_lm_evaluation_harness(run: Path, tmp_path: Path) -> None:
    paths = export(run, "lm-eval", "-o", str(tmp_path))
    [results] = [path for path in paths if path.name.startswith("results_")]
    values = json.loads(results.read_text("utf-8"))
    assert results.parent.name == "my model"
    assert set(values["results"]) == set(values["n-samples"]) == set(values["configs"]) == set(values["task_hashes"])
    scored = {path.name.split("_")[1]: lines_of(path) for path in paths if path.name.startswith("samples_")}
    rows = scored["sums"]
    assert len(rows) == 7
    fields = "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash accuracy"
    assert list(rows[0]) == fields.split()
    assert rows[3]["arguments"]["gen_args_0"]["arg_0"].startswith('[{"role":"user","content":"3+3=?')
    assert (rows[3]["resps"], rows[3]["filtered_resps"], rows[3]["accuracy"]) == ([["It is 6."]], ["6"], 1.0)
    mean = sum(row["accuracy"] for row in rows) / len(rows)
    assert values["results"]["sums"]["accuracy,none"] == pytest.approx(mean)
    assert values["higher_is_better"]["sums"] == {"accuracy": True}
    assert values["n-samples"]["sums"] == {"original": 8, "effective": 8}


def test_logs_of_inspect_are_archives_of_their_samples(run: Path, tmp_path: Path) -> None:
    paths = export(run, "inspect", "-o", str(tmp_path))
    assert len(paths) == 4
    [sums] = [path for path in paths if "_sums_" in path.name]
    with zipfile.ZipFile(sums) as archive:
        names = archive.namelist()
        header = json.loads(archive.read("header.json"))
        summaries = json.loads(archive.read("summaries.json"))
        samples = [json.loads(archive.read(name)) for name in names if name.startswith("samples/")]
    for sample in samples:
        asked = [[*event["input"], event["output"]["choices"][0]["message"]] for event in sample.get("events", ())]
        assert asked == ([] if "error" in sample else [sample["messages"]]), "the frame of messages is made of events"
    assert len([name for name in names if name.startswith("samples/")]) == len(summaries) == 8
    assert (header["status"], header["eval"]["task"], header["results"]["completed_samples"]) == ("success", "sums", 7)


READ_LOGS = r"""
import json, sys
from inspect_ai.analysis import messages_df
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

for path in sys.argv[1:]:
    log = read_eval_log(path)
    assert len(read_eval_log_sample_summaries(path)) == len(log.samples)
    messages = [message for sample in log.samples if sample.error is None for message in sample.messages]
    if not any("\ud800" <= sign <= "\udfff" for message in messages for sign in message.text):  # which it cannot read
        assert len(messages_df(path, quiet=True)) == len(messages)
        print(path, "has messages", file=sys.stderr)
    print(json.dumps(log.model_dump(mode="json")))
"""


@pytest.fixture(scope="module")
def inspect_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own for inspect_ai: it needs about 50 packages, some in other versions than ours."""
    folder = tmp_path_factory.mktemp("inspect")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "inspect_ai", "pandas", "pyarrow"], capture_output=True, timeout=600
    )
    if done.returncode != 0:
        pytest.skip("inspect_ai cannot be installed here")
    return python


@pytest.mark.slow
def test_inspect_opens_its_logs(run: Path, tmp_path: Path, inspect_python: Path) -> None:
    command = [inspect_python, "-c", READ_LOGS, *map(str, export(run, "inspect", "-o", str(tmp_path)))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "_talk_" in done.stderr
    logs = {log["eval"]["task"]: log for log in map(json.loads, done.stdout.splitlines())}
    assert set(logs) == {"sums", "often-three", "talk", "unscored"}
    sums = logs["sums"]
    assert (sums["status"], sums["eval"]["model"], len(sums["samples"])) == ("success", "my model", 8)
    [score] = sums["results"]["scores"]
    samples = {sample["metadata"]["index"]: sample for sample in sums["samples"]}
    assert [sample["metadata"]["level"] for sample in samples.values()] == [n % 3 for n in samples]
    values = [sample["scores"]["Gsm8kEvaluator"]["value"] for sample in samples.values() if sample["scores"]]
    assert score["metrics"]["accuracy"]["value"] == pytest.approx(sum(values) / len(values))
    assert (score["scored_samples"], score["unscored_samples"]) == (7, 1)
    assert samples[3]["output"]["completion"] == "It is 6."
    assert samples[3]["scores"]["Gsm8kEvaluator"]["answer"] == "6"
    assert samples[4]["messages"][-1]["content"][0]["reasoning"] == "twice four"
    assert samples[5]["error"]["message"] == "timeout: no answer from ***"
    assert samples[7]["output"]["choices"][0]["stop_reason"] == "max_tokens"
    assert {sample["metadata"]["status"] for sample in samples.values()} == set(STATES)
    often = logs["often-three"]
    epochs = [sample["epoch"] for sample in often["samples"]]
    assert (often["eval"]["config"]["epochs"], len(epochs), max(epochs)) == (3, 24, 3)
    [talk] = logs["talk"]["samples"]
    assert [message["role"] for message in talk["messages"]] == ["user", "assistant", "user", "assistant"]


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
