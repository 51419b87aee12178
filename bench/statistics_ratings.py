"""Check by simulation that ratings of models by battles keep their promises.

    python -m bench.statistics_ratings [--runs N] [--models 8]

Every pair of models meets on every question in both orders; verdicts about a question depend on each other.

``covers``: the share of 95 % intervals of ratings that hold the true rating. ``ranks``: runs in which all intervals of
ranks hold the true ranks. ``found``: the share of pairs that are separated. With ``spread`` 0 all models are equally
good, and ``ranks`` are runs in which no pair is separated; aim: at least 95 %.
"""

from __future__ import annotations

import argparse
import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.ratings.bradley_terry import Battle
from ais_prompt.extensions.ratings.fitted_ratings import fit_ratings

TIES, POSITION, QUESTION = 0.8, 0.2, 0.5
"""Tie parameter, effect of the first position, and standard deviation of how much a question favours a model."""
TRUTH = 2_000
"""Questions from which the true ratings are known."""


def main() -> None:
    """Simulate, and print one line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="simulations of each setting")
    parser.add_argument("--models", type=int, default=8)
    options = parser.parse_args()
    print("spread  questions  covers  ranks  found")
    for spread in (0.0, 1.0, 2.5):
        strengths = np.linspace(spread, -spread, options.models)
        whole = fit_ratings(drawn(np.random.default_rng(0), TRUTH, strengths), resamples=0)
        true = {one.model: one.rating if spread else 0.0 for one in whole.models}
        ranks = {name: rank for rank, name in enumerate(sorted(true), 1)}
        for questions in (10, 30, 60):
            covers, right, found = [], [], []
            for run in range(options.runs):
                fit = fit_ratings(drawn(np.random.default_rng([run, questions]), questions, strengths))
                separated = [one.is_separated for one in fit.pairs]
                found.append(np.mean(separated))
                for one in fit.models:
                    assert one.interval is not None
                    covers.append(one.interval[0] <= true[one.model] <= one.interval[1])
                holds = [one.best_rank <= ranks[one.model] <= one.worst_rank for one in fit.models]
                right.append(all(holds) if spread else not any(separated))
            print(f"{spread:6} {questions:10} {np.mean(covers):7.1%} {np.mean(right):6.1%} {np.mean(found):6.1%}")


def drawn(draw: np.random.Generator, questions: int, strengths: NDArray[np.float64]) -> list[Battle]:
    """Return the battles of all pairs."""
    battles = []
    for question in range(questions):
        own = strengths + draw.normal(0, QUESTION, len(strengths))
        for pair in combinations(range(len(strengths)), 2):
            for first, second in (pair, pair[::-1]):
                gap = own[first] - own[second] + POSITION
                weights = np.array([math.exp(gap / 2), math.exp(-gap / 2), TIES])
                points = (1.0, 0.0, 0.5)[draw.choice(3, p=weights / weights.sum())]
                battles.append(Battle(f"m{first}", f"m{second}", points, str(question)))
    return battles


if __name__ == "__main__":
    main()
