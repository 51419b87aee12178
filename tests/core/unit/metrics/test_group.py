"""Averages over datasets: what they share makes them vary together."""

from __future__ import annotations

import numpy as np
import pytest

from ais_prompt.metrics import Part, group_spread, spread_of_questions


def part(weight: float, questions: list[tuple[str, float]]) -> Part:
    mean = sum(value for _, value in questions) / len(questions)
    spread = spread_of_questions(questions, mean)
    assert spread is not None
    return Part(weight, mean, spread, questions)


def answers(name: str, *values: float) -> list[tuple[str, float]]:
    return [(f"{name}{number}", value) for number, value in enumerate(values)]


def test_parts_without_common_questions_are_independent() -> None:
    a, b = part(0.5, answers("a", 1, 0, 1, 1)), part(0.5, answers("b", 0, 0, 1, 1))
    assert group_spread([a, b]).variance == pytest.approx(0.25 * (a.spread.variance + b.spread.variance))
    assert group_spread([a, b]).units == pytest.approx(8)


def test_the_same_questions_with_the_same_values_add_nothing() -> None:
    n = 1000
    values = [float(number % 3 == 0) for number in range(n)]
    a, b = part(0.5, answers("q", *values)), part(0.5, answers("q", *values))
    both = group_spread([a, b])
    assert both.variance == pytest.approx(a.spread.variance, rel=2 / n)
    assert both.units == pytest.approx(n)


def test_perfect_parts_that_share_questions_count_them_once() -> None:
    a, b = part(0.5, answers("q", 1, 1, 1)), part(0.5, answers("q", 1, 1, 1))
    assert group_spread([a, b]).units == pytest.approx(3)


@pytest.mark.thorough
def test_the_variance_of_sets_with_shared_questions_is_what_resampling_gives() -> None:
    draw = np.random.default_rng(5)
    n = 60
    easy = draw.random(n)
    first, second = (draw.random(n) < easy).astype(float), (draw.random(n) < easy).astype(float)
    found = group_spread([part(0.5, answers("q", *first)), part(0.5, answers("q", *second))])
    mean = (first + second) / 2
    resampled = [mean[draw.integers(n, size=n)].mean() for _ in range(20_000)]
    assert found.stderr == pytest.approx(np.std(resampled), rel=0.05)
