"""How often one of several equally good prompts is called better, and how much luck is in the score of the best.

    python -m bench.statistics_variants --repeats 1000

All prompts are equally good on average; a question is as hard for each, and a prompt has luck of its own with it.
``better`` is how often `compare --variants` calls the best better than any other: at most 5 % of the time. ``plain`` is
the same without the correction for the number of prompts. ``luck`` is what the score of the best is too high, beside
the ``optimism`` that is printed. ``held`` is how often the interval of `--holdout 0.5` has the true score: 95 %.
``power`` is how often a prompt that is 12 points better is called better than all others.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.variants.compared_variants import together
from ais_prompt.extensions.variants.selection import held_out, optimism
from ais_prompt.metrics import LEVEL, mean_difference

CELLS: Final = ((200, 2), (200, 6), (200, 20), (1000, 6))
TRUE: Final = 0.6
BETTER: Final = 0.12


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000, help="simulations of each cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--prompts", type=int, help="only the rows with so many prompts")
    options = parser.parse_args()
    draw = np.random.default_rng(options.seed)
    print("questions  prompts   plain  better    luck  optimism    held   power")
    for questions, prompts in CELLS:
        if options.prompts not in (None, prompts):
            continue
        shares = np.mean([_once(draw, questions, prompts) for _ in range(options.repeats)], axis=0)
        print(f"{questions:9} {prompts:8} " + " ".join(f"{share:7.4f}" for share in shares), flush=True)


def _once(draw: np.random.Generator, questions: int, prompts: int) -> tuple[float, ...]:
    scores = _scores(draw, questions, np.full(prompts, TRUE))
    best = int(np.argmax(scores.mean(axis=0)))
    p = _least_p(scores, best)
    corrected = _corrected(scores, best)
    ids = [str(draw.integers(1 << 62)) for _ in range(questions)]
    held = held_out(scores, ids, 0.5, 1.0)
    assert held is not None
    luck = scores[:, best].mean() - TRUE
    one_better = _scores(draw, questions, np.array([TRUE + BETTER, *[TRUE] * (prompts - 1)]))
    power = one_better.mean(axis=0).argmax() == 0 and max(_corrected(one_better, 0)) < LEVEL
    covers = held.ci95_low <= TRUE <= held.ci95_high
    return p < LEVEL, min(corrected) < LEVEL, luck, optimism(scores, ids), covers, power


def _scores(draw: np.random.Generator, questions: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores of 0 and 1 that vary together over the prompts; shape (questions, prompts)."""
    hard = draw.beta(1.2, 1.2, size=(questions, 1))
    own = draw.beta(1.2, 1.2, size=(questions, len(shares)))
    # Ranks of the sum are as good as uniform numbers, so that each prompt is right as often as its share says.
    mixed = 0.7 * hard + 0.3 * own
    ends = np.quantile(0.7 * draw.beta(1.2, 1.2, 100_000) + 0.3 * draw.beta(1.2, 1.2, 100_000), shares)
    return (mixed < ends).astype(float)


def _p(scores: NDArray[np.float64], one: int, other: int) -> float:
    found = mean_difference((scores[:, one] - scores[:, other]).tolist())
    return found.p if found.value > 0 else 1.0


def _corrected(scores: NDArray[np.float64], best: int) -> list[float]:
    """Return the p-values of the best prompt against the others, as `compare --variants` corrects them."""
    return [p for p, _ in together(scores, [str(number) for number in range(len(scores))], best)]


def _least_p(scores: NDArray[np.float64], best: int) -> float:
    """Return the p-value of the best prompt against the prompt that it beats most clearly."""
    return min(_p(scores, best, other) for other in range(scores.shape[1]) if other != best)


if __name__ == "__main__":
    main()
