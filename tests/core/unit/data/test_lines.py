from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.data import LocalDataset
from ais_prompt.errors import DataError
from tests.support.parts import write_rows

ROWS = [{"id": 1, "tests": ["a", "b"], "n": [1]}, {"id": 2, "tests": [], "n": []}, {"id": 3, "tests": None, "n": None}]


def test_lists_become_lines(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "data.jsonl", ROWS)
    table = LocalDataset(str(path), join_lines=["tests"]).read("data")
    assert [row["tests"] for row in table] == ["a\nb", "", None]
    assert table.columns == ("id", "tests", "n")
    assert [row["tests"] for row in LocalDataset(str(path)).read("data")] == [["a", "b"], [], None]


@pytest.mark.parametrize(("column", "why"), [("test", "no column"), ("id", "row 0"), ("n", "row 0")])
def test_other_columns_are_refused(tmp_path: Path, column: str, why: str) -> None:
    path = write_rows(tmp_path / "data.jsonl", ROWS)
    with pytest.raises(DataError, match=f"{column}.*{why}") as caught:
        LocalDataset(str(path), join_lines=[column]).read("data")
    assert caught.value.where == str(path)
