"""How often `aisprompt baseline --advise` raises a false alarm, and how often it finds its drop, by simulation.

    python -m bench.statistics_thresholds --repeats 20000

Each question is right with a probability of its own, from a beta distribution. ``alarms`` is how often one more run of
the same model is below the threshold, beside the level that was asked for; ``found`` is how often a run of a model that
is worse by the promised drop is below it: 80 % of the time. With ``between``, each run is shifted by a normal amount of
this deviation, which no question explains.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np

from ais_prompt.metrics import threshold

CELLS: Final = tuple((questions, runs) for questions in (50, 200, 1000) for runs in (2, 3, 5, 10))
BETWEEN: Final = (0.0, 0.02)
LEVELS: Final = (0.05, 1 / 365)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20_000, help="simulations of each cell")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = np.random.default_rng(options.seed)
    print("questions  runs  between   level   alarms   found")
    for questions, runs in CELLS:
        for between in BETWEEN:
            for level in LEVELS:
                alarms, found = _rates(draw, questions, runs, between, level, options.repeats)
                print(f"{questions:9} {runs:5} {between:8.2f} {level:7.4f} {alarms:8.4f} {found:7.3f}", flush=True)


def _rates(
    draw: np.random.Generator, questions: int, runs: int, between: float, level: float, repeats: int
) -> tuple[float, float]:
    """Return how often one more run is below the threshold: of the same model, and of one that dropped."""
    alarms = found = 0
    for _ in range(repeats):
        rates = draw.beta(1.5, 0.7, questions)
        shifts = draw.normal(0, between, runs + 1)
        values = (draw.random((questions, runs + 1)) < np.clip(rates[:, None] + shifts, 0, 1)).astype(float)
        made = threshold(values[:, :runs], level)
        score = values[:, runs].mean()
        alarms += score < made.limit
        found += score - made.drop < made.limit
    return alarms / repeats, found / repeats


if __name__ == "__main__":
    main()
