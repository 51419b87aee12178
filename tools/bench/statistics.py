"""How often the 95 % intervals of scores hold the true value, by simulation.

    python -m tools.bench.statistics            # single datasets, pass@k and pass^k, and groups
    python -m tools.bench.statistics --repeats 4000 --sizes 20 50 --sets    # only these sizes, and no groups

A question is right with a probability of its own, drawn from a beta distribution around the dataset's share; ``alike``
is the correlation of two answers to one question (0: all questions are equally hard). Each share is simulated anew, and
the coverage is the part of the simulations whose interval holds it. "textbook" is mean ± 1.96 standard errors, cut at 0
and 1. Aim: mean coverage over all shares .94 to .97, least at least .89.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ais_prompt.metrics.aggregate import exact_mean
from ais_prompt.metrics.interval import (
    Part,
    Z,
    group_spread,
    largest_variance,
    mean_interval,
    spread_of,
    wilson_interval,
)
from ais_prompt.metrics.repeated import noise_of_k, pass_at_k, pass_hat_k
from ais_prompt.types import Spread

Values: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[float, float]

SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995)
SIZES: Final = (20, 50, 100, 300, 1000)
ANSWERS: Final = (1, 4, 8)
ALIKE: Final = (0.0, 0.3, 0.7)
SETS: Final = (3, 10, 57)
TRIES: Final = ((4, 2), (8, 2), (8, 4), (8, 8), (10, 5))
"""Answers to a question, and k of pass@k and pass^k."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000, help="simulations of each share")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="questions of a single dataset")
    parser.add_argument("--sets", type=int, nargs="*", default=SETS, help="datasets of a group")
    options = parser.parse_args()
    draw = np.random.default_rng(options.seed)
    print("one dataset\n     n   k  alike   mean  least  (at)   textbook: mean  least")
    for n in options.sizes:
        for k in ANSWERS:
            for alike in ALIKE if k > 1 else (0.0,):
                found = [_coverage(_sets(draw, [share], n, k, alike, options.repeats), share) for share in SHARES]
                print(f"{n:6} {k:3} {alike:6.1f} {_summary(found)}", flush=True)
    print("\npass@k and pass^k of one dataset\n     n   N   k  alike   mean  least  (at)")
    for n in options.sizes:
        for answers, k in TRIES:
            for alike in ALIKE:
                for measure, sign in ((pass_at_k, "@"), (pass_hat_k, "^")):
                    held = [
                        _pass_coverage(draw, measure, share, n, answers, k, alike, options.repeats) for share in SHARES
                    ]
                    at = SHARES[int(np.argmin(held))]
                    print(
                        f"{n:6} {answers:3} {sign}{k:2} {alike:6.1f} {np.mean(held):6.3f} {min(held):6.3f}  {at:5}",
                        flush=True,
                    )
    print("\ngroup of datasets, spread around the share\n  sets   n   k   mean  least  (at)   textbook: mean  least")
    for sets in options.sets:
        for n in (20, 100, 300):
            for k in (1, 8):
                found = []
                for share in SHARES:
                    shares = np.random.default_rng(7).beta(30 * share, 30 * (1 - share), sets)
                    many = _sets(draw, shares, n, k, 0.3, max(options.repeats // sets, 100))
                    found.append(_coverage(many, float(shares.mean())))
                print(f"{sets:6} {n:4} {k:3} {_summary(found)}", flush=True)


def _sets(
    draw: np.random.Generator, shares: Sequence[float] | Values, n: int, k: int, alike: float, repeats: int
) -> Iterator[Values]:
    """Yield the means of the answers to each question; shape (datasets, n)."""
    for _ in range(repeats):
        yield draw.binomial(k, _hard(draw, shares, n, alike if k > 1 else 0.0)) / k


def _hard(draw: np.random.Generator, shares: Sequence[float] | Values, n: int, alike: float) -> Values:
    """Return how likely an answer to each question is right; shape (datasets, n)."""
    hard = np.repeat(np.asarray(shares)[:, None], n, axis=1)
    if not alike:
        return hard
    scale = (1 - alike) / alike
    return draw.beta(np.maximum(hard * scale, 1e-9), np.maximum((1 - hard) * scale, 1e-9))


def _pass_coverage(
    draw: np.random.Generator,
    measure: Callable[[int, int, int], float],
    share: float,
    n: int,
    answers: int,
    k: int,
    alike: float,
    repeats: int,
) -> float:
    """Return how often the interval of pass@k or pass^k holds its true value."""
    values = np.array([measure(answers, right, k) for right in range(answers + 1)])
    noises = np.array([noise_of_k(measure, answers, right, k) for right in range(answers + 1)])
    [hard] = _hard(draw, [share], 100_000, alike)
    truth = float(np.mean(hard**k if measure is pass_hat_k else 1 - (1 - hard) ** k))
    held = 0
    for _ in range(repeats):
        [right] = draw.binomial(answers, _hard(draw, [share], n, alike))
        low, high = _ours(values[right][None], float(noises[right].sum()) / n**2)
        held += low - 1e-12 <= truth <= high + 1e-12
    return held / repeats


def _coverage(simulations: Iterator[Values], truth: float) -> tuple[float, float]:
    """Return how often our interval, and that of the textbook, holds the truth."""
    held = [(_holds(_ours, sets, truth), _holds(_textbook, sets, truth)) for sets in simulations]
    ours, textbook = np.mean(held, axis=0)
    return float(ours), float(textbook)


def _holds(interval_of: Callable[[Values], Interval], sets: Values, truth: float) -> bool:
    low, high = interval_of(sets)
    return low - 1e-12 <= truth <= high + 1e-12


def _ours(sets: Values, least: float = 0.0) -> Interval:
    if len(sets) == 1 and np.isin(sets, (0.0, 1.0)).all():
        return wilson_interval(float(sets.sum()), sets.shape[1])
    parts = [Part(1 / len(sets), float(values.mean()), _spread(values, least)) for values in sets]
    return mean_interval(exact_mean([part.mean for part in parts]), group_spread(parts), 1.0)


def _spread(values: Values, least: float) -> Spread:
    mean, n = float(values.mean()), len(values)
    largest = largest_variance(mean, 1.0, [1 / n] * n)
    binary = bool(np.isin(values, (0.0, 1.0)).all())
    spread = spread_of(((values - mean) / n).tolist(), binary, largest, least)
    assert spread is not None
    return spread


def _textbook(sets: Values) -> Interval:
    mean = float(sets.mean())
    stderr = float(np.sqrt((sets.var(axis=1, ddof=1) / sets.shape[1]).sum()) / len(sets))
    return max(mean - Z * stderr, 0.0), min(mean + Z * stderr, 1.0)


def _summary(found: Sequence[tuple[float, float]]) -> str:
    ours, textbook = zip(*found, strict=True)
    at = SHARES[int(np.argmin(ours))]
    return f"{np.mean(ours):6.3f} {min(ours):6.3f}  {at:5}   {np.mean(textbook):14.3f} {min(textbook):6.3f}"


if __name__ == "__main__":
    main()
