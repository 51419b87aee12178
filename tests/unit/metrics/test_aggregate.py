from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics.aggregate import mean_scores, standard_error
from ais_prompt.types import STATUSES, SampleScore, Score


def sample(status: str, value: float | None = None) -> SampleScore:
    assert status in STATUSES
    return SampleScore("id", status, values={} if value is None else {"accuracy": value})


def accuracy(samples: list[SampleScore]) -> Score:
    (score,) = mean_scores(("accuracy",), samples)
    return score


def test_against_a_computation_by_hand() -> None:
    score = accuracy(
        [
            sample("scored", 1.0),
            sample("scored", 1.0),
            sample("truncated", 1.0),
            sample("unparsed"),
            sample("failed"),
        ]
    )
    # Answered: 1, 1, 1, 0. Mean 3/4; variance (3 · 1/16 + 9/16) / 3 = 1/4; standard error (1/2) / 2.
    # Of 5, the unparsed and the failed one may be right: 3/5 to 5/5. Wilson's interval of 3 right among 4.
    assert score == Score(
        metric="accuracy",
        value=0.75,
        stderr=0.25,
        n=5,
        counts={"scored": 2, "unparsed": 1, "truncated": 1, "failed": 1},
        interval=pytest.approx((0.3006, 0.9544), abs=1e-4),
        bounds=(0.6, 1.0),
        is_mean=True,
    )


def test_unparsed_counts_as_zero_with_or_without_values() -> None:
    assert accuracy([sample("unparsed"), sample("scored", 1.0)]).value == 0.5
    assert accuracy([sample("unparsed", 0.0), sample("scored", 1.0)]).value == 0.5


def test_where_nothing_was_answered_there_is_no_value() -> None:
    assert accuracy([sample("failed")] * 3) == Score(
        "accuracy",
        None,
        None,
        3,
        {"scored": 0, "unparsed": 0, "truncated": 0, "failed": 3},
        bounds=(0.0, 1.0),
        is_mean=True,
    )
    assert accuracy([]) == Score("accuracy", None, None, 0, dict.fromkeys(STATUSES, 0), is_mean=True)


def test_one_answer_has_no_standard_error() -> None:
    assert accuracy([sample("scored", 1.0), sample("failed")]).stderr is None


def test_each_metric_has_its_score_in_order() -> None:
    samples = [SampleScore("a", "scored", values={"f1": 0.5, "em": 0.0}), SampleScore("b", "unparsed")]
    assert [(score.metric, score.value) for score in mean_scores(("em", "f1"), samples)] == [("em", 0.0), ("f1", 0.25)]


def test_a_metric_that_a_scored_sample_lacks_is_a_fault() -> None:
    with pytest.raises(KeyError):
        mean_scores(("f1",), [sample("scored", 1.0)])


def test_a_truncated_answer_may_be_right_unless_one_was_read() -> None:
    read = SampleScore("a", "truncated", extracted="7", values={"accuracy": 0.0})
    unread = SampleScore("b", "truncated", values={"accuracy": 0.0})
    assert accuracy([read]).bounds == (0.0, 0.0)
    assert accuracy([unread]).bounds == (0.0, 1.0)


def test_a_metric_without_a_best_value_has_no_bounds_and_is_no_percentage() -> None:
    samples = [SampleScore(name, "scored", values={"ppl": value}) for name, value in (("a", 10.0), ("b", 30.0))]
    [score] = mean_scores(("ppl",), samples, best=None)
    assert (score.value, score.bounds, score.fraction) == (20.0, None, False)
    assert score.interval == pytest.approx((20 - 19.6, 20 + 19.6), abs=0.01)
    [rating] = mean_scores(("ppl",), [*samples, SampleScore("c", "failed")], best=50.0)
    assert rating.bounds == pytest.approx((40 / 3, 30.0))


def test_repeated_answers_are_clustered_by_question() -> None:
    def answer(value: float | None) -> SampleScore:
        return sample("failed") if value is None else sample("scored", value)

    def question(*values: float | None) -> SampleScore:
        return SampleScore("id", "scored", repeats=tuple(map(answer, values)))

    score = accuracy([question(1.0, 1.0), question(0.0, 1.0), question(0.0, None)])
    # Questions: 1, 1/2, 0 (of what was answered). Mean 1/2, deviation 1/2, standard error (1/2) / √3.
    assert (score.value, score.stderr) == (0.5, pytest.approx(0.5 / 3**0.5))
    assert (score.n, score.repeats, score.counts["failed"]) == (6, 2, 1)
    assert score.bounds == pytest.approx((0.5, (1 + 0.5 + 0.5) / 3))


unit = st.floats(min_value=0, max_value=1)
answered_samples = st.lists(
    st.builds(sample, st.sampled_from(["scored", "truncated"]), unit) | st.just(sample("unparsed"))
)


@given(answered_samples, st.integers(min_value=0, max_value=5))
def test_failed_samples_change_the_counts_and_nothing_else(answered: list[SampleScore], failed: int) -> None:
    without, with_failed = accuracy(answered), accuracy(answered + [sample("failed")] * failed)
    assert (with_failed.value, with_failed.stderr) == (without.value, without.stderr)
    assert with_failed.counts["failed"] == failed
    assert sum(with_failed.counts.values()) == with_failed.n == len(answered) + failed


@given(answered_samples.filter(bool))
def test_the_value_lies_between_the_least_and_the_greatest(answered: list[SampleScore]) -> None:
    values = [score.values.get("accuracy", 0.0) for score in answered]
    value = accuracy(answered).value
    assert value is not None
    assert min(values) <= value <= max(values)


@given(
    st.lists(st.builds(sample, st.sampled_from(["scored", "truncated"]), unit) | st.builds(sample, st.just("failed")))
)
def test_value_and_interval_lie_within_their_bounds(samples: list[SampleScore]) -> None:
    score = accuracy(samples)
    if score.value is not None and score.bounds is not None:
        low, high = score.bounds
        assert low <= score.value + 1e-12
        assert score.value <= high + 1e-12
    if score.value is not None and score.interval is not None:
        assert 0 <= score.interval[0] <= score.value + 1e-12
        assert score.value <= score.interval[1] + 1e-12 <= 1 + 1e-12


@given(st.integers(min_value=0, max_value=50), st.integers(min_value=0, max_value=50))
def test_the_standard_error_of_a_share_is_the_textbook_formula(right: int, wrong: int) -> None:
    n = right + wrong
    error = standard_error([1.0] * right + [0.0] * wrong)
    if n < 2:
        assert error is None
    else:
        share = right / n
        assert error == pytest.approx((share * (1 - share) / (n - 1)) ** 0.5)
