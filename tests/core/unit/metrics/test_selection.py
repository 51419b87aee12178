"""The best of several variants is best by luck, too."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import is_in_half, optimism


def test_optimism_is_what_the_best_of_equal_variants_has_too_much() -> None:
    draw = np.random.default_rng(1)
    found, truth = [], []
    for _ in range(30):
        scores = (draw.random((120, 8)) < 0.6).astype(float)
        found.append(optimism(scores, [str(number) for number in range(120)]))
        truth.append(scores.mean(axis=0).max() - 0.6)
    # 30 runs know the means to about 0.006.
    assert abs(np.mean(found) - np.mean(truth)) < 0.02


def test_a_clear_winner_has_hardly_any() -> None:
    draw = np.random.default_rng(2)
    scores = (draw.random((200, 4)) < np.array([0.2, 0.2, 0.2, 0.9])).astype(float)
    assert optimism(scores, [str(number) for number in range(200)]) < 1e-3


@given(st.integers(1, 5), st.integers(0, 5))
def test_few_questions_or_variants_have_none_or_some(variants: int, questions: int) -> None:
    scores = np.eye(5)[:questions, :variants]
    found = optimism(scores, [str(number) for number in range(questions)])
    assert 0 <= found <= 1


def test_halves_depend_on_the_name_alone() -> None:
    names = [f"id{number}" for number in range(2000)]
    chosen = {name for name in names if is_in_half(name, 0.5)}
    assert 900 < len(chosen) < 1100
    assert chosen <= {name for name in names if is_in_half(name, 0.6)}
