"""Averages over groups of datasets, and why there is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.errors import ModelError
from ais_prompt.metrics import wilson_interval
from ais_prompt.scoring import NAIVE, WEIGHTED, Row, TaskOutcome, select, summary_rows, with_averages
from ais_prompt.types import Score, SummaryEntry, SummaryGroup


def score(value: float | None, metric: str = "accuracy", n: int = 100, failed: int = 0) -> Score:
    counts = {"scored": n - failed, "unparsed": 0, "truncated": 0, "failed": failed}
    bounds = None if value is None else (value - 0.01, value + 0.02)
    return Score(metric, value, 0.03, n, counts, bounds=bounds)  # type: ignore[arg-type]


def group(*names: str, name: str = "all", weights: dict[str, float] | str | None = None) -> SummaryGroup:
    return SummaryGroup(name, tuple(map(SummaryEntry, names)), weights)


def no_questions(row: Row) -> list[tuple[str, float]]:
    return []


def averages(outcomes: list[TaskOutcome], *groups: SummaryGroup) -> list[Row]:
    rows = summary_rows(outcomes)
    return with_averages(rows, groups, no_questions)[len(rows) :]


TWO = [TaskOutcome("m", "a", [score(0.5), score(0.1, "f1")]), TaskOutcome("m", "b", [score(0.9, n=300, failed=3)])]


def test_the_plain_average_is_that_of_the_main_metrics() -> None:
    [row] = averages(TWO, group("a", "b"))
    assert (row.dataset, row.model, row.metric) == ("all", "m", NAIVE)
    assert row.score == pytest.approx(0.7)
    assert row.stderr == pytest.approx(math.sqrt(2 * 0.03**2) / 2)
    assert (row.bound_low, row.bound_high) == (pytest.approx(0.69), pytest.approx(0.72))
    assert (row.n, row.scored, row.failed, row.unscored) == (400, 397, 3, "3 failed")
    assert row.ci95_low is not None
    assert row.ci95_low < 0.7


@pytest.mark.parametrize(("weights", "expected"), [({"a": 3, "b": 1}, 0.6), ("n", 0.8)])
def test_the_weighted_average_stands_beside_it(weights: dict[str, float] | str, expected: float) -> None:
    plain, weighted = averages(TWO, group("a", "b", weights=weights))
    assert (plain.metric, weighted.metric) == (NAIVE, WEIGHTED)
    assert plain.score == pytest.approx(0.7)
    assert weighted.score == pytest.approx(expected)


def test_a_metric_of_the_parts_can_weigh_them() -> None:
    rated = [
        TaskOutcome("m", name, [score(value), score(weight, "rated")])
        for name, value, weight in (("a", 0.5, 1.0), ("b", 0.9, 3.0), ("c", 0.1, 0.0))
    ]
    assert averages(rated, group("a", "b", weights="@rated"))[-1].score == pytest.approx(0.8)
    assert averages(rated, group("c", weights="@rated"))[-1].note == "no average: all its weights are 0"
    assert averages(TWO, group("a", "b", weights="@rated"))[-1].note.startswith("no average: no score of 2 of 2 parts")


def test_a_certain_metric_and_a_group_of_groups() -> None:
    f1 = SummaryGroup("f1", (SummaryEntry("a", "f1"),))
    first, second = averages(TWO, f1, group("f1", "b", name="both"))
    assert first.score == pytest.approx(0.1)
    assert second.score == pytest.approx(0.5)


def test_where_a_score_is_missing_there_is_no_average_but_its_reason() -> None:
    broken = [*TWO[:1], TaskOutcome("m", "b", error=ModelError("gone")), TaskOutcome("m", "c", predictions_only=True)]
    [row] = averages(broken, group("a", "b", "c"))
    assert row.score is None
    assert row.note == "no average: no score of 2 of 3 parts: b (error), c (not scored)"
    [row] = averages(TWO, SummaryGroup("all", (SummaryEntry("a"), SummaryEntry("b", "f1"))))
    assert row.note == "no average: no score of 1 of 2 parts: b (no f1)"


def test_of_many_parts_without_a_score_those_that_failed_are_named_first() -> None:
    broken = [TWO[0], TaskOutcome("m", "z", error=ModelError("gone"))]
    absent = [f"absent_{number}" for number in range(54)]
    [row] = averages(broken, group("a", *absent, "z"))
    expected = "no average: no score of 55 of 56 parts: z (error), absent_0, absent_1, … and 52 more"
    assert row.note == expected


def test_percentages_and_other_numbers_are_not_averaged() -> None:
    mixed = [*TWO, TaskOutcome("m", "c", [replace(score(27.3, "bleu"), fraction=False)])]
    [row] = averages(mixed, group("a", "c"))
    assert (row.score, row.note) == (None, "no average: some of its scores are percentages and others are not")


def test_people_see_what_they_chose_in_their_order() -> None:
    rows = with_averages(summary_rows(TWO), [group("a", "b")], no_questions)
    chosen = select(rows, [SummaryEntry("all"), SummaryEntry("a", "f1")])
    assert [(row.dataset, row.metric) for row in chosen] == [("all", NAIVE), ("a", "f1")]
    assert select(rows, []) == rows


shares = st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=1, max_size=6)


@given(shares)
def test_an_average_lies_between_the_least_and_the_greatest(parts: list[tuple[float, float]]) -> None:
    outcomes = [TaskOutcome("m", str(number), [score(value)]) for number, (value, _) in enumerate(parts)]
    weights = {str(number): weight for number, (_, weight) in enumerate(parts)}
    values = [value for value, _ in parts]
    for row in averages(outcomes, group(*weights, weights=weights)):
        assert row.score is not None
        assert min(values) - 1e-9 <= row.score <= max(values) + 1e-9


def test_a_data_set_that_is_listed_twice_counts_once() -> None:
    [once] = averages(TWO, group("a"))
    [twice] = averages(TWO, group("a", "a"))
    assert (twice.score, twice.stderr, twice.n) == (once.score, once.stderr, once.n)


def test_perfect_data_sets_are_not_certain() -> None:
    def perfect(name: str) -> TaskOutcome:
        return TaskOutcome("m", name, [replace(score(1.0, n=20), stderr=0.05, questions=20)])

    rows = summary_rows([perfect("a"), perfect("b")])
    questions = {name: [(f"{name}{number}", 1.0) for number in range(20)] for name in "ab"}
    average = with_averages(rows, [group("a", "b")], lambda row: questions[row.dataset])[-1]
    assert (average.ci95_low, average.ci95_high) == pytest.approx(wilson_interval(40, 40))
    assert average.stderr is not None
    assert average.stderr > 0.01


def test_a_weight_by_size_counts_questions_and_not_their_repeats() -> None:
    repeated = TaskOutcome("m", "a", [replace(score(0.5, n=800), repeats=8, questions=100)])
    once = TaskOutcome("m", "b", [replace(score(0.9, n=100), questions=100)])
    *_, weighted = averages([repeated, once], group("a", "b", weights="n"))
    assert weighted.score == pytest.approx(0.7)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 200)), min_size=2, max_size=6), st.data())
def test_a_micro_average_is_that_of_all_questions_however_groups_are_nested(
    parts: list[tuple[float, int]], data: st.DataObject
) -> None:
    names = [f"d{number}" for number in range(len(parts))]
    outcomes = [TaskOutcome("m", name, [score(value, n=n)]) for name, (value, n) in zip(names, parts, strict=True)]
    cut = data.draw(st.integers(1, len(parts) - 1))
    inner = group(*names[:cut], name="inner", weights=data.draw(st.sampled_from([None, "n"])))
    *_, flat = averages(outcomes, group(*names, weights="n"))
    *_, nested = averages(outcomes, inner, group("inner", *names[cut:], weights="n"))
    assert nested.score == pytest.approx(flat.score)
    assert nested.n == flat.n


def test_a_part_whose_metric_is_named_stays_as_it_is_in_a_micro_average() -> None:
    three = [*TWO, TaskOutcome("m", "c", [score(0.2, n=400)])]
    outer = SummaryGroup("all", (SummaryEntry("inner", NAIVE), SummaryEntry("c")), "n")
    *_, micro = averages(three, group("a", "b", name="inner", weights="n"), outer)
    assert micro.score == pytest.approx((0.7 + 0.2) / 2)


def test_lower_is_better_of_an_average_if_it_is_of_all_parts() -> None:
    parts = [
        TaskOutcome("m", name, [score(0.2, metric)]) for name, metric in zip("abc", ("wer", "cer", "f1"), strict=True)
    ]
    errors, mixed = averages(parts, group("a", "b", name="errors"), group("a", "c", name="mixed"))
    assert (errors.lower_is_better, mixed.lower_is_better) == (True, False)
