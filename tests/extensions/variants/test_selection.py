"""The best of several variants is best by luck, too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.variants.selection import exchanged, held_out, is_in_half, optimism


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


@pytest.mark.thorough
def test_equal_variants_are_seldom_called_different() -> None:
    draw = np.random.default_rng(3)
    ids = [str(number) for number in range(60)]
    called = 0
    for _ in range(40):
        scores = (draw.random((60, 6)) < draw.random((60, 1))).astype(float)
        found = exchanged(scores, ids, int(scores.mean(axis=0).argmax()))
        called += min(found.p_values) < 0.05
    assert called <= 6  # of 40 with 5 % each, more than 6 in 0.3 % of cases


def test_exchanged_scores_find_a_difference_and_keep_clusters_whole() -> None:
    draw = np.random.default_rng(4)
    scores = (draw.random((100, 3)) < np.array([0.3, 0.3, 0.8])).astype(float)
    ids = [str(number) for number in range(100)]
    found = exchanged(scores, ids, 2)
    assert max(found.p_values[:2]) < 0.01
    assert found.p_values[2] == 1.0
    assert 2 < found.critical < 3.5
    same = exchanged(np.repeat(scores[:25], 4, axis=0), [str(number // 4) for number in range(100)], 2)
    assert same.p_values == exchanged(4 * scores[:25], ids[:25], 2).p_values
    assert exchanged(np.ones((5, 3)), ids[:5], 0).p_values == (1.0, 1.0, 1.0)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=8, max_size=60))
def test_less_is_better_is_the_mirror_of_more_is_better(rows: list[tuple[bool, bool]]) -> None:
    scores, ids = np.array(rows, float), [f"id{number}" for number in range(len(rows))]
    right = held_out(scores, ids, 0.5, 1.0)
    wrong = held_out(1 - scores, ids, 0.5, 1.0, lower_is_better=True)
    if right is None or wrong is None:
        assert right is wrong
        return
    assert wrong.chosen == right.chosen
    assert np.allclose(
        (wrong.score, wrong.ci95_low, wrong.ci95_high), (1 - right.score, 1 - right.ci95_high, 1 - right.ci95_low)
    )
