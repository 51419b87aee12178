from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.scoring import TaskOutcome, summary_rows
from ais_prompt.types import Score

SCORE = Score(
    metric="accuracy",
    value=0.935,
    stderr=0.0175,
    n=200,
    counts={"scored": 195, "unparsed": 3, "truncated": 1, "failed": 1},
    interval=(0.892, 0.962),
    bounds=(0.93, 0.95),
    reasons={"unparsed: no answer found": 2, "unparsed: empty answer": 1, "failed: timeout": 1},
)


def test_one_row_for_each_metric_in_order() -> None:
    other = Score("f1", None, None, 2, {"scored": 0, "unparsed": 0, "truncated": 0, "failed": 2})
    first, second = summary_rows([TaskOutcome("demo", "addition", [SCORE, other])])
    assert (first.dataset, first.model, first.metric, first.score, first.stderr) == (
        "addition",
        "demo",
        "accuracy",
        0.935,
        0.0175,
    )
    assert (first.n, first.scored, first.unparsed, first.truncated, first.failed) == (200, 195, 3, 1, 1)
    assert (first.ci95_low, first.ci95_high, first.bound_low, first.bound_high) == (0.892, 0.962, 0.93, 0.95)
    assert first.unscored == "3 unparsed (no answer found 2, empty answer 1), 1 truncated, 1 failed (timeout)"
    assert first.note == ""
    assert (second.metric, second.score, second.failed) == ("f1", None, 2)
    assert "every request failed" in second.note


def test_a_metric_without_a_value_says_why() -> None:
    some = Score("pass@4", None, None, 4, {"scored": 3, "unparsed": 0, "truncated": 0, "failed": 1}, repeats=4)
    (row,) = summary_rows([TaskOutcome("demo", "addition", [some])])
    assert row.note == "no value: no question has answers enough for pass@4"


def test_a_failed_task_says_why_on_one_line() -> None:
    error = ModelError("no answer:\nconnection refused", where="http://127.0.0.1:1", fix="start the server")
    (row,) = summary_rows([TaskOutcome("demo", "addition", error=error)])
    assert row.note == "error: ModelError: no answer: connection refused · http://127.0.0.1:1 · start the server"
    assert row.metric is row.score is row.n is None


def test_predictions_only_is_said() -> None:
    (row,) = summary_rows([TaskOutcome("demo", "addition", predictions_only=True)])
    assert "predictions only" in row.note


@pytest.mark.parametrize(
    "ending", [{}, {"scores": [SCORE], "predictions_only": True}, {"scores": [SCORE], "error": ModelError("no")}]
)
def test_a_task_ends_in_exactly_one_way(ending: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="demo/addition"):
        TaskOutcome("demo", "addition", **ending)
