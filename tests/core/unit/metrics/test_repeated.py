from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import (
    Estimate,
    avg_at_n,
    cons_at_k,
    cons_bounds,
    estimate_of_k,
    estimated_means,
    noise_of_k,
    pass_at_k,
    pass_hat_k,
    vote_classes,
)
from ais_prompt.types import SampleScore

counts = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(counts)
def test_pass_at_k_is_the_share_of_draws_with_a_right_answer(numbers: tuple[int, int, int]) -> None:
    n, correct, k = numbers
    draws = list(itertools.combinations([True] * correct + [False] * (n - correct), k))
    assert pass_at_k(n, correct, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)


def test_pass_at_k_by_the_published_program() -> None:
    # The stable form that Chen et al. print: 1 - prod(1 - k / i for i = n - c + 1 .. n).
    for n, correct, k in [(200, 7, 100), (200, 1, 1), (100, 50, 10), (10, 0, 5), (10, 10, 10), (10, 6, 5)]:
        product = 1.0
        for i in range(n - correct + 1, n + 1):
            product *= 1 - k / i
        expected = 1.0 if n - correct < k else 1 - product
        assert pass_at_k(n, correct, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("measure", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(("questions", "n", "k", "share"), [(20, 10, 5, 0.7), (100, 10, 5, 0.6), (20, 8, 4, 0.7)])
def test_the_interval_near_the_ends_covers_the_truth_in_nine_of_ten_samples(
    measure: Callable[[int, int, int], float], questions: int, n: int, k: int, share: float
) -> None:
    # Hardly a question has a value that differs from the others, until one comes with few right answers.
    share, truth = (share, 1 - (1 - share) ** k) if measure is pass_at_k else (1 - share, (1 - share) ** k)
    draw = np.random.default_rng(2)

    def estimates(sample: SampleScore) -> list[Estimate]:
        right = int(sample.values["right"])
        value = measure(n, right, k)
        return [Estimate(value, value, value, noise=noise_of_k(measure, n, right, k))]

    held = 0
    for _ in range(200):
        drawn = draw.binomial(n, share, questions).tolist()
        samples = [SampleScore("", "scored", None, None, {"right": float(right)}) for right in drawn]
        [score] = estimated_means(["pass"], estimates, samples)
        assert score.interval
        held += score.interval[0] <= truth <= score.interval[1]
    assert held >= 0.86 * 200  # 90 %, and two standard errors


@pytest.mark.parametrize(("n", "correct", "k"), [(0, 0, 1), (4, 1, 5), (4, 5, 1), (4, -1, 1), (4, 1, 0)])
def test_what_is_not_defined_is_refused(n: int, correct: int, k: int) -> None:
    with pytest.raises(ValueError, match="not defined"):
        pass_at_k(n, correct, k)


def test_pass_at_1_is_the_mean() -> None:
    assert pass_at_k(8, 3, 1) == avg_at_n([1, 1, 1, 0, 0, 0, 0, 0]) == 0.375


def test_no_answers_have_no_mean() -> None:
    with pytest.raises(ValueError):
        avg_at_n([])


@pytest.mark.parametrize(
    ("answers", "values", "expected"),
    [
        (["18", "18", "7"], [1, 1, 0], 1.0),
        (["7", "7", "18"], [0, 0, 1], 0.0),
        (["18", "7"], [1, 0], 0.5),
        (["18", "7", "9"], [1, 0, 0], pytest.approx(1 / 3)),
        ([None, None, "18"], [0, 0, 1], 1.0),
        ([None, None], [0, 0], 0.0),
        (["18", "18", "7", "7", "9"], [1, 1, 0, 0, 0], 0.5),
    ],
)
def test_the_majority_decides(answers: list[str | None], values: list[float], expected: float) -> None:
    assert cons_at_k(answers, values) == expected


@pytest.mark.parametrize(("answers", "values"), [([], []), (["1"], []), (["1"], [1.0, 0.0])])
def test_one_value_for_each_answer(answers: list[str], values: list[float]) -> None:
    with pytest.raises(ValueError, match="one value for each"):
        cons_at_k(answers, values)


@given(st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1), st.randoms(use_true_random=False))
def test_order_does_not_matter(answers: list[str | None], chance: random.Random) -> None:
    shuffled = chance.sample(answers, len(answers))
    value = {"1": 1.0}
    assert cons_at_k(answers, [value.get(a or "", 0.0) for a in answers]) == pytest.approx(
        cons_at_k(shuffled, [value.get(a or "", 0.0) for a in shuffled])
    )


@given(counts)
def test_pass_hat_k_is_the_share_of_draws_that_are_all_right(numbers: tuple[int, int, int]) -> None:
    n, correct, k = numbers
    draws = list(itertools.combinations([True] * correct + [False] * (n - correct), k))
    assert pass_hat_k(n, correct, k) == pytest.approx(sum(map(all, draws)) / len(draws), abs=1e-12)


@given(counts, st.data())
@pytest.mark.parametrize("metric", [pass_at_k, pass_hat_k])
def test_an_estimate_lies_between_all_ways_to_fill_in(
    metric: Callable[[int, int, int], float], numbers: tuple[int, int, int], data: st.DataObject
) -> None:
    known, correct, _ = numbers
    n = known + data.draw(st.integers(0, 4))
    k = data.draw(st.integers(1, n))
    filled = [metric(n, correct + more, k) for more in range(n - known + 1)]
    estimate = estimate_of_k(metric, n, known, correct, k)
    assert estimate is not None
    assert min(filled) - 1e-12 <= estimate <= max(filled) + 1e-12
    assert estimate_of_k(metric, n, 0, 0, k) is None


@given(st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1, max_size=6))
def test_the_bounds_of_a_vote_are_those_of_every_way_to_fill_it_in(votes: list[str | None]) -> None:
    value = {"1": 1.0, "new right": 1.0}
    ways = itertools.product(*[[vote] if vote else ["1", "2", "3", "new right", "new wrong"] for vote in votes])
    every = [cons_at_k(way, [value.get(vote, 0.0) for vote in way]) for way in ways]
    found = cons_bounds(votes, [value.get(vote or "", 0.0) for vote in votes])
    assert found == pytest.approx((min(every), max(every)))


def test_answers_that_mean_the_same_are_one_vote() -> None:
    def same(first: str, second: str) -> bool:
        return float(first) == float(second)

    assert vote_classes(["18", "7", "18.0", None, "7.00"], same) == [0, 1, 0, None, 1]
