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
    assert score == Score("accuracy", 0.75, 0.25, 5, {"scored": 2, "unparsed": 1, "truncated": 1, "failed": 1})


def test_unparsed_counts_as_zero_with_or_without_values() -> None:
    assert accuracy([sample("unparsed"), sample("scored", 1.0)]).value == 0.5
    assert accuracy([sample("unparsed", 0.0), sample("scored", 1.0)]).value == 0.5


def test_where_nothing_was_answered_there_is_no_value() -> None:
    assert accuracy([sample("failed")] * 3) == Score(
        "accuracy", None, None, 3, {"scored": 0, "unparsed": 0, "truncated": 0, "failed": 3}
    )
    assert accuracy([]).n == 0


def test_one_answer_has_no_standard_error() -> None:
    assert accuracy([sample("scored", 1.0), sample("failed")]).stderr is None


def test_each_metric_has_its_score_in_order() -> None:
    samples = [SampleScore("a", "scored", values={"f1": 0.5, "em": 0.0}), SampleScore("b", "unparsed")]
    assert [(score.metric, score.value) for score in mean_scores(("em", "f1"), samples)] == [("em", 0.0), ("f1", 0.25)]


def test_a_metric_that_a_scored_sample_lacks_is_a_fault() -> None:
    with pytest.raises(KeyError):
        mean_scores(("f1",), [sample("scored", 1.0)])


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


@given(st.integers(min_value=0, max_value=50), st.integers(min_value=0, max_value=50))
def test_the_standard_error_of_a_share_is_the_textbook_formula(right: int, wrong: int) -> None:
    n = right + wrong
    error = standard_error([1.0] * right + [0.0] * wrong)
    if n < 2:
        assert error is None
    else:
        share = right / n
        assert error == pytest.approx((share * (1 - share) / (n - 1)) ** 0.5)
