"""Rows of publishers with the columns of our cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.card import Files
from ais_prompt.extensions.benchmarks.cards.publisher_files import FoundFile, raw_rows
from ais_prompt.extensions.benchmarks.cards.publisher_rows import drop

NO_DATE = {"day": "", "month": "", "year": ""}


def test_rows_have_their_answers_as_spans() -> None:
    def answer(number: str = "", spans: tuple[str, ...] = (), **date: str) -> dict[str, Any]:
        return {"number": number, "spans": list(spans), "date": {**NO_DATE, **date}}

    shared = {"passage": "p", "question": "q"}
    validated = [answer("7"), answer(spans=("b", "c")), answer(day="3", month="May"), answer()]
    assert drop({**shared, "answer": answer("7"), "validated_answers": validated}) == {
        **shared,
        "answers": ["7", "b, c", "b", "c", "3 May"],
        "spans": [["7"], ["b", "c"], ["3 May"]],
    }
    assert drop({**shared, "answers_spans": {"spans": ["b", "c"]}})["spans"] == [["b", "c"]]


def test_rows_have_the_texts_that_they_name(tmp_path: Path) -> None:
    """In the order of the row, with any form of an accent, and only from the folder of the file."""
    table = tmp_path / "data" / "rows.csv"
    names = {"more/docs/b/1.txt": "one", "more/docs/b/é.txt": "two", "docs/a/1.txt": "other"}
    for name, text in names.items():
        (table.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (table.parent / name).write_text(text, "utf-8")
    (tmp_path / "secret.txt").write_text("no", "utf-8")
    form = Files("rows", {"test": "rows.csv"}, texts="docs/{set}/{names}")

    def texts(group: str, named: str) -> list[str]:
        table.write_text(f"set,names\n{group},{named}\n", "utf-8")
        [row] = raw_rows(FoundFile(table, table.name, "test", form=form))
        return list(row["texts"])

    assert texts("b", "e\u0301.txt; 1.txt") == ["two", "one"]
    assert texts("a", "1.txt") == ["other"]
    for group, named in (("b", "2.txt"), ("../..", "secret.txt"), ("b", "")):
        with pytest.raises(DataError, match="there is no text docs/"):
            texts(group, named)
