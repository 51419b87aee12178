"""What is no bug never ends with exit code 70 or a traceback: odd arguments, environments, values of data files."""

from __future__ import annotations

import io
import os
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.core.e2e.project import COMMAND, DATASET, Project
from tests.support.waiting import WATCHDOG_SECONDS

LONG = "x" * 5000
RUN = "outputs/eval/run"
ARGUMENTS: dict[str, tuple[str, ...]] = {
    **{f"{verb} of a name that is too long": (verb, LONG) for verb in ("run", "score", "status", "export", "baseline")},
    **{f"{verb} of two such names": (verb, LONG, LONG) for verb in ("compare", "diff")},
    "a run to resume that is too long": ("run", "eval.py", "-r", LONG),
    "a word that is too long": (LONG,),
    "a config that is too long": ("merge", RUN, "--config", LONG),
    "a file to write that is too long": ("run", "eval.py", "--save-config", LONG),
    "a file to write that is a folder": ("score", RUN, "--junit", "/"),
    "a file to write that is empty": ("score", RUN, "--junit", ""),
    "the same behind =": ("score", RUN, "--junit="),
    "a work dir that is empty": ("run", "eval.py", "-w", ""),
    "bytes that are no text": ("list", "\udcff"),
    "more answers than there are": ("lock", "eval.py", "--dataset-num-runs", "9" * 20),
    "more questions than there are": ("view-prompt", "eval.py", "--count", "9" * 20),
    "a row that is not there": ("view-prompt", "eval.py", "--sample", "9" * 20),
    "more workers than there are": ("run", "eval.py", "--max-num-workers", "9" * 20),
    "more digits than Python writes": ("check", "eval.py", "--set", f"datasets.0.n={'9' * 5000}"),
    "a number of more digits": ("check", "eval.py", "--set", f"datasets.0.n={hex(10**5000)}"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_that_cannot_be_used(project: Project, name: str) -> None:
    assert project.run("run", "eval.py").returncode == 0
    project.folder().rename(project.root / RUN)
    done = project.run(*ARGUMENTS[name])
    assert done.returncode in (2, 3), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "Error: " in done.stderr


@pytest.mark.process
@pytest.mark.grid(3)
@pytest.mark.parametrize("verb", ["run", "check", "view-prompt", "lock"])
@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_standard_streams_that_are_closed(project: Project, verb: str, closed: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, verb, "eval.py"]
    done = subprocess.run(
        shell, cwd=project.root, env=project.variables(), capture_output=True, timeout=WATCHDOG_SECONDS, check=False
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.process
def test_an_output_that_has_no_such_characters(project: Project) -> None:
    project.environment["PYTHONIOENCODING"] = "ascii"
    done = project.run_process("run", "eval.py", "--set", "datasets.0.abbr=größe")
    assert done.returncode == 0, done.stderr
    assert "gr\\xf6\\xdfe" in done.stdout


OUTPUTS = (
    *(("export", "latest", "--to", "csv", "-o"), ("baseline", "latest", "-o"), ("score", "latest", "--junit")),
    *(("run", "eval.py", "--save-config"), ("lock", "eval.py", "--lock-file"), ("migrate", "eval.py", "-o")),
    *(("view-prompt", "eval.py", "--html"), ("compare", "latest", "latest", "--html"), ("requests", "latest", "-o")),
)


@pytest.mark.thorough
@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: command[0])
def test_a_pipe_or_device_is_not_replaced_by_a_file(project: Project, command: tuple[str, ...]) -> None:
    assert project.run("run", "eval.py").returncode == 0
    path = project.root / "pipe"
    os.mkfifo(path)
    done = project.run(*command, "pipe")
    assert done.returncode in (2, 3), done.stderr
    assert path.is_fifo()


COLUMNS: dict[str, pa.Array] = {
    "dates after 9999": pa.array([2**30], pa.date32()),
    "times after 9999": pa.array([2**60], pa.timestamp("ms")),
    "durations": pa.array([2**62], pa.duration("s")),
    "bytes": pa.array([b"\xff"]),
    "a map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
    "whole numbers without sign": pa.array([2**64 - 1], pa.uint64()),
    "nothing": pa.nulls(1),
    "texts that say that they are JSON": pa.array(["{"]),
    "deep JSON": pa.array(["[" * 100_000]),
    "numbers that say that they are JSON": pa.array([1]),
    "dates": pa.array([date(2020, 1, 1)]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["question", "answer"])
@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_parquet_that_python_or_json_do_not_have(project: Project, name: str, place: str) -> None:
    column = COLUMNS[name]
    metadata = {b"ais_prompt": b"json"} if "JSON" in name else None
    fields = {"question": pa.array(["1+1=?"]), "answer": pa.array(["2"]), place: column}
    schema = pa.schema([pa.field(key, one.type, metadata=metadata) for key, one in fields.items()])
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(list(fields.values()), schema=schema), sink)
    Path(project.root / "data/odd.parquet").write_bytes(sink.getvalue())
    project.write_config(datasets=DATASET.replace("sums.jsonl", "odd.parquet"))
    for verb in ("check", "run", "view-prompt"):
        done: Any = project.run(verb, "eval.py")
        assert done.returncode in (0, 1, 2), (verb, done.stderr)
        assert "Traceback" not in done.stderr
        if "after 9999" in name:
            assert f"Python does not have a value of the column '{place}'" in done.stderr
            assert "data/odd.parquet" in done.stderr
