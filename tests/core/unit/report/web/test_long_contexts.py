"""Scores by length and depth are those of the project's own statistics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import mean_scores
from ais_prompt.report import MOST_GROUPS, Breakdowns, context_samples, long_contexts
from ais_prompt.scoring import score_row, with_averages
from ais_prompt.types import Completion, Prediction, SampleScore, SummaryEntry, SummaryGroup

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["niah", "vt"]),
        st.sampled_from([4096, 8192]),
        st.sampled_from([0, 50, None]),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from(["scored", "failed"]),
    ),
    min_size=1,
    max_size=60,
)


def context(rows: list[tuple[Any, ...]], metric: str | None = "m", **more: Any) -> list[dict[str, Any]]:
    """What is shown of one model, each task and length being a dataset."""
    datasets: dict[tuple[str, int], Breakdowns] = {}
    for number, (task, length, depth, value, status) in enumerate(rows):
        columns = {"task": task, "length": length, "language": "en", "tokens_by": "tokenizer", **more}
        if depth is not None:
            columns["depth"] = depth
        prediction = Prediction(f"s{number}", number, "?", "", "", (Completion(""),), columns=columns)
        detail = SampleScore(f"s{number}", status, values={"m": value} if status == "scored" else {})
        datasets.setdefault((task, length), Breakdowns(metric)).add(prediction, detail, None)
    return long_contexts(("model", context_samples(one)) for one in datasets.values())


@given(ROWS)
def test_scores_are_means_with_the_intervals_of_the_project(rows: list[tuple[Any, ...]]) -> None:
    counted = [row for row in rows if row[4] == "scored"]
    if not counted:
        assert context(rows) == []
        return
    [found] = context(rows)
    groups: dict[tuple[str, int], list[float]] = {}
    for task, length, _, value, _ in counted:
        groups.setdefault((task, length), []).append(value)
    assert {(one["task"], one["length"]): one["n"] for one in found["scores"]} == {
        key: len(values) for key, values in groups.items()
    }
    for one in found["scores"]:
        values = groups[one["task"], one["length"]]
        samples = [SampleScore(str(number), "scored", values={"m": value}) for number, value in enumerate(values)]
        [score] = mean_scores(("m",), samples)
        assert one["score"] == pytest.approx(score.value)
        if len(values) > 1:
            assert (one["low"], one["high"]) == pytest.approx(score.interval)
    for one in found["depths"]:
        key = (one["task"], one["length"], one["depth"])
        values = [value for *place, value, _ in counted if tuple(place) == key]
        assert (one["score"], one["n"]) == (pytest.approx(sum(values) / len(values)), len(values))


def test_the_mean_at_a_length_is_that_of_a_summary_group() -> None:
    rows: list[tuple[Any, ...]] = [("niah", 4096, 0, value, "scored") for value in (1.0, 1.0, 0.0, 1.0)]
    rows += [("vt", 4096, None, value, "scored") for value in (0.25, 1.0)]
    questions = {
        task: [(f"{task}{i}", row[3]) for i, row in enumerate(rows) if row[0] == task] for task in ("niah", "vt")
    }
    scores = [
        score_row(task, "model", mean_scores(("m",), [SampleScore(n, "scored", values={"m": v}) for n, v in own])[0])
        for task, own in questions.items()
    ]
    group = SummaryGroup("mean", tuple(SummaryEntry(task) for task in questions))
    average = with_averages(scores, [group], lambda row: questions[row.dataset])[-1]
    [line] = context(rows)[0]["lengths"]
    assert (line["score"], line["low"], line["high"]) == pytest.approx(
        (average.score, average.ci95_low, average.ci95_high)
    )
    assert (line["tasks"], line["n"]) == (2, 6)


def test_other_data_without_these_columns_are_no_long_contexts() -> None:
    rows = [("niah", 4096, 0, 1.0, "scored")]
    assert context(rows, language=None) == []
    assert context(rows, metric=None) == []
    assert [one["estimated"] for one in context(rows, tokens_by="estimate")] == [True]


def test_too_many_depths_leave_the_scores_by_length() -> None:
    [found] = context([("niah", 4096, depth, 1.0, "scored") for depth in range(MOST_GROUPS + 1)])
    assert found["depths"] == []
    assert [line["n"] for line in found["lengths"]] == [MOST_GROUPS + 1]
