"""Runs in shards whose tasks a partitioner divides."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project, read_lines

pytestmark = pytest.mark.process

SIZES = {"big": 60, "small": 5, "tiny": 3, "third": 4}
PARTITIONER = "partitioner = dict(type='SizePartitioner', max_task_size=20, gen_task_coef=1)"
SPLIT = "partitioner = dict(type='NumWorkerPartitioner', num_worker=2, num_split=2, min_task_size=1)"
FEW_SHOT = """retriever=dict(type='RandomRetriever', ice_num=1, allow_overlap=True),
        ice_template=dict(type='PromptTemplate', template='{question}')"""


@pytest.fixture
def suite(project: Project) -> Project:
    for name, size in SIZES.items():
        rows = [{"question": f"{name} {n}+{n}=?", "answer": str(2 * n)} for n in range(size)]
        project.write_data(rows, f"{name}.jsonl")
    datasets = [DATASET.replace("'sums'", f"'{name}'").replace("sums.jsonl", f"{name}.jsonl") for name in SIZES]
    model = MODEL.replace("fake'", "fake', max_out_len=64")
    project.write_config(models=model, datasets=", ".join(datasets), more=PARTITIONER)
    return project


def run_folder(project: Project, name: str = "4711") -> Path:
    return project.root / "outputs" / "eval" / name


def shard(project: Project, which: str, *args: str) -> Any:
    return project.run("run", "eval.py", "-r", "4711", "--shard", which, *args)


def asked_in(folder: Path) -> dict[str, list[int]]:
    """Dataset → how many requests each session that has a journal of it has asked."""
    found: dict[str, list[int]] = {name: [] for name in SIZES}
    for journal in sorted(folder.glob("shards/*/journal/fake/*.jsonl")):
        found[journal.stem].append(len(read_lines(journal)))
    return found


def keys(folder: Path) -> Counter[str]:
    return Counter(line["key"] for path in folder.glob("shards/*/journal/*/*.jsonl") for line in read_lines(path))


def equals_one_process(project: Project, folder: Path) -> None:
    """The predictions and scores are those of a run without shards, to the byte except for times."""
    assert project.run("run", "eval.py").returncode == 0
    [whole] = (path for path in folder.parent.iterdir() if path != folder)
    for name in SIZES:
        for file in (f"predictions/fake/{name}.jsonl", f"results/fake/{name}.json"):
            assert (folder / file).read_bytes() == (whole / file).read_bytes()


def test_a_runner_starts_a_shard_for_each_group(suite: Project) -> None:
    shown = suite.run("run", "eval.py", "--runner", "local", "--dry-run").stdout
    assert "4 shards by LocalRunner" in shown
    done = suite.run("run", "eval.py", "--runner", "local", "--set", "runner.max_num_workers=2")
    assert done.returncode == 0, done.stderr
    folder = suite.folder()
    asked = asked_in(folder)
    assert len(asked["big"]) == 3
    assert sum(asked["big"]) == SIZES["big"]
    assert [asked[name] for name in ("small", "tiny", "third")] == [[5], [3], [4]]
    [small] = folder.glob("shards/*/journal/fake/small.jsonl")
    assert {path.stem for path in small.parent.iterdir()} == {"small", "tiny", "third"}
    assert "4 of 4 shards are done" in suite.run("status", str(folder)).stdout
    equals_one_process(suite, folder)


def test_a_shard_reads_only_the_data_of_its_tasks(suite: Project) -> None:
    config = (suite.root / "eval.py").read_text().replace("retriever=dict(type='ZeroRetriever')", FEW_SHOT)
    config = config.replace("'{question}\\nAnswer: {answer}'", "'</E>{question}\\nAnswer: {answer}', ice_token='</E>'")
    assert "</E>" in config
    (suite.root / "eval.py").write_text(config)
    held = {}
    for index in range(4):  # the first one records what each asks
        assert shard(suite, f"{index}/4", "-m", "infer").returncode == 0
        held[index] = {path.stem for path in run_folder(suite).glob(f"shards/*_{index}-of-4_*/journal/fake/*")}
    [alone] = (index for index, names in held.items() if "tiny" in names)
    for name in held[alone]:
        (suite.root / "data" / f"{name}.jsonl").unlink()
    assert shard(suite, f"{(alone + 1) % 4}/4", "-m", "infer").returncode == 0
    refused = shard(suite, f"{alone}/4")
    assert refused.returncode == 2
    assert "jsonl" in refused.stderr


def test_another_division_asks_only_what_is_missing(suite: Project) -> None:
    config = suite.root / "eval.py"
    first = config.read_text()
    assert shard(suite, "1/4").returncode == 0
    assert shard(suite, "3/4").returncode == 0
    config.write_text(first.replace(PARTITIONER, SPLIT))
    assert shard(suite, "0/2").returncode == 0
    status = suite.run("status", "4711").stdout
    assert "1 of 2 shards are done" in status
    config.write_text(first.replace(PARTITIONER, ""))
    assert shard(suite, "2/3").returncode == 0
    config.write_text(first)
    for index in range(4):
        assert shard(suite, f"{index}/4").returncode == 0
    folder = run_folder(suite)
    assert set(keys(folder).values()) == {1}
    assert sum(keys(folder).values()) == sum(SIZES.values())
    equals_one_process(suite, folder)


def test_shards_that_divide_the_tasks_differently_do_not_end_the_run(suite: Project) -> None:
    """Shard 0 of one division and shard 1 of another are no whole run: what is missing is named and can be asked."""
    config = suite.root / "eval.py"
    assert shard(suite, "0/2").returncode == 0
    config.write_text(config.read_text().replace(PARTITIONER, SPLIT))
    assert "1/2 is done" in shard(suite, "1/2").stdout
    assert "--shard 0/2" in suite.run("status", "4711").stdout
    assert suite.run("merge", "4711").returncode == 1
    assert shard(suite, "0/2").returncode == 0
    equals_one_process(suite, run_folder(suite))


def test_more_shards_than_groups_leave_some_without_work(suite: Project) -> None:
    for index in range(6):
        done = shard(suite, f"{index}/6")
        assert done.returncode == 0, done.stderr
        if index == 4:
            assert "Shard 4/6 is done: 0 samples" in done.stdout
    assert "third" in done.stdout  # the last shard scores all, though it asked nothing
    equals_one_process(suite, run_folder(suite))


@pytest.mark.parametrize(
    ("partitioner", "said"),
    [
        ("dict(type='SizePartitioner', max_task_size=0)", "max_task_size must be at least 1, not 0"),
        ("dict(type='SizePartitioner', max_size=9)", "SizePartitioner has no argument 'max_size'"),
        ("dict(type='NumWorkerPartitoner')", "NumWorkerPartitioner"),
        ("dict(type='NumWorkerPartitioner', strategy='both')", "input should be 'heuristic' or 'split'"),
        ("'SizePartitioner'", "partitioner"),
    ],
)
def test_a_wrong_partitioner_is_a_fault(suite: Project, partitioner: str, said: str) -> None:
    config = suite.root / "eval.py"
    config.write_text(config.read_text().replace(PARTITIONER, f"partitioner = {partitioner}"))
    done = suite.run("check", "eval.py")
    assert done.returncode == 2
    assert said in done.stderr


def test_a_partitioner_of_opencompass_is_used(suite: Project) -> None:
    config = suite.root / "eval.py"
    theirs = (
        "infer = dict(partitioner=dict(type='opencompass.partitioners.NumWorkerPartitioner', num_worker=3,\n"
        "    min_task_size=20, out_dir='x', dataset_size_path='.cache/dataset_size.json'),\n"
        "    runner=dict(type='opencompass.runners.LocalRunner', max_num_workers=16))"
    )
    config.write_text(config.read_text().replace(PARTITIONER, theirs))
    assert "3 shards by LocalRunner" in suite.run("run", "eval.py", "--runner", "local", "--dry-run").stdout
    checked = suite.run("check", "eval.py")
    assert "in runs with shards only" in checked.stdout + checked.stderr
    for index in range(3):
        assert shard(suite, f"{index}/3").returncode == 0
    assert len(asked_in(run_folder(suite))["big"]) == 3
    [portions] = run_folder(suite).glob("shards/*_0-of-3_*/portions.json")
    assert json.loads(portions.read_text())["portions"]["fake/big"]["count"] == 3
