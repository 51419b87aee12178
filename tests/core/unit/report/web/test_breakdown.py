"""Scores by column, length and shots are those of the project's own statistics on each group."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import mean_scores
from ais_prompt.report.web.breakdown import BINS, LENGTH, MOST_GROUPS, SHOTS, Breakdowns
from ais_prompt.types import Completion, Prediction, SampleScore

VALUES = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from(["scored", "failed", "unparsed"])
    ),
    min_size=2,
    max_size=40,
)


def added(rows: list[tuple[dict[str, Any], SampleScore, int | None]], metric: str | None = "accuracy") -> Breakdowns:
    found = Breakdowns(metric)
    for number, (columns, detail, length) in enumerate(rows):
        prediction = Prediction(f"s{number}", number, "?", "", "", (Completion(""),), columns=columns)
        found.add(prediction, detail, length)
    return found


def scored(value: float, **more: Any) -> SampleScore:
    return SampleScore("", "scored", values={"accuracy": value}, **more)


def by(found: Breakdowns, name: str) -> list[dict[str, Any]]:
    return next(one["groups"] for one in found.to_json() if one["by"] == name)


@given(VALUES)
def test_each_group_has_the_score_and_interval_of_its_samples(rows: list[tuple[str, float, Any]]) -> None:
    details = [
        (letter, SampleScore("", status, values={} if status == "failed" else {"accuracy": value}))
        for letter, value, status in rows
    ]
    found = added([({"letter": letter}, detail, None) for letter, detail in details])
    groups = {group["name"]: group for one in found.to_json() if one["by"] == "letter" for group in one["groups"]}
    for name, group in groups.items():
        [score] = mean_scores(("accuracy",), [detail for letter, detail in details if letter == name])
        assert group["score"] == score.value
        assert (group["low"], group["high"]) == (score.interval or (None, None))
        assert group["n"] == score.questions


def test_clusters_count_as_one_unit() -> None:
    rows = [({"kind": "a"}, scored(float(n % 2), cluster=str(n // 10)), None) for n in range(40)]
    rows += [({"kind": "b"}, scored(1.0, cluster="b"), None)] * 2
    [first, _] = by(added(rows), "kind")
    [score] = mean_scores(("accuracy",), [detail for _, detail, _ in rows[:40]])
    assert score.interval == (first["low"], first["high"])


def test_a_number_with_many_values_is_binned_and_each_sample_is_in_one_bin() -> None:
    groups = by(added([({}, scored(float(n % 2)), n) for n in range(500)]), LENGTH)
    assert sum(group["n"] for group in groups) == 500
    assert {group["n"] for group in groups} <= {99, 100, 101}
    assert len(groups) == BINS
    assert groups[0]["name"] == "0 to below 100"
    assert groups[-1]["name"].endswith(" to 499")


def test_a_text_that_is_different_in_each_row_is_no_group() -> None:
    found = added([({"id": f"x{n}", "level": n % 3}, scored(1.0), None) for n in range(MOST_GROUPS + 1)])
    assert found.filters() == {"level": [0, 1, 2]}
    assert [one["by"] for one in found.to_json()] == ["level"]


@pytest.mark.parametrize("rows", [2, 10, MOST_GROUPS])
def test_nor_is_one_of_a_small_dataset(rows: int) -> None:
    found = added([({"question": f"q{n}", "level": 0}, scored(1.0), None) for n in range(rows)])
    assert (found.filters(), found.to_json()) == ({}, [])
    again = added([({"question": f"q{n // 2}"}, scored(1.0), None) for n in range(2 * rows)])
    assert len(by(again, "question")) == rows


def test_one_group_is_no_breakdown() -> None:
    assert added([({"level": 1}, scored(1.0), 5)] * 3).to_json() == []


@pytest.mark.parametrize("name", [SHOTS, LENGTH])
def test_what_is_not_a_column_is_no_filter(name: str) -> None:
    assert name not in added([({}, scored(1.0), n % 2) for n in range(4)]).filters()


def test_without_a_mean_there_is_no_breakdown() -> None:
    assert added([({"level": n % 2}, scored(1.0), n) for n in range(9)], metric=None).to_json() == []


def test_a_sample_without_the_metric_does_not_count() -> None:
    rows = [({"level": n % 2}, SampleScore("", "scored", values={"other": 1.0}), None) for n in range(9)]
    rows += [({"level": level}, scored(float(level)), None) for level in range(2)]
    assert [(group["n"], group["score"]) for group in by(added(rows), "level")] == [(1, 0.0), (1, 1.0)]
