"""Verdicts about two answers: how they are read, what a change with the order means, and what several judges decide."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.judges import FIRST, SECOND, TIE, LLMRatingEvaluator, OrderChange, PairwiseEvaluator
from ais_prompt.types import JudgeVerdict, SampleScore, Status

VERDICT = st.sampled_from([FIRST, SECOND, TIE, None])
ARENA = PairwiseEvaluator(first=["A>>B", "A>B"], second=["B>A", "B>>A"], tie="A=B")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Both are fine, but the first is clearer. [[A]]", FIRST),
        ("My verdict: B", SECOND),
        ("[[C]]", TIE),
        ("I cannot tell.", None),
        ("", None),
    ],
)
def test_the_verdict_of_mt_bench(text: str, verdict: str | None) -> None:
    assert PairwiseEvaluator().verdict(text) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("My final verdict is: [[A>>B]]", FIRST),
        ("[[A>B]]", FIRST),
        ("My final verdict is tie: [[A=B]]", TIE),
        ("Answer A is good. [[B>A]]", SECOND),
        ("It is [[B>>A]].", SECOND),
        ("Answer A and answer B are good.", None),
    ],
)
def test_the_verdict_of_arena_hard(text: str, verdict: str | None) -> None:
    assert ARENA.verdict(text) == verdict


@pytest.mark.parametrize(
    ("verdicts", "tie", "mean", "undecided"),
    [
        ((FIRST, SECOND), 1.0, 1.0, 1.0),
        ((SECOND, FIRST), 0.0, 0.0, 0.0),
        ((TIE, TIE), 0.5, 0.5, 0.5),
        ((FIRST, FIRST), 0.5, 0.5, None),
        ((FIRST, TIE), 0.5, 0.75, None),
        ((TIE, FIRST), 0.5, 0.25, None),
        ((FIRST, None), None, None, None),
        ((None, None), None, None, None),
    ],
)
def test_the_vote_of_a_judge(
    verdicts: tuple[str | None, str | None], tie: float | None, mean: float | None, undecided: float | None
) -> None:
    found = [PairwiseEvaluator(order_change=change).vote(verdicts) for change in get_args(OrderChange)]
    assert found == [tie, mean, undecided]


def panel(evaluator: PairwiseEvaluator, verdicts: list[tuple[str | None, str | None]]) -> list[JudgeVerdict]:
    return [JudgeVerdict(f"judge {n}", evaluator.vote(orders), orders) for n, orders in enumerate(verdicts)]


@given(st.lists(st.tuples(VERDICT, VERDICT), min_size=1, max_size=5), st.sampled_from(get_args(OrderChange)))
def test_the_other_side_of_a_comparison_is_its_mirror(
    verdicts: list[tuple[str | None, str | None]], change: OrderChange
) -> None:
    """Seen from the baseline, each judge said the same with the two orders exchanged."""
    evaluator = PairwiseEvaluator(order_change=change)
    ours = evaluator.decide(panel(evaluator, verdicts), None)
    theirs = evaluator.decide(panel(evaluator, [(second, first) for first, second in verdicts]), None)
    if ours is None or theirs is None:
        assert ours == theirs
        return
    assert ours["win_rate"] + theirs["win_rate"] == pytest.approx(1)
    assert ours["order_changed"] == pytest.approx(theirs["order_changed"])
    assert ours["ties"] == theirs["ties"]


def test_several_judges_decide_by_majority() -> None:
    evaluator = PairwiseEvaluator()
    win, loss, biased, silent = (FIRST, SECOND), (SECOND, FIRST), (FIRST, FIRST), (FIRST, None)
    decided = evaluator.decide(panel(evaluator, [win, win, biased]), None)
    assert decided == {"win_rate": 1.0, "wins": 1.0, "ties": 0.0, "order_changed": pytest.approx(1 / 3)}
    assert evaluator.decide(panel(evaluator, [win, loss]), None) is None
    assert evaluator.decide(panel(evaluator, [win, loss, biased]), None) is None
    assert evaluator.decide(panel(evaluator, [win, silent]), None) is None
    mean = PairwiseEvaluator(order_change="mean")
    found = mean.decide(panel(mean, [win, loss, biased]), None)
    assert found
    assert found["win_rate"] == 0.5


def test_several_ratings_have_a_mean() -> None:
    evaluator = LLMRatingEvaluator()
    votes = [JudgeVerdict("one", evaluator.vote(["7"])), JudgeVerdict("two", evaluator.vote(["8"]))]
    assert evaluator.decide(votes, None) == {"rating": 7.5}
    assert evaluator.decide([votes[0], JudgeVerdict("silent")], None) is None
    assert evaluator.decide([*votes, JudgeVerdict("silent")], None) == {"rating": 7.5}


def scored(evaluator: PairwiseEvaluator, number: int, verdicts: tuple[str, str]) -> SampleScore:
    said = panel(evaluator, [verdicts])
    values = evaluator.decide(said, None)
    status: Status = "failed" if values is None else "scored"
    return SampleScore(str(number), status, "text", None, values or {}, verdicts=tuple(said))


@given(st.lists(st.tuples(*[st.sampled_from([FIRST, SECOND, TIE])] * 2), min_size=1, max_size=8))
def test_what_a_change_means_does_not_change_how_often_the_order_does(told: list[tuple[str, str]]) -> None:
    found = []
    for change in get_args(OrderChange):
        evaluator = PairwiseEvaluator(order_change=change)
        *_, order_changed = evaluator.aggregate([scored(evaluator, *one) for one in enumerate(told)])
        found.append((order_changed.value, order_changed.bounds, order_changed.interval))
    assert found == [found[0]] * 3


@pytest.mark.thorough
def test_the_win_rate_of_a_biased_judge_covers_the_truth() -> None:
    """The model is better in 60 % of the questions; the judge sees that in 70 % of them, and else takes the first."""
    draw = np.random.default_rng(5)
    evaluator = PairwiseEvaluator()
    truth, covered, changed = 0.7 * 0.6 + 0.3 * 0.5, 0, []
    for _ in range(200):
        scores = []
        for number in range(100):
            better, seen = draw.random() < 0.6, draw.random() < 0.7
            told = ((FIRST, SECOND) if better else (SECOND, FIRST)) if seen else (FIRST, FIRST)
            scores.append(scored(evaluator, number, told))
        found = {score.metric: score for score in evaluator.aggregate(scores)}
        interval = found["win_rate"].interval
        assert interval
        covered += interval[0] <= truth <= interval[1]
        changed.append(found["order_changed"].value)
    assert 0.9 <= covered / 200 <= 0.99
    assert np.mean([share for share in changed if share is not None]) == pytest.approx(0.3, abs=0.01)


def test_an_empty_answer_loses_and_says_nothing_about_the_judge() -> None:
    evaluator = PairwiseEvaluator()
    unparsed = SampleScore("0", "unparsed", None, None, dict.fromkeys(evaluator.metrics, 0.0))
    found = {score.metric: score for score in evaluator.aggregate([unparsed, scored(evaluator, 1, (FIRST, FIRST))])}
    assert found["win_rate"].value == 0.25
    assert found["order_changed"].value == 1.0
    assert found["order_changed"].bounds == (0.5, 1.0)


def test_faults() -> None:
    with pytest.raises(ConfigError, match="order_change is 'loss'"):
        PairwiseEvaluator(order_change="loss")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="'A' means 'first' and 'tie'"):
        PairwiseEvaluator(tie=["C", "A"])
