"""Results in the forms of other programs, read as those programs read them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from tests.core.e2e.project import Project
from tests.core.e2e.test_export import STATES, export, lines_of
from tests.core.e2e.test_export import run as run
from tests.support.servers import ROOT

SCHEMAS = ROOT / "tests" / "data" / "every_eval_ever"


@pytest.mark.thorough
@pytest.mark.parametrize("to", ["eee", "lm-eval"])
def test_numbers_and_short_texts_of_the_rows_are_kept(run: Path, tmp_path: Path, to: str) -> None:
    lines = [
        line for path in export(run, to, "-o", str(tmp_path)) if path.suffix == ".jsonl" for line in lines_of(path)
    ]
    found = [row for line in lines if "level" in (row := line.get("doc") or line["metadata"])]
    assert {str(row["level"]) for row in found} == {"0", "1", "2"}


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


def test_ids_are_no_paths_in_an_archive(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    [first, *_] = project.predictions()
    for path in (project.folder() / "predictions/fake/sums.jsonl", project.folder() / "results/fake/sums.json"):
        path.write_text(path.read_text().replace(first["id"], "../../x"))
    assert project.run("export", "latest", "--to", "inspect", "-o", "out").returncode == 0
    [log] = Path(project.root / "out").glob("*.eval")
    with zipfile.ZipFile(log) as archive:
        assert not [name for name in archive.namelist() if ".." in Path(name).parts]
