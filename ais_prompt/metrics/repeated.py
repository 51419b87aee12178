"""Metrics of several answers to one question: pass@k, pass^k, avg@n, cons@k, and their repeatability."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from operator import mul
from statistics import fmean, variance
from typing import Any, Final

from msgspec import Struct

from ais_prompt.metrics.aggregate import spread_of_questions
from ais_prompt.metrics.interval import Z
from ais_prompt.types import Precision

_CLEARLY_NARROWER: Final = 0.9


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return pass@k: the probability that at least one of ``k`` answers is right, drawn from ``n`` without replacement.

    The unbiased estimate 1 - C(n - c, k) / C(n, k), computed exactly. Its mean over the questions is the metric.
    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.

    Args:
        n: answers to the question.
        correct: number of right answers.
        k: number of tries, 1 to ``n``.

    Returns:
        0 to 1.

    Raises:
        ValueError: not 1 <= k <= n, or not 0 <= correct <= n.
    """
    if not (1 <= k <= n and 0 <= correct <= n):
        raise ValueError(f"pass@{k} of {correct} right among {n} answers is not defined")
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def avg_at_n(values: Sequence[float]) -> float:
    """Return avg@n: the mean over the answers to one question; for 0 and 1 it equals pass@1.

    Source: DeepSeek-AI 2025, "DeepSeek-R1", section 3 (there "pass@1" from several answers).

    Raises:
        ValueError: there are no answers.
    """
    if not values:
        raise ValueError("avg@n of no answers is not defined")
    return statistics.fmean(values)


def pass_hat_k(n: int, correct: int, k: int) -> float:
    """Return pass^k: the probability that all of ``k`` answers are right, drawn from ``n`` without replacement.

    The unbiased estimate C(c, k) / C(n, k). Source: Yao et al. 2024, "τ-bench: A Benchmark for Tool-Agent-User
    Interaction in Real-World Domains".

    Args, returns and errors: as `pass_at_k`.
    """
    if not (1 <= k <= n and 0 <= correct <= n):
        raise ValueError(f"pass^{k} of {correct} right among {n} answers is not defined")
    return math.comb(correct, k) / math.comb(n, k)


def estimate_of_k(metric: Callable[[int, int, int], float], n: int, known: int, correct: int, k: int) -> float | None:
    """Return pass@k or pass^k of a question some of whose answers are missing.

    The known answers are enough if there are ``k`` of them. If not, each missing answer is taken to be right as often
    as the known ones are, and the mean over all ways to fill them in is returned. It lies between the bounds.

    Args:
        metric: `pass_at_k` or `pass_hat_k`.
        n: answers requested.
        known: answers received.
        correct: right answers among them.
        k: 1 to ``n``.

    Returns:
        0 to 1; None if nothing is known.
    """
    if not known:
        return None
    if k <= known:
        return metric(known, correct, k)
    rate, missing = correct / known, n - known
    return math.fsum(
        math.comb(missing, right) * rate**right * (1 - rate) ** (missing - right) * metric(n, correct + right, k)
        for right in range(missing + 1)
    )


@lru_cache(maxsize=10_000)
def noise_of_k(metric: Callable[[int, int, int], float], known: int, correct: int, k: int) -> float:
    """Return the variance of pass@k or pass^k of a question over other answers of the same model to it.

    Near its ends the metric hardly varies over the questions that were asked, until one comes with few right (or wrong)
    answers; so their own variance says too little. Each answer is taken to be right with the probability that the known
    ones suggest, with half an answer of either kind added. Source: Jeffreys 1946, "An Invariant Form for the Prior
    Probability in Estimation Problems".

    Args:
        metric: `pass_at_k` or `pass_hat_k`.
        known: answers received, 1 or more.
        correct: right answers among them.
        k: 1 or more.
    """
    n, rate = max(known, k), (correct + 0.5) / (known + 1)
    chances = [math.comb(n, right) * rate**right * (1 - rate) ** (n - right) for right in range(n + 1)]
    values = [metric(n, right, k) for right in range(n + 1)]
    mean = math.fsum(map(mul, chances, values))
    return math.fsum(chance * (value - mean) ** 2 for chance, value in zip(chances, values, strict=True))


def vote_classes(answers: Sequence[Any], same: Callable[[Any, Any], bool]) -> list[int | None]:
    """Return the class of each answer as a number: answers of one class are the same vote.

    Args:
        answers: the extracted answers; None has no vote.
        same: whether two answers are the same; each is compared with the first one of every class.
    """
    firsts: list[Any] = []
    found: list[int | None] = []
    for answer in answers:
        if answer is None:
            found.append(None)
            continue
        number = next((i for i, first in enumerate(firsts) if first == answer or same(first, answer)), len(firsts))
        if number == len(firsts):
            firsts.append(answer)
        found.append(number)
    return found


