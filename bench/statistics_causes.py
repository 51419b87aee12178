"""How often the intervals of the causes of a difference hold the true shares, by simulation.

    python -m bench.statistics_causes --runs 1000

The model and the postprocessor change between two runs: ``changed`` is how often a question's answer, or the reading of
an answer, becomes another one. Each cause has the mean of what it changes first and last (Shapley). ``failures`` is
the share of the questions that the second run did not answer, of which the easier ones fail more often.
"""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.comparison import shares_left_out
from ais_prompt.metrics import mean_difference

Values = NDArray[np.float64]

SIZES: Final = (20, 50, 200, 1_000)
CHANGED: Final = (0.02, 0.1, 0.3)
RIGHT: Final = (0.5, 0.9)
"""How often an answer is right, and is read."""
MANY: Final = 1_000_000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000, help="simulations of each setting")
    options = parser.parse_args()
    draw = np.random.default_rng(1)
    print("   n  changed  right   covers: model  extraction  failures")
    for n in SIZES:
        for changed in CHANGED:
            for right in RIGHT:
                truth = [float(parts.mean()) for parts in _parts(draw, MANY, changed, right)]
                held = np.zeros(2)
                for _ in range(options.runs):
                    for number, parts in enumerate(_parts(draw, n, changed, right)):
                        interval = mean_difference(parts.tolist()).interval
                        assert interval is not None
                        held[number] += interval[0] - 1e-12 <= truth[number] <= interval[1] + 1e-12
                model, extraction = held / options.runs
                failures = _left_out(draw, n, changed, right, options.runs)
                print(f"{n:5} {changed:8.2f} {right:6.1f} {model:15.3f} {extraction:11.3f} {failures:9.3f}", flush=True)


def _parts(draw: np.random.Generator, n: int, changed: float, right: float) -> tuple[Values, Values]:
    """Return what the model and the postprocessor change in each question."""
    answers = np.where(draw.random(n) < changed, draw.random((2, n)) < (right / 2), draw.random(n) < right)
    reads = np.where(draw.random((2, n)) < changed, draw.random((2, n)) < right / 2, True)  # of either answer
    old, new = answers[0].astype(float), answers[1].astype(float)
    old_read, new_read = old * reads[0], new * reads[1]
    return (new - old + new_read - old_read) / 2, (old_read - old + new_read - new) / 2


def _left_out(draw: np.random.Generator, n: int, failed: float, right: float, runs: int) -> float:
    """Return how often the interval of failures holds the true share; runs without failures are left out.

    So are those in which nothing varies: the share has no interval then.
    """
    truth = _failures(draw, MANY // 10, failed, right)
    found = [one for one in (_failures(draw, n, failed, right) for _ in range(runs)) if one is not None]
    assert truth is not None
    held = [low <= truth.difference <= high for low, high in (one.interval for one in found if one.interval)]
    return float(np.mean(held)) if held else float("nan")


def _failures(draw: np.random.Generator, n: int, failed: float, right: float) -> Any:
    """Return the share of failures of two random runs; None without failures."""
    before, after = (draw.random((2, n)) < right).astype(float)
    fails = draw.random(n) < np.where(before > 0, 1.2 * failed, 0.8 * failed)
    names = [str(number) for number in range(n)]
    values = dict(zip(names, before.tolist(), strict=True))
    known = {name: float(value) for name, value, lost in zip(names, after, fails, strict=True) if not lost}
    tasks: list[Any] = [
        SimpleNamespace(predictions=dict.fromkeys(names), values=each, clusters={}, corpus=None)
        for each in (values, known)
    ]
    return next(shares_left_out(*tasks), None) if known else None


if __name__ == "__main__":
    main()
