"""Metrics of several answers to one question."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Sequence


def pass_at_k(n: int, correct: int, k: int) -> float:
    """pass@k: how likely at least one of ``k`` answers is right, drawn without putting back from the ``n`` given ones.

    The unbiased estimate 1 - C(n - c, k) / C(n, k), computed exactly. Its mean over the questions is the metric.
    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.

    Args:
        n: answers to the question.
        correct: how many of them are right.
        k: how many may be tried, 1 to ``n``.

    Returns:
        0 to 1.

    Raises:
        ValueError: not 1 <= k <= n, or not 0 <= correct <= n.
    """
    if not (1 <= k <= n and 0 <= correct <= n):
        raise ValueError(f"pass@{k} of {correct} right among {n} answers is not defined")
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def avg_at_n(values: Sequence[float]) -> float:
    """avg@n: the mean over the answers to one question; for 0 and 1 it equals pass@1.

    Source: DeepSeek-AI 2025, "DeepSeek-R1", section 3 (there "pass@1" from several answers).

    Raises:
        ValueError: there are no answers.
    """
    if not values:
        raise ValueError("avg@n of no answers is not defined")
    return statistics.fmean(values)


def cons_at_k(answers: Sequence[Hashable | None], values: Sequence[float]) -> float:
    """cons@k: the value of the answer that most of the ``k`` answers agree on.

    None, which could not be parsed, has no vote; without votes it is 0. If several answers have most votes, it is the
    mean of theirs: what drawing lots among them would give in the long run. Answers that are equal have one value if
    the evaluator compares them alike; else it is the mean of theirs.

    Source: Wang et al. 2022, "Self-Consistency Improves Chain of Thought Reasoning in Language Models". (AISBench
    counts a question as right only if more than half of all answers are.)

    Args:
        answers: what was extracted, in a form in which equal answers are equal.
        values: the value of each.

    Raises:
        ValueError: there is not one value for each answer, or there are none.
    """
    if not answers or len(answers) != len(values):
        raise ValueError(f"cons@k needs one value for each answer, not {len(values)} for {len(answers)}")
    votes = Counter(answer for answer in answers if answer is not None)
    most = max(votes.values(), default=0)
    # The winners have equally many votes, so the mean over their voters is the mean over the winners.
    winning = [value for answer, value in zip(answers, values, strict=True) if votes[answer] == most and most]
    return statistics.fmean(winning) if winning else 0.0
