"""Datasets whose rows are in the memory of a program."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ais_prompt
from tests.support.cli import run_cli
from tests.support.lazy import Lazy

pd, hub = Lazy("pandas"), Lazy("datasets")

ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n), "level": n % 3} for n in range(9)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(rows: Any, **changes: Any) -> dict[str, Any]:
    return {
        "run_name": "memory",
        "models": [{"type": "ScriptedModel", "abbr": "fake", "default": "4"}],
        "datasets": [
            {
                "abbr": "sums",
                "rows": rows,
                "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
                "infer_cfg": {
                    "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
                    "inferencer": {"type": "GenInferencer"},
                },
                "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
                **changes,
            }
        ],
    }


class Stream:
    """A frame of another library, such as polars: it has Arrow's C interface for streams and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.Table.from_pylist(ROWS).__arrow_c_stream__(requested_schema)


KINDS = {
    "stream": Stream,
    "list": lambda: ROWS,
    "generator": lambda: (dict(row) for row in ROWS),
    "pandas": lambda: pd.DataFrame(ROWS),
    "chosen rows of pandas": lambda: pd.DataFrame([*ROWS[:2], {**ROWS[0], "level": 9}, *ROWS[2:]]).query("level < 9"),
    "arrow": lambda: pa.Table.from_pylist(ROWS),
    "datasets": lambda: hub.Dataset.from_list(ROWS),
    "chosen rows of datasets": lambda: hub.Dataset.from_list([*ROWS, ROWS[0]]).select(range(9)),
    "splits": lambda: {"train": ROWS[:2], "test": ROWS},
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_each_kind_are_data(kind: str) -> None:
    run = ais_prompt.run(config(KINDS[kind]()), quiet=True)
    assert (run.rows[0].score, run.rows[0].n) == (1 / 9, 9)
    assert run.samples(to="arrow").column("level").to_pylist() == [row["level"] for row in ROWS]


def test_the_run_folder_keeps_the_rows_for_other_processes(folder: Path) -> None:
    run = ais_prompt.run(config(ROWS), quiet=True)
    [kept] = (run.path / "rows").rglob("*.jsonl")
    assert list(map(json.loads, kept.read_text().splitlines())) == ROWS
    moved = run.path.rename(folder / "moved")
    assert run_cli("score", str(moved)).returncode == 0
    again = run_cli("run", str(moved / "config.py"), "-w", "again")
    assert (again.returncode, "11.1 %" in again.stdout) == (0, True)
    [copy] = folder.joinpath("again").rglob("rows/*/test.jsonl")
    assert copy.read_text() == (moved / "rows" / copy.parent.name / copy.name).read_text()
    assert "3+3=?" in run_cli("view-prompt", str(moved / "config.py"), "--sample", "3").stdout


def test_a_run_is_resumed_with_the_same_rows_only() -> None:
    run = ais_prompt.run(config(ROWS), quiet=True)
    more = [*ROWS, {"question": "2+2?", "answer": "4", "level": 0}]
    for rows, requests in ((ROWS, 0), (more, 1)):
        again = ais_prompt.run(config(rows), reuse=run.path.name, quiet=True)
        record = json.loads((again.path / "run.json").read_text())
        assert record["sessions"][-1]["used"]["requests"] == requests


def test_values_that_json_does_not_have_become_texts() -> None:
    day = datetime.date(2026, 1, 31)
    [view] = ais_prompt.render_prompts(config([{"question": day, "answer": "x"}]))
    assert view.prompt[0].content == "2026-01-31"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (7, "of type int, which has no rows"),
        ([], "there are no rows"),
        ([["a", "b", "c"]], "a row is no dict of column → value: ['a', 'b', 'c']"),
        ({"question": "a"}, "the key 'question', which is no split"),
        ({"tset": [{"question": "a"}]}, "the key 'tset', which is no split"),
        ({"question": ["a", "b"], "answer": ["c"]}, "the key 'question', which is no split"),
        ([{"question": b"a", "answer": ""}], "a row holds b'a', of type bytes"),
    ],
)
def test_anything_else_is_an_error_with_its_place(rows: Any, words: str) -> None:
    with pytest.raises(ais_prompt.DataError) as error:
        ais_prompt.check(config(rows))
    assert words in error.value.what
    assert error.value.where == "datasets[0].rows"


def test_rows_are_written_into_a_config_file_too(folder: Path) -> None:
    (folder / "eval.py").write_text("".join(f"{name} = {value!r}\n" for name, value in config(ROWS).items()))
    done = run_cli("run", "eval.py")
    assert (done.returncode, "11.1 %" in done.stdout) == (0, True)