def cons_bounds(votes: Sequence[Hashable | None], values: Sequence[float]) -> tuple[float, float]:
    """Return the lowest and the highest cons@k that filling in the missing votes can give.

    All missing votes go to one answer: one that was given, or another one, right or wrong. Splitting them only makes
    a majority weaker.

    Args:
        votes, values: as for `cons_at_k`.
    """
    missing = votes.count(None)
    if not missing:
        found = cons_at_k(votes, values)
        return found, found
    known = [(vote, value) for vote, value in zip(votes, values, strict=True) if vote is not None]
    others: list[tuple[Hashable, float]] = [("another wrong answer", 0.0), ("another right answer", 1.0)]
    found_values = []
    for candidate, value in [*dict(known).items(), *others]:
        filled = [*known, *[(candidate, value)] * missing]
        found_values.append(cons_at_k([vote for vote, _ in filled], [value for _, value in filled]))
    return min(found_values), max(found_values)


def cons_at_k(answers: Sequence[Hashable | None], values: Sequence[float]) -> float:
    """Return cons@k: the value of the answer that most of the ``k`` answers agree on.

    None, an unparsed answer, has no vote; without votes the value is 0. If several answers have most votes, it is the
    mean of their values, as if one of them were drawn at random. Answers that are equal have one value if
    the evaluator compares them alike; else it is the mean of theirs.

    Source: Wang et al. 2022, "Self-Consistency Improves Chain of Thought Reasoning in Language Models". (AISBench
    counts a question as right only if more than half of all answers are.)

    Args:
        answers: what was extracted, in a form in which equal answers are equal, such as `vote_classes`.
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


class Repeatability(Struct, frozen=True):
    """The two reasons why the mean of repeated answers varies.

    Attributes:
        between: variance of the questions' true means: some are harder than others. With clusters, as much more as
            they add to the variance of the mean.
        within: mean variance of the answers to one question.
        questions: how many questions there are.
    """

    between: float
    within: float
    questions: int

    def half_width(self, repeats: float) -> float:
        """Return half the 95 % interval of the score with so many answers to each question, in the metric's unit."""
        return Z * math.sqrt((self.between + self.within / repeats) / self.questions)

    def repeats_needed(self, half_width: float) -> int | None:
        """Return the fewest answers to each question for an interval of ± ``half_width``.

        Returns:
            None if no number of answers is enough: more questions are needed.
        """
        left = (half_width / Z) ** 2 * self.questions - self.between
        return max(math.ceil(self.within / left - 1e-9), 1) if left > 0 else None

    def precision(self, repeats: int) -> Precision | None:
        """Return how many answers the next round half width needs; None if the answers to all questions are the same.

        Args:
            repeats: the answers to each question that there are.
        """
        now = self.half_width(repeats)
        if not now:
            return None
        [target] = round_widths_below(now, 1)
        return Precision(now, target, self.repeats_needed(target))


def round_widths_below(half_width: float, count: int) -> list[float]:
    """Return the next ``count`` numbers that are 1, 2 or 5 times a power of ten, at least a tenth below a half width.

    They are the precisions that people ask for: ± 5, 2, 1 and 0.5 points.

    Args:
        half_width: above 0.
        count: 1 or more.
    """
    exponent = math.floor(math.log10(half_width))
    # Written as text and read back: 2 * 10**-2 is not the float 0.02 for every exponent.
    steps = (float(f"{digit}e{power}") for power in itertools.count(exponent, -1) for digit in (5, 2, 1))
    return list(itertools.islice((step for step in steps if step <= _CLEARLY_NARROWER * half_width), count))


def repeatability(questions: Iterable[tuple[str, Sequence[float]]]) -> Repeatability | None:
    """Return the variances between and within questions, by the analysis of variance with one random factor.

    Source: Searle, Casella and McCulloch 1992, "Variance Components", section 3.6; for evaluations of language models:
    Miller 2024, "Adding Error Bars to Evals", section 3.1. A question whose answers partly failed counts with those
    that came.

    Args:
        questions: the unit of each question, which is the question itself or its cluster, and the values of its
            answers; a question with fewer than two is left out.

    Returns:
        None of fewer than two units.
    """
    means, variances, noises = [], [], []
    for unit, values in questions:
        if len(values) > 1:
            means.append((unit, fmean(values)))
            variances.append(variance(values))
            noises.append(variances[-1] / len(values))
    spread = spread_of_questions(means, fmean(mean for _, mean in means)) if means else None
    if spread is None:
        return None
    between = max(spread.variance * len(means) - fmean(noises), 0.0)
    return Repeatability(between, fmean(variances), len(means))
