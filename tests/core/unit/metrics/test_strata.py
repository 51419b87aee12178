"""Scores of drawn questions: their mean, error and interval are about the whole set."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.metrics import mean_scores, of_whole_set, stratum_spread
from ais_prompt.metrics.interval import drawn_spread
from ais_prompt.types import SampleScore, Score, Stratum

STRATA = st.dictionaries(
    st.sampled_from("abcd"),
    st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=30), st.integers(0, 500)),
    min_size=1,
)
"""Name → the drawn values, and how many questions were not drawn."""


def scored(strata: dict[str, tuple[list[int], int]]) -> list[SampleScore]:
    return [
        SampleScore(f"{name}{number}", "scored", values={"a": float(value)}, stratum=Stratum(name, len(values) + rest))
        for name, (values, rest) in strata.items()
        for number, value in enumerate(values)
    ]


def score_of(samples: list[SampleScore]) -> Score:
    return mean_scores(["a"], samples)[0]


@given(STRATA)
def test_the_mean_is_that_of_the_set_and_the_interval_holds_it(strata: dict[str, tuple[list[int], int]]) -> None:
    score = score_of(scored(strata))
    whole = sum(len(values) + rest for values, rest in strata.values())
    expected = sum((len(v) + rest) * sum(v) / len(v) for v, rest in strata.values()) / whole
    assert score.population == whole
    assert score.value == pytest.approx(expected)
    if sum(len(values) for values, _ in strata.values()) < 2:
        assert score.interval is None
        return
    if any(rest for _, rest in strata.values()):
        assert score.interval is not None
        low, high = score.interval
        assert 0 <= low <= expected + 1e-9
        assert expected - 1e-9 <= high <= 1
        assert low < high


@given(st.integers(2, 60), st.integers(1, 10_000), st.data())
def test_the_error_is_corrected_for_what_was_drawn(n: int, rest: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.floats(0, 1).map(lambda x: round(x, 2)), min_size=n, max_size=n))
    samples = [SampleScore(str(k), "scored", values={"a": v}) for k, v in enumerate(values)]
    bare = score_of(samples)
    drawn = score_of([replace(sample, stratum=Stratum("", n + rest)) for sample in samples])
    assert drawn.value == bare.value
    assert drawn.interval is not None
    assert bare.interval is not None
    if len(set(values)) > 1:
        assert drawn.stderr == pytest.approx((bare.stderr or 0) * math.sqrt(1 - n / (n + rest)), rel=1e-6)
    slack = 1 / (n + rest) + 1e-9
    assert drawn.interval[0] >= bare.interval[0] - slack - 0.03
    assert drawn.interval[1] <= bare.interval[1] + slack + 0.03


def test_of_a_large_set_the_interval_is_that_of_questions_without_end() -> None:
    samples = [SampleScore(str(k), "scored", values={"a": float(k % 4 > 0)}) for k in range(100)]
    drawn = [replace(sample, stratum=Stratum("", 10**7)) for sample in samples]
    assert score_of(drawn).interval == pytest.approx(score_of(samples).interval, abs=2e-3)


def test_clusters_do_not_matter_to_the_set() -> None:
    samples = scored({"": ([1, 0] * 20, 100)})
    together = [replace(sample, cluster=str(number // 5)) for number, sample in enumerate(samples)]
    assert score_of(together) == score_of(samples)


def test_strata_that_differ_make_the_error_smaller() -> None:
    apart = scored({"a": ([1] * 19 + [0], 80), "b": ([0] * 19 + [1], 80)})
    mixed = [replace(sample, stratum=Stratum("", 200)) for sample in apart]
    assert (score_of(apart).stderr or 1) < 0.7 * (score_of(mixed).stderr or 0)


def test_failed_questions_are_no_part_of_the_mean_but_of_the_set() -> None:
    samples = scored({"": ([1, 1, 0, 0], 6)})
    failed = replace(samples[0], status="failed", values={})
    score = score_of([failed, *samples[1:]])
    assert (score.value, score.population) == (pytest.approx(1 / 3), 10)
    assert score.bounds == pytest.approx((0.25, 0.5))


def test_one_question_has_the_variance_of_all() -> None:
    spread = stratum_spread(0.0, 1, 10, 0.25)
    assert spread.variance == pytest.approx(0.25 * 0.9)
    assert stratum_spread(0.25, 10, 10, 0.25).variance == 0
    half = stratum_spread(0.25, 5, 10, 0.25)
    assert (half.variance, half.units) == (pytest.approx(0.25 / 5 / 2), pytest.approx(5 * 2))


@pytest.mark.parametrize("largest", [None, 0.25])
def test_the_spread_over_strata_is_that_of_the_formula(largest: float | None) -> None:
    values = {"a": [0.0, 0.2, 1.0], "b": [0.5, 0.9]}
    sizes = {"a": 12, "b": 4}
    weights = {"a": 0.75, "b": 0.25}
    centred = {name: [one - sum(own) / len(own) for one in own] for name, own in values.items()}
    deviations = [weights[name] / len(own) * one for name, own in centred.items() for one in own]
    # The variance over all strata, drawn towards that of right and wrong answers as if one more question showed it.
    overall = sum(weights[name] * sum(one * one for one in own) / len(own) for name, own in centred.items())
    if largest is not None:
        overall = (4 * overall + largest / (0.75**2 / 3 + 0.25**2 / 2)) / 5
    variance, units, doubt = 0.0, 0.0, 0.0
    for name, own in centred.items():
        n, left = len(own), 1 - len(own) / sizes[name]
        shrunk = (sum(one * one for one in own) + 4 * overall) / (n - 1 + 4)
        of_mean = weights[name] ** 2 * shrunk * left / n
        variance += of_mean
        doubt += of_mean**2 / (n - 1 + 4)
        units += weights[name] ** 2 * left / n
    spread = drawn_spread(deviations, list("aaabb"), sizes, largest=largest)
    assert spread is not None
    assert (spread.variance, spread.units) == (pytest.approx(variance), pytest.approx(1 / units))
    assert spread.freedom == pytest.approx(variance**2 / doubt)


def test_a_set_of_which_all_was_drawn_has_no_error() -> None:
    for strata in ("aaa", "aab"):
        spread = drawn_spread([-0.1, 0.0, 0.1], list(strata), Counter(strata))
        assert spread is not None
        assert (spread.variance, spread.units > 1e9) == (0, True)
    assert drawn_spread([0.0], ["a"], {"a": 5}) is None


def test_other_metrics_have_a_shorter_interval() -> None:
    low, high = of_whole_set((0.2, 0.5), 0.3, 75, 100) or (0, 0)
    assert (low, high) == (pytest.approx(0.25), pytest.approx(0.4))
    assert of_whole_set(None, 0.3, 75, 100) is None


@pytest.mark.thorough
@pytest.mark.parametrize(("size", "n", "share"), [(100, 30, 0.9), (1000, 100, 0.7), (60, 50, 0.5)])
def test_the_interval_holds_the_score_of_the_set(size: int, n: int, share: float) -> None:
    draw = np.random.default_rng(3)
    values = (np.arange(size) < share * size).astype(int)
    held = 0
    for _ in range(200):
        chosen = draw.choice(values, n, replace=False).tolist()
        low, high = score_of(scored({"": (chosen, size - n)})).interval or (0, 0)
        held += low <= values.mean() <= high
    assert held >= 181  # a coverage of 95 % has less in one of 10,000 cases
