"""Check by simulation that corrections for several comparisons keep their promises, and what each of them finds.

    python -m bench.statistics_simultaneous [--runs N] [--models 8] [--questions 60]

Models answer the same questions, which are easy or hard for all of them. ``none``: all models are equally good;
``one``: one is worse by 20 points. ``first``: all models are compared with one model, ``pairs``: with each other.

``false``: runs with a significant difference where there is none, by plain p-values, Holm and max-T; aim: at
most 5 %. ``covers``: runs in which all intervals hold the true differences, Bonferroni's and those of max-T; aim: at
least 95 %. ``found``: the share of true differences that are significant. ``width``: of the max-T intervals, as a share
of Bonferroni's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ais_prompt.metrics import LEVEL, holm, max_t, mean_difference

DROP = 0.2
SPREAD = 1.5
"""Standard deviation of how hard the questions are, in log odds."""


def main() -> None:
    """Simulate, and print one line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="simulations of each setting")
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--questions", type=int, default=60)
    options = parser.parse_args()
    print("differs  compared  false: plain   Holm  max-T   covers: Bonferroni  max-T   found: Holm  max-T   width")
    for differs in ("none", "one"):
        for compared in ("first", "pairs"):
            found = simulate(differs, compared, options.models, options.questions, options.runs)
            plain, by_holm, by_max_t, bonferroni, joint, holm_finds, max_t_finds, width = found
            finds = f"{holm_finds:12.1%} {max_t_finds:6.1%}" if differs == "one" else f"{'':12} {'':6}"
            print(
                f"{differs:7}  {compared:8} {plain:12.1%} {by_holm:6.1%} {by_max_t:6.1%} "
                f"{bonferroni:19.1%} {joint:6.1%} {finds} {width:7.2f}"
            )


def simulate(differs: str, compared: str, models: int, questions: int, runs: int) -> list[float]:
    """Return the numbers of a line."""
    draw = np.random.default_rng([models, questions, differs == "one", compared == "pairs"])
    pairs = [pair for pair in combinations(range(models), 2) if compared == "pairs" or pair[0] == 0]
    true = np.array([DROP * (differs == "one" and first == 0) for first, _ in pairs])
    rows: list[list[float]] = []
    for _ in range(runs):
        answers = answered(draw, models, questions, differs == "one")
        changes = [(answers[second] - answers[first]).tolist() for first, second in pairs]
        alone = [mean_difference(change) for change in changes]
        joint = max_t([list(zip(map(str, range(questions)), change, strict=True)) for change in changes])
        p_values = np.array([one.p for one in alone])
        corrected = np.array(list(holm(dict(enumerate(p_values.tolist()))).values()))
        together = np.maximum(joint.p_values, p_values)
        wide = [one.interval_at(LEVEL / len(pairs)) for one in alone]
        equal, other = true == 0, true != 0
        rows.append(
            [
                *(float((values[equal] < LEVEL).any()) for values in (p_values, corrected, together)),
                *(float(_all_cover(ends, true)) for ends in (wide, joint.intervals)),
                *(float((values[other] < LEVEL).mean()) if other.any() else 0.0 for values in (corrected, together)),
                _mean_width(joint.intervals) / _mean_width(wide),
            ]
        )
    return [float(number) for number in np.mean(rows, axis=0)]


def answered(draw: np.random.Generator, models: int, questions: int, first_is_worse: bool) -> NDArray[np.float64]:
    """Return which answers are right, as 1 or 0; shape (models, questions)."""
    easy = draw.normal(0.5, SPREAD, questions)
    chance = np.tile(1 / (1 + np.exp(-easy)), (models, 1))
    if first_is_worse:  # the first model gives so many of its right answers away
        chance[0] *= 1 - DROP / _MEAN
    right: NDArray[np.float64] = (draw.random((models, questions)) < chance).astype(np.float64)
    return right


_MEAN = float(np.mean(1 / (1 + np.exp(-np.random.default_rng(0).normal(0.5, SPREAD, 1_000_000)))))
"""Share of right answers."""


def _all_cover(intervals: Sequence[tuple[float, float] | None], true: NDArray[np.float64]) -> bool:
    return all(
        ends is None or ends[0] - 1e-12 <= value <= ends[1] + 1e-12
        for ends, value in zip(intervals, true.tolist(), strict=True)
    )


def _mean_width(intervals: Sequence[tuple[float, float] | None]) -> float:
    return float(np.mean([high - low for low, high in filter(None, intervals)]))


if __name__ == "__main__":
    main()
