"""How often a claim such as ``accuracy >= 80% @95%`` is made although it is false, by simulation.

    python -m bench.statistics_claims --repeats 1000

Units are clusters of questions, or questions that were asked several times. Each unit is right with a probability of
its own, drawn from a beta distribution around the true share; ``alike`` is the correlation of two answers in a unit. A
claim is false where the lower end of the one-sided 95 % interval is above the true share: in 5 % at most. ``short`` is
how far the end is below the true share, in the mean.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np

from ais_prompt.metrics import low_end

SHARES: Final = (0.5, 0.7, 0.9, 0.95, 0.98)
ALIKE: Final = (0.0, 0.1, 0.3, 0.7)
CELLS: Final = (
    *((clusters, questions, 1) for clusters in (5, 10, 20, 50) for questions in (4, 20)),
    *((questions, 1, repeats) for questions, repeats in ((20, 4), (20, 8), (20, 64), (100, 8))),
)
"""Units, questions of each unit, and answers to each question."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000, help="simulations of each share")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = np.random.default_rng(options.seed)
    print("units  questions  answers  alike   false: mean  most  (at)   short")
    for units, questions, answers in CELLS:
        for alike in ALIKE:
            found = [_found(draw, share, units, questions, answers, alike, options.repeats) for share in SHARES]
            false, short = zip(*found, strict=True)
            at = SHARES[int(np.argmax(false))]
            print(
                f"{units:5} {questions:10} {answers:8} {alike:6.1f} {np.mean(false):13.3f} {max(false):5.3f}"
                f"  {at:4} {np.mean(short):8.3f}",
                flush=True,
            )


def _found(
    draw: np.random.Generator, share: float, units: int, questions: int, answers: int, alike: float, repeats: int
) -> tuple[float, float]:
    """Return how often a claim is false, and how far its end is below the true share in the mean."""
    ends = []
    for _ in range(repeats):
        scale = (1 - alike) / alike if alike else 0.0
        hard = draw.beta(share * scale, (1 - share) * scale, units) if alike else np.full(units, share)
        right = draw.binomial(answers, hard[:, None], (units, questions)) / answers
        end = low_end([(str(unit), float(value)) for unit, row in enumerate(right) for value in row], 0.95)
        assert end is not None
        ends.append(end)
    return float(np.mean(np.array(ends) > share + 1e-9)), share - float(np.mean(ends))


if __name__ == "__main__":
    main()
