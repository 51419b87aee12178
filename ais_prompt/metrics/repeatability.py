"""Would more answers to each question make a score surer, or only more questions?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, variance

from msgspec import Struct

from ais_prompt.metrics.interval import Z


class Repeatability(Struct, frozen=True):
    """The two reasons why the mean of repeated answers varies.

    Attributes:
        between: variance of the questions' true means: some are harder than others.
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


def repeatability(answers: Iterable[Sequence[float]]) -> Repeatability | None:
    """Return the variances between and within questions, by the analysis of variance with one random factor.

    Source: Searle, Casella and McCulloch 1992, "Variance Components", section 3.6; for evaluations of language models:
    Miller 2024, "Adding Error Bars to Evals", section 3.1. A question whose answers partly failed counts with those
    that came.

    Args:
        answers: the values of the answers to each question; a question with fewer than two is left out.

    Returns:
        None of fewer than two questions.
    """
    repeated = [values for values in answers if len(values) > 1]
    if len(repeated) < 2:
        return None
    within = fmean(variance(values) for values in repeated)
    noise = fmean(variance(values) / len(values) for values in repeated)
    between = max(variance([fmean(values) for values in repeated]) - noise, 0.0)
    return Repeatability(between, within, len(repeated))
