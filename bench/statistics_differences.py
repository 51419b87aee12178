"""Check by simulation that differences, powers and alarms keep their promises.

    python -m bench.statistics_differences [differences|power|alarms|models] [--runs N]

``differences``: how often the 95 % interval of a paired difference holds the true one, and how often interval and
p-value disagree. "Before" is the percentile bootstrap of the mean and McNemar's exact test.

``power``: how often the drop is found that is said to be found in 80 %; before: (1.645 + 0.842) standard errors.

``alarms``: nights of a year that fail although nothing became worse, against one baseline of so many runs.

``models``: how often models that are equally good on every dataset seem to differ: at the end of a run with two
models, and in the mean lines of `compare` with several. Aim: at most 5 %. "Before" are plain 95 % intervals, at the end
of a run with more than six datasets those of the mean and of the three datasets with the smallest p-values.
"""

from __future__ import annotations

import argparse
import math
from functools import cache
from itertools import product

import numpy as np

from ais_prompt.comparison import FEW, Difference, intervals_together, mean_differences
from ais_prompt.metrics import (
    LEVEL,
    NIGHTS,
    MeanDifference,
    alarms_per_year,
    detectable_drop,
    matched_worse,
    mcnemar_worse,
    mean_difference,
)

SIZES = (20, 50, 200, 1_000)
CHANGED = (0.02, 0.1, 0.3)


