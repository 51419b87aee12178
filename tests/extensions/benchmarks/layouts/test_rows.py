"""The rows that the loaders of OpenCompass 0.5.4 and AISBench 3.1 made of the same files are in peer_rows.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.benchmarks.layouts.layout_dataset import LAYOUTS, BenchmarkDataset
from tests.extensions.benchmarks.layouts.samples import CASES
from tests.support.lazy import Lazy

datasets = Lazy("datasets")

EXPECTED = json.loads((Path(__file__).parents[3] / "data/benchmarks/peer_rows.json").read_text(encoding="utf-8"))
ON_THE_HUB = {
    "HLEDataset",
    "MMLUProDataset",
    "MMMLUDataset",
    "OlymMATHDataset",
    "BeyondAIMEDataset",
    "RBenchDataset",
    "Earth_Silver_MCQDataset",
}


@pytest.fixture(autouse=True)
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def in_order(rows: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    """Return rows whose comparison minds the order of columns: templates fill them in this order."""
    return [list(row.items()) for row in json.loads(json.dumps(rows))]


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_rows_are_those_of_the_peer(name: str, tmp_path: Path) -> None:
    reader = BenchmarkDataset(name.partition(" ")[0], **CASES[name].call(tmp_path))
    assert set(reader.splits()) == set(EXPECTED[name])
    for split, rows in EXPECTED[name].items():
        assert in_order(list(reader.read(split))) == in_order(rows), split


def test_every_layout_has_a_case() -> None:
    alike = {name for name in LAYOUTS if name.startswith(("LongBench", "LEval"))}
    of_the_hub = {"CrowspairsDataset", "CrowspairsDatasetV2", "WinogradDataset"}
    assert LAYOUTS.keys() - alike - of_the_hub - ON_THE_HUB == {name.partition(" ")[0] for name in CASES} - alike


def write_parquet(folder: Path, **splits: list[dict[str, Any]]) -> str:
    for split, rows in splits.items():
        file = folder / "data" / f"{split}-00000-of-00001.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        datasets.Dataset.from_list(rows).to_parquet(str(file))
    return str(folder)


def test_mmlu_pro_from_a_folder(tmp_path: Path) -> None:
    row = {"question": "Q", "options": ["one", "N/A", "two"], "answer": "C", "category": "law"}
    row["cot_content"] = "A: Let's think step by step. It is C."
    path = write_parquet(tmp_path / "mmlu_pro", test=[row, row | {"category": "math"}], validation=[row])
    reader = BenchmarkDataset("MMLUProDataset", path, category="law")
    assert set(reader.splits()) == {"test", "validation"}
    assert list(reader.read("test")) == [
        row | {"cot_content": "It is C.", "answer_string": "C. two\n", "options_str": "A. one\nC. two"}
    ]


def test_questions_without_pictures_of_hle(tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": f"Q{n}", "image": "x" * (n == 1), "category": "ab"[n % 2]} for n in range(4)]
    path = write_parquet(tmp_path / "hle", test=rows)
    assert [row["problem"] for row in BenchmarkDataset("HLEDataset", path).read("test")] == ["Q0", "Q2", "Q3"]
    assert [row["id"] for row in BenchmarkDataset("HLEDataset", path, category="b").read("test")] == ["3"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LongBenchhotpotqaDataset", {"input": "Who?", "context": "A text", "answers": ["Bo"]}),
        ("LongBenchlccDataset", {"context": "A text", "answers": ["Bo"]}),
        (
            "LongBenchtrecDataset",
            {"input": "Who?", "context": "A text", "all_labels": {"answers": ["Bo"], "all_classes": ["x"]}},
        ),
    ],
)
def test_long_bench(name: str, expected: dict[str, Any], tmp_path: Path) -> None:
    row = {"input": "Who?", "context": "A text", "answers": ["Bo"], "all_classes": ["x"], "length": 2}
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "task.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert list(BenchmarkDataset(name, str(tmp_path), name="task").read("test")) == [expected]
