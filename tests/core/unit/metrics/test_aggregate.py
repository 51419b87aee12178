from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.metrics import mean_scores
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
    # Of 5, the unparsed and the failed one may be right: 3/5 to 5/5. The modified interval of 3 right among 4.
    assert score == Score(
        metric="accuracy",
        value=0.75,
        stderr=0.25,
        n=5,
        counts={"scored": 2, "unparsed": 1, "truncated": 1, "failed": 1},
        interval=pytest.approx((0.3006, 0.9872), abs=1e-4),
        bounds=(0.6, 1.0),
        is_mean=True,
        questions=4,
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
        questions=0,
    )
    assert accuracy([]) == Score("accuracy", None, None, 0, dict.fromkeys(STATUSES, 0), is_mean=True, questions=0)


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
    # Two values have one degree of freedom, and its quantile is 12.7.
    assert score.interval == pytest.approx((20 - 127.06, 20 + 127.06), abs=0.01)
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
    error = accuracy([sample("scored", 1.0)] * right + [sample("scored", 0.0)] * wrong).stderr
    if n < 2:
        assert error is None
    elif right and wrong:
        share = right / n
        assert error == pytest.approx((share * (1 - share) / (n - 1)) ** 0.5)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_perfect_answers_have_the_doubt_of_their_number(value: float) -> None:
    score = accuracy([sample("scored", value)] * 20)
    assert score.interval is not None
    assert score.stderr == pytest.approx((score.interval[1] - score.interval[0]) / 2 / 1.959964)
    assert score.stderr > 0.04


def test_questions_of_a_cluster_are_one_unit() -> None:
    passages = [("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 0.0), ("b", 0.0), ("b", 1.0)]
    score = accuracy([replace(sample("scored", value), cluster=name) for name, value in passages])
    # Mean 4/6; the passages' sums of deviations are 1 and -1, over 6; variance 2 / 36 · 2 / (2 - 1).
    assert score.stderr == pytest.approx((2 / 36 * 2) ** 0.5)
    alone = [replace(sample("scored", value), cluster=str(i)) for i, (_, value) in enumerate(passages)]
    assert accuracy(alone).stderr == accuracy([sample("scored", value) for _, value in passages]).stderr


@given(st.lists(st.booleans(), min_size=4, max_size=200))
def test_clusters_of_one_question_each_change_no_standard_error(right: list[bool]) -> None:
    samples = [sample("scored", float(one)) for one in right]
    alone = [replace(one, cluster=str(number)) for number, one in enumerate(samples)]
    if 0 < sum(right) < len(right):
        assert accuracy(alone).stderr == pytest.approx(accuracy(samples).stderr)
