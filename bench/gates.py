"""How often the baseline gate fails: runs that are equally good, and runs that are truly worse.

    python -m bench.gates [--runs N]

Two models answer the same questions, and agree on many of them as real models do. What is printed beside the shares is
what theory gives: the level of McNemar's exact test, which is below 5 % since samples are whole numbers, with the range
in which 95 % of all simulations lie; and the power of a one-sided test of paired differences (Connor 1987) at this
number of changed samples.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ais_prompt.gates import Baseline, BaselineTask, check_baseline
from ais_prompt.metrics import LEVEL

SAMPLES = 1_319
DROPS = (0.05, 0.03)
SWITCH = 0.6
"""How often the answer to a question is drawn anew instead of being the same in both runs."""


def main() -> None:
    """Simulate, and print one line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2_000, help="simulated pairs of runs for each setting")
    runs = parser.parse_args().runs
    draw = np.random.default_rng(1)
    for datasets in (1, 5, 20):
        alarms = sum(_fails(pair, datasets) for pair in _pairs(draw, runs, datasets, drop=0.0))
        print(f"equal models, {datasets:2} datasets: {alarms} of {runs} fail ({alarms / runs:.1%}, at most 5 %)")
    level = _level()
    low, high = binom.interval(0.95, runs, level) / np.float64(runs)
    print(f"by theory {level:.1%} with one dataset, between {low:.1%} and {high:.1%} of so many runs")
    for drop in DROPS:
        found = sum(_fails(pair, 1) for pair in _pairs(draw, runs, 1, drop=drop))
        print(f"a drop of {drop:.0%}, n {SAMPLES}: found in {found / runs:.1%}, by theory {_power(drop):.1%}")


def _pairs(draw: np.random.Generator, runs: int, datasets: int, drop: float) -> Iterator[tuple[Baseline, Baseline]]:
    for _ in range(runs):
        sides = [_answers(draw, drop) for _ in range(datasets)]
        yield _run([before for before, _ in sides]), _run([after for _, after in sides])


def _answers(draw: np.random.Generator, drop: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right and wrong of both runs: right in 70 %, mostly on the same questions."""
    before = draw.random(SAMPLES) < 0.7
    again = draw.random(SAMPLES) < 0.7 - drop / SWITCH
    after = np.where(draw.random(SAMPLES) < SWITCH, again, before)
    return before.astype(np.float64), after.astype(np.float64)


def _run(answers: list[NDArray[np.float64]]) -> Baseline:
    values = [{str(row): one for row, one in enumerate(side.tolist())} for side in answers]
    tasks = [BaselineTask("model", f"data{n}", "accuracy", True, of_data) for n, of_data in enumerate(values)]
    return Baseline("simulated", tasks)


def _fails(pair: tuple[Baseline, Baseline], datasets: int) -> bool:
    verdicts = check_baseline(*pair)
    assert len(verdicts) == datasets
    return not all(verdict.passed for verdict in verdicts)


def _level() -> float:
    """How often McNemar's exact test sees a drop where there is none, with as many changed samples as in `_answers`."""
    changed = np.arange(SAMPLES + 1)
    # The most samples that may be better among those that changed, if the gate is to fail.
    most_better = binom.ppf(LEVEL, changed, 0.5)
    most_better -= binom.cdf(most_better, changed, 0.5) >= LEVEL
    share_changed = binom.pmf(changed, SAMPLES, SWITCH * 2 * 0.7 * 0.3)
    return float(share_changed @ binom.cdf(most_better, changed, 0.5))


def _power(drop: float) -> float:
    """The normal approximation, with the share of changed samples that `_answers` makes."""
    worse, better = SWITCH * 0.7 * (0.3 + drop / SWITCH), SWITCH * 0.3 * (0.7 - drop / SWITCH)
    changed, normal = worse + better, NormalDist()
    needed = normal.inv_cdf(1 - LEVEL) * math.sqrt(changed)
    return normal.cdf((math.sqrt(SAMPLES) * drop - needed) / math.sqrt(changed - drop**2))


if __name__ == "__main__":
    main()
