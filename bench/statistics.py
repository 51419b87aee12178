"""How often the 95 % intervals of scores hold the true value, by simulation.

    python -m bench.statistics                                       # all tables
    python -m bench.statistics datasets --repeats 4000 --sizes 20 50 # one table, with few questions
    python -m bench.statistics --repeats 200 --sizes 20 100 --shares .02 .3 .9 .99  # all tables in 20 minutes

A question is right with a probability of its own, drawn from a beta distribution around the dataset's share; ``alike``
is the correlation of two answers to one question (0: all questions are equally hard). Each share is simulated anew, and
the coverage is the part of the simulations whose interval holds it. "textbook" is mean ± 1.96 standard errors, cut at 0
and 1. Aim: mean coverage over all shares at least .94, and least at least .90. With 400 repeats the standard error of a
figure is .015, and the least of many is too low: measure it again with 1,500.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ais_prompt.metrics import (
    Part,
    Z,
    exact_mean,
    group_spread,
    largest_variance,
    mean_interval,
    noise_of_k,
    pass_at_k,
    pass_hat_k,
    spread_of,
    spread_of_questions,
    wilson_interval,
)
from ais_prompt.types import Spread

Values: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[float, float]
Shares: TypeAlias = Sequence[float]

SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995)
SIZES: Final = (20, 50, 100, 300, 1000)
ANSWERS: Final = (1, 4, 8)
ALIKE: Final = (0.0, 0.3, 0.7)
CLUSTERS: Final = (5, 10, 20, 50)
CLUSTER_SIZES: Final = (4, 20)
SETS: Final = (3, 10, 57)
TRIES: Final = ((4, 2), (8, 2), (8, 4), (8, 8), (10, 5))
"""Answers to a question, and k of pass@k and pass^k."""


def main() -> None:
    """Print the tables."""
    tables = {"datasets": datasets, "passes": passes, "clusters": clusters, "groups": groups}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*tables, []], help="tables to print; all by default")
    parser.add_argument("--repeats", type=int, default=1000, help="simulations of each share")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="questions of a dataset")
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, help="true values")
    options = parser.parse_args()
    for name in options.what or tables:
        tables[name](np.random.default_rng(options.seed), options.repeats, options.sizes, options.shares)


def datasets(draw: np.random.Generator, repeats: int, sizes: Sequence[int], shares: Shares) -> None:
    """Simulate the accuracy of one dataset, with one answer to a question or several."""
    print("one dataset\n     n   k  alike   mean  least  (at)   textbook: mean  least")
    for n in sizes:
        for k in ANSWERS:
            for alike in ALIKE if k > 1 else (0.0,):
                found = [_coverage(_sets(draw, [share], n, k, alike, repeats), share) for share in shares]
                print(f"{n:6} {k:3} {alike:6.1f} {_summary(found, shares)}", flush=True)


def passes(draw: np.random.Generator, repeats: int, sizes: Sequence[int], shares: Shares) -> None:
    """Simulate pass@k and pass^k of one dataset."""
    print("\npass@k and pass^k of one dataset\n     n   N   k  alike   mean  least  (at)")
    for n in sizes:
        for answers, k in TRIES:
            for alike in ALIKE:
                for measure, sign in ((pass_at_k, "@"), (pass_hat_k, "^")):
                    held = [_pass_coverage(draw, measure, share, n, answers, k, alike, repeats) for share in shares]
                    print(f"{n:6} {answers:3} {sign}{k:2} {alike:6.1f} {_mean_and_least(held, shares)}", flush=True)


def clusters(draw: np.random.Generator, repeats: int, sizes: Sequence[int], shares: Shares) -> None:
    """Simulate questions in clusters, such as those about one passage."""
    print("\nclusters of one dataset\nclusters  questions of each  alike   mean  least  (at)")
    for units in (count for count in CLUSTERS if count <= max(sizes)):
        for size in CLUSTER_SIZES:
            for alike in (0.1, *ALIKE[1:]):
                held = [_cluster_coverage(draw, share, units, size, alike, repeats) for share in shares]
                print(f"{units:8} {size:18} {alike:6.1f} {_mean_and_least(held, shares)}", flush=True)


def groups(draw: np.random.Generator, repeats: int, sizes: Sequence[int], shares: Shares) -> None:
    """Simulate averages over datasets, whose shares are spread around the one of the group."""
    print("\ngroup of datasets\n  sets   n   k   mean  least  (at)   textbook: mean  least")
    for sets in SETS:
        for n in (size for size in (20, 100, 300) if size <= max(sizes)):
            for k in (1, 8):
                found = []
                for share in shares:
                    own = np.random.default_rng(7).beta(30 * share, 30 * (1 - share), sets)
                    many = _sets(draw, own, n, k, 0.3, max(repeats // sets, 400))
                    found.append(_coverage(many, float(own.mean())))
                print(f"{sets:6} {n:4} {k:3} {_summary(found, shares)}", flush=True)


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


def _cluster_coverage(
    draw: np.random.Generator, share: float, units: int, size: int, alike: float, repeats: int
) -> float:
    """Return how often the interval of a mean over clusters of questions holds its true value."""
    held = 0
    for [right] in _sets(draw, [share], units, size, alike, repeats):
        # Each cluster has as many right answers as its share says; their order does not matter.
        values = np.arange(size) < np.round(right * size)[:, None]
        questions = [(str(unit), float(value)) for unit, row in enumerate(values) for value in row]
        spread = spread_of_questions(questions, float(right.mean()))
        assert spread is not None
        low, high = mean_interval(float(right.mean()), spread, 1.0)
        held += low - 1e-12 <= share <= high + 1e-12
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
    if len(sets) == 1:
        return _interval(np.sort(sets[0]).tobytes(), least)
    parts = [Part(1 / len(sets), float(values.mean()), _spread(values, least)) for values in sets]
    return mean_interval(exact_mean([part.mean for part in parts]), group_spread(parts), 1.0)


@lru_cache(100_000)
def _interval(sorted_values: bytes, least: float) -> Interval:
    """Return the interval of one dataset; simulations near 0 and 1 often give the same values."""
    values = np.frombuffer(sorted_values)
    if np.isin(values, (0.0, 1.0)).all():
        return wilson_interval(float(values.sum()), len(values))
    return mean_interval(exact_mean(values.tolist()), _spread(values, least), 1.0)


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


def _mean_and_least(held: Sequence[float], shares: Shares) -> str:
    return f"{np.mean(held):6.3f} {min(held):6.3f}  {shares[int(np.argmin(held))]:5}"


def _summary(found: Sequence[tuple[float, float]], shares: Shares) -> str:
    ours, textbook = zip(*found, strict=True)
    return f"{_mean_and_least(ours, shares)}   {np.mean(textbook):14.3f} {min(textbook):6.3f}"


if __name__ == "__main__":
    main()
