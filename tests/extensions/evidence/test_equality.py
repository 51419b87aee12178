"""The two-sample tests of answers; `bench.same` measures their errors with real models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.evidence.equality import (
    answer_kernel,
    detectable_share,
    detectable_shift,
    number_kernel,
    paired_test,
    same_test,
    shift_test,
    text_kernel,
)


@given(st.lists(st.text(max_size=12), min_size=1, max_size=8))
def test_the_kernel_of_texts_is_symmetric_positive_and_1_for_equal_texts(texts: list[str]) -> None:
    kernel = text_kernel(texts)
    assert np.allclose(kernel, kernel.T)
    assert np.allclose(np.diag(kernel), 1)
    assert np.linalg.eigvalsh(kernel).min() > -1e-9
    for one, first in enumerate(texts):
        for other, second in enumerate(texts):
            if first == second:
                assert kernel[one, other] == pytest.approx(1)


def test_texts_without_a_common_character_are_not_alike() -> None:
    kernel = text_kernel(["abc", "xyz", "abd"])
    assert kernel[0, 1] == 0
    assert 0 < kernel[0, 2] < 1


def test_rounding_is_no_difference() -> None:
    assert number_kernel([1.0, 1.00005], 1e-4)[0, 1] == 0
    assert number_kernel([1.0, 1.5], 1e-4)[0, 1] == pytest.approx(-0.4999)


def kernels(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.stack([number_kernel([*a, *b], 0.0) for a, b in zip(first, second, strict=True)])


@pytest.mark.thorough
def test_the_level_holds_and_a_shift_is_found() -> None:
    draw = np.random.default_rng(0)
    alarms = [same_test(kernels(*draw.normal(size=(2, 5, 6))), 6, permutations=99) <= 0.05 for _ in range(300)]
    assert np.mean(alarms) <= 0.08
    shifted = [
        same_test(kernels(draw.normal(size=(5, 6)), draw.normal(1.5, size=(5, 6))), 6, permutations=99) <= 0.05
        for _ in range(50)
    ]
    assert np.mean(shifted) > 0.8


def test_equal_answers_show_nothing_and_other_ones_everything() -> None:
    equal = np.ones((10, 3))
    assert same_test(kernels(equal, equal), 3) == 1
    assert same_test(kernels(equal, 2 * equal), 3) == pytest.approx(1 / 1000)


@pytest.mark.thorough
def test_the_share_that_is_found_falls_with_more_answers() -> None:
    words = ["red", "blue", "green", "grey", "pink"]
    few = detectable_share(answer_kernel([f"{words[p]} {words[p]}" for p in range(5) for _ in range(6)], 5), 5, 3)
    many = detectable_share(answer_kernel([f"{words[p]} {words[p]}" for p in range(5) for _ in range(40)], 5), 5, 20)
    assert few is not None
    assert many is not None
    assert many <= few
    assert detectable_share(answer_kernel(["same"] * 8, 2), 2, 2) is None


@pytest.mark.thorough
def test_pairs_show_what_many_answers_share_and_no_more() -> None:
    draw = np.random.default_rng(0)

    def kernel(mark: str) -> np.ndarray:
        words = draw.choice(list("abcdefgh"), (30, 2, 4))
        texts = ["".join(side) + (mark if number else "") for pair in words for number, side in enumerate(pair)]
        return answer_kernel(texts, 30)

    assert np.mean([paired_test(kernel(""), permutations=99) <= 0.05 for _ in range(200)]) <= 0.1
    assert paired_test(kernel("xyz")) <= 0.001
    assert paired_test(answer_kernel([str(number // 2) for number in range(60)], 30)) == 1


def shares(draw: np.random.Generator, first: float, second: float, prompts: int, answers: int) -> np.ndarray:
    sides = [draw.random((prompts, answers)) < share for share in (first, second)]
    return np.concatenate(sides, axis=1).astype(float)


@pytest.mark.thorough
def test_a_shift_of_means_is_found_as_often_as_is_promised() -> None:
    draw = np.random.default_rng(0)
    for share, prompts, answers in ((0.0, 25, 6), (0.3, 25, 6), (0.9, 80, 1)):
        equal = shares(draw, share, share, prompts, answers)
        shift = detectable_shift(equal, answers, 0.05, of_share=True)
        assert shift is not None
        other = share + shift * (1 if share < 0.5 else -1)
        found = [
            shift_test(shares(draw, share, other, prompts, answers), answers, permutations=199) <= 0.05
            for _ in range(100)
        ]
        assert np.mean(found) >= 0.65
        alarms = [
            shift_test(shares(draw, share, share, prompts, answers), answers, permutations=99) <= 0.05
            for _ in range(200)
        ]
        assert np.mean(alarms) <= 0.1


def test_a_shift_ignores_what_is_missing() -> None:
    values = np.array([[1.0, np.nan, 1.0, np.nan], [np.nan, np.nan, np.nan, np.nan], [0.0, 0.0, 1.0, 1.0]] * 10)
    assert shift_test(values, 2) < 0.05
    assert shift_test(values[1:2], 2) == 1
    assert detectable_shift(values[1:2], 2) is None
