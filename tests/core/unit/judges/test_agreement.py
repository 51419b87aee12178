"""Krippendorff's alpha: against known examples, its definition over all pairs, and simulated judges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.judges import Level, agreement, krippendorff_alpha

PUBLISHED = list(
    zip(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        strict=True,
    )
)
"""Krippendorff 2011, section E: twelve units, four observers, missing values."""


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("interval", 0.849)])
def test_alpha_of_the_published_example(level: Level, alpha: float) -> None:
    assert krippendorff_alpha(PUBLISHED, level) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.thorough
def test_alpha_of_agreement_of_chance_and_of_nothing() -> None:
    assert krippendorff_alpha([("A", "A"), ("B", "B")]) == 1
    assert krippendorff_alpha([("A", "A"), ("A", "A")]) is None
    assert krippendorff_alpha([(7.1, 7.1), (7.1, 7.1)], "interval") is None
    assert krippendorff_alpha([("A", None), (None, "B")]) is None
    draw = np.random.default_rng(0)
    chance = krippendorff_alpha([tuple(draw.integers(0, 2, 3).tolist()) for _ in range(5000)])
    assert chance == pytest.approx(0, abs=0.03)


verdicts = st.lists(st.lists(st.sampled_from([None, 0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=12)


@given(verdicts, st.sampled_from(["nominal", "interval"]))
def test_alpha_is_that_of_all_pairs(answers: list[list[float | None]], level: Level) -> None:
    """Observed disagreement within answers over that between all verdicts that are paired, computed pair by pair."""

    def differ(one: float, other: float) -> float:
        return float(one != other) if level == "nominal" else (one - other) ** 2

    rated = [known for answer in answers if len(known := [one for one in answer if one is not None]) > 1]
    every = [one for known in rated for one in known]
    n = len(every)
    within = sum(sum(itertools.starmap(differ, itertools.permutations(known, 2))) / (len(known) - 1) for known in rated)
    between = sum(itertools.starmap(differ, itertools.permutations(every, 2)))
    found = krippendorff_alpha(answers, level)
    if not between:
        assert found is None
    else:
        assert found == pytest.approx(1 - (within / n) / (between / (n * (n - 1))))


@pytest.mark.thorough
def test_the_interval_covers_the_truth() -> None:
    """Two judges know the truth about 80 % of the answers, and guess about the others: alpha is 0.64."""
    draw = np.random.default_rng(3)
    covered = 0
    for _ in range(100):
        truth = draw.integers(0, 2, 150)
        given = [np.where(draw.random(150) < 0.8, truth, draw.integers(0, 2, 150)) for _ in range(2)]
        found = agreement(list(zip(*(one.tolist() for one in given), strict=True)))
        assert found.interval
        covered += found.interval[0] <= 0.64 <= found.interval[1]
    assert covered >= 88


def test_agreement_without_exception_has_no_interval() -> None:
    """Each resample agrees as well, so they do not tell how much alpha varies."""
    found = agreement([["a", "a"], ["b", "b"], ["a", "a"]])
    assert (found.alpha, found.stderr, found.interval) == (1.0, None, None)
