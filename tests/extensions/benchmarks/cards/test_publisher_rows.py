"""Rows of publishers with the columns of our cards."""

from __future__ import annotations

from typing import Any

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
