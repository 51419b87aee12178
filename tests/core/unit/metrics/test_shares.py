"""Every share has an interval within 0 and 1 that is not a point, whatever it is a share of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import incident_shares, mean_scores
from ais_prompt.types import SampleScore, Score


def check(score: Score) -> None:
    assert score.value is not None
    assert score.interval is not None
    low, high = score.interval
    assert 0 <= low <= score.value + 1e-12
    assert score.value <= high + 1e-12 <= 1 + 1e-12
    assert low < high
    assert score.stderr
    assert score.fraction


def question(number: int, value: float, cluster: str | None = None) -> SampleScore:
    return SampleScore(str(number), "scored", "x", "y", {"share": value}, cluster=cluster)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=40))
def test_of_incidents(values: list[float]) -> None:
    shares = incident_shares(("share",), [question(number, value) for number, value in enumerate(values)])
    assert len(shares) == any(values)
    for share in shares:
        check(share)
        assert share.bounds is None


parts = st.tuples(st.integers(1, 12), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@given(st.lists(parts, min_size=2, max_size=30), st.booleans())
def test_of_parts_that_questions_have_more_or_less_of(questions: list[tuple[int, float]], clustered: bool) -> None:
    weights = {str(number): weight for number, (weight, _) in enumerate(questions)}
    samples = [
        question(number, value, str(number // 2) if clustered and len(questions) > 2 else None)
        for number, (_, value) in enumerate(questions)
    ]
    [share] = mean_scores(("share",), samples, weight_of=lambda score: weights[score.sample_id])
    check(share)
    total = sum(weight for weight, _ in questions)
    assert share.value == pytest.approx(sum(weight * value for weight, value in questions) / total)
    assert not share.is_mean


def test_the_standard_error_of_a_ratio_of_two_means() -> None:
    # 1 of 1, 1 of 4, 3 of 3 and 0 of 2: 5 of 10. Deviations of the parts, .5, -1, 1.5 and -1, over 10.
    samples = [question(number, value) for number, value in enumerate([1.0, 0.25, 1.0, 0.0])]
    weights = dict(zip("0123", [1, 4, 3, 2], strict=True))
    [share] = mean_scores(("share",), samples, weight_of=lambda score: weights[score.sample_id])
    assert share.value == 0.5
    assert share.stderr == pytest.approx(((0.25 + 1 + 2.25 + 1) * 4 / 3) ** 0.5 / 10)


def test_weights_of_one_change_nothing() -> None:
    samples = [question(number, value) for number, value in enumerate([1.0, 0.0, 0.0])]
    [equal], [weighted] = mean_scores(("share",), samples), mean_scores(("share",), samples, weight_of=lambda _: 1.0)
    assert (equal.interval, equal.stderr, equal.bounds) == (weighted.interval, weighted.stderr, weighted.bounds)


def test_what_failed_has_a_part_in_the_bounds_by_its_weight() -> None:
    samples = [question(0, 1.0), SampleScore("1", "failed"), SampleScore("2", "unparsed"), SampleScore("3", "failed")]
    weights = {"0": 2, "1": 3, "2": 1, "3": 0}
    [share] = mean_scores(("share",), samples, weight_of=lambda score: weights[score.sample_id])
    assert share.value == pytest.approx(2 / 3)
    assert share.bounds == pytest.approx((2 / 6, 1.0))


ratings = st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=2, max_size=30)


@given(ratings, st.integers(1, 5), st.booleans())
def test_of_a_scale_that_does_not_begin_at_0(given: list[int | None], worst: int, clustered: bool) -> None:
    def samples(start: int) -> list[SampleScore]:
        return [
            SampleScore(str(number), "failed")
            if points is None
            else question(number, points + start, str(number // 2) if clustered else None)
            for number, points in enumerate(given)
        ]

    [at_zero] = mean_scores(("share",), samples(0), best=9.0)
    [shifted] = mean_scores(("share",), samples(worst), best=9.0 + worst, worst=worst)
    for plain, moved in ((at_zero.interval, shifted.interval), (at_zero.bounds, shifted.bounds)):
        assert (plain is None) == (moved is None)
        if plain and moved:
            assert moved == pytest.approx([end + worst for end in plain])
            assert worst <= moved[0] <= moved[1] <= 9 + worst
    assert shifted.stderr == (at_zero.stderr and pytest.approx(at_zero.stderr))


def test_an_unread_answer_has_the_worst_rating() -> None:
    samples = [SampleScore("0", "unparsed", values={"share": 0.0}), SampleScore("1", "unparsed"), question(2, 7.0)]
    [score] = mean_scores(("share",), samples, best=10.0, worst=1.0)
    assert score.value == pytest.approx(3)
    assert score.bounds == pytest.approx((3, 9))