def main() -> None:
    """Simulate, and print one line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("differences", "power", "alarms", "models"))
    parser.add_argument("--runs", type=int, default=1_000, help="simulations of each setting")
    options = parser.parse_args()
    tables = {"differences": differences, "power": power, "alarms": alarms, "models": models}
    for name, simulate in tables.items():
        if options.what in (None, name):
            simulate(np.random.default_rng(1), options.runs)


def differences(draw: np.random.Generator, runs: int) -> None:
    """Coverage, and how often interval and p-value disagree."""
    print("   n  changed    true   covers: before  after   disagree: before  after")
    for n in SIZES:
        for changed in CHANGED:
            for true in (0.0, -changed / 2):
                covers, disagree = np.zeros(2), np.zeros(2)
                shares = [(changed - true) / 2, (changed + true) / 2, 1 - changed]
                for worse, better, _ in draw.multinomial(n, shares, size=runs).tolist():
                    for place, (low, high, p) in enumerate((_before(worse, better, n), _after(worse, better, n))):
                        covers[place] += low - 1e-12 <= true <= high + 1e-12
                        disagree[place] += (p < LEVEL) != (low > 0 or high < 0)
                (old, new), (odd, even) = covers / runs, disagree / runs
                print(f"{n:5} {changed:7.2f} {true:8.3f} {old:15.3f} {new:6.3f} {odd:18.3f} {even:6.3f}")


@cache
def _difference(worse: int, better: int, n: int) -> MeanDifference:
    return mean_difference([-1.0] * worse + [1.0] * better + [0.0] * (n - worse - better))


def _after(worse: int, better: int, n: int) -> tuple[float, float, float]:
    found = _difference(worse, better, n)
    assert found.interval is not None
    return *found.interval, found.p


@cache
def _before(worse: int, better: int, n: int) -> tuple[float, float, float]:
    counts = np.array([worse, better, n - worse - better])
    means = np.random.default_rng(0).multinomial(n, counts / n, size=2_000) @ np.array([-1.0, 1.0, 0.0]) / n
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high), min(1.0, 2 * min(mcnemar_worse(worse, better), mcnemar_worse(better, worse)))


def power(draw: np.random.Generator, runs: int) -> None:
    """How often the drop is found that a run without one says would be found."""
    print("   n  changed   found: before  after")
    for n in SIZES:
        for changed in CHANGED:
            found = np.zeros(2)
            for pilot in draw.binomial(n, changed, size=runs).tolist():
                before = 2.4865 * math.sqrt(pilot / n / n)
                after = _detectable(n, (pilot + 1) / (n + 2))
                for place, drop in enumerate((before, after)):
                    share = min(changed / 2 + (drop or 1.0), 1 - changed / 2)
                    worse, better, _ = draw.multinomial(n, [share, changed / 2, 1 - share - changed / 2])
                    found[place] += mcnemar_worse(int(worse), int(better)) < LEVEL
            print(f"{n:5} {changed:7.2f} {found[0] / runs:14.3f} {found[1] / runs:6.3f}")


@cache
def _detectable(n: int, changed: float) -> float | None:
    return detectable_drop(n, changed)


def alarms(draw: np.random.Generator, runs: int) -> None:
    """Count the nights of a year that fail although the model never becomes worse.

    400 questions, of which 250 are always right and 150 have random chances. Each simulated baseline is held against
    365 nights with the test of the gate.
    """
    print("runs  level   nights of a year, on average: said  found   with one baseline in ten: said  found")
    chances = np.concatenate([np.ones(250), draw.random(150)])
    for count, level in ((1, LEVEL), (3, LEVEL), (10, LEVEL), (1, 0.0027), (3, 0.0027), (10, 0.0027)):
        found = []
        for _ in range(max(runs // 2, 10)):
            before = (draw.random((count, len(chances))) < chances).sum(axis=0).tolist()
            after = (draw.random((NIGHTS, len(chances))) < chances).astype(int).tolist()
            found.append(sum(matched_worse(before, night, count) < level for night in after))
        said = alarms_per_year(1, count, level)
        unlucky = np.quantile(found, 0.9)
        print(f"{count:4} {level:6.4f} {said.mean:36.1f} {np.mean(found):6.1f} {said.unlucky:32.1f} {unlucky:6.1f}")


def models(draw: np.random.Generator, runs: int) -> None:
    """How often equal models seem to differ; each question has a chance of its own, around that of its dataset."""
    print("models  datasets    n   any difference at the end of a run: before  after   in a mean line: before  after")
    for count, sets, n in ((2, 4, 50), (2, 6, 200), (2, 60, 50), (4, 4, 50), (8, 10, 100)):
        found = np.zeros(4)
        for _ in range(runs):
            own = draw.beta(2, 2, sets)
            names = product(range(count // 2), range(sets))
            pairs = [_pair(draw, f"m{model}", f"d{number}", n, own[number]) for model, number in names]
            means = mean_differences(pairs, ())
            if count == 2:
                luckiest = pairs if sets <= FEW else sorted(pairs, key=lambda one: one.p)[:3]
                found[0] += any(one.p < LEVEL for one in (*means, *luckiest))
                shown = intervals_together([*means, *pairs] if sets <= FEW else means)
                found[1] += any(_is_sure(interval) for _, interval in shown)
            found[2] += any(one.p < LEVEL for one in means)
            found[3] += any(one.p_adjusted < LEVEL for one in means)
        shares = found / runs
        end = f"{shares[0]:42.3f} {shares[1]:6.3f}" if count == 2 else " " * 49
        print(f"{count:6} {sets:9} {n:4} {end} {shares[2]:24.3f} {shares[3]:6.3f}", flush=True)


def _pair(draw: np.random.Generator, model: str, dataset: str, n: int, share: float) -> Difference:
    """Return the difference of two runs, or models, that are right with the same chances."""
    chances = draw.beta(3 * share, 3 * (1 - share), n)
    before, after = (draw.random((2, n)) < chances).astype(float)
    differences = (after - before).tolist()
    mean = mean_difference(differences)
    return Difference(
        model=model,
        dataset=dataset,
        metric="accuracy",
        fraction=True,
        common=n,
        before=float(before.mean()),
        after=float(after.mean()),
        interval=mean.interval,
        p=mean.p,
        units=n,
        found=mean,
        questions=tuple((f"{dataset} {number}", one) for number, one in enumerate(differences)),
    )


def _is_sure(interval: tuple[float, float] | None) -> bool:
    return interval is not None and not interval[0] <= 0 <= interval[1]


if __name__ == "__main__":
    main()
