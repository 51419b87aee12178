"""How often the 95 % intervals of a load's latencies hold the truth, by simulation of a queue (M/M/c).

    python -m bench.statistics_loads                   # both tables, in about ten minutes
    python -m bench.statistics_loads single --repeats 100

Requests come at random times to a server with so many places, which is busy for the share of the time that
``busy`` says; it is idle at first. ``single`` is one load: the coverage of the mean and of percentiles of the latency,
beside that of intervals for independent requests ("before"), and how often an end is unknown. ``pairs`` are two loads
of one server with the same arrivals: how often a ratio of percentiles seems to differ from 1. In ``alike`` the requests
need the same time in both, up to 10 %, as answers of the same length do.

The truth is the value over all simulated loads of that length. A load in which the queue is longer than the load shows
cannot know it: with a utilisation of .9 and 200 requests, no interval covers as often as it says.
"""

from __future__ import annotations

import argparse
import heapq
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.perf.compared_loads import COMPARED, percentile_ratio_interval
from ais_prompt.extensions.perf.intervals import Z, percentile_interval
from ais_prompt.extensions.perf.metrics import distribution

Values = NDArray[np.float64]

PLACES: Final = (1, 8)
UTILISATIONS: Final = (0.5, 0.8, 0.9)
REQUESTS: Final = (200, 1000, 4000)
SHOWN: Final = (50, 90, 99)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["single", "pairs", []], help="tables to print; all by default")
    parser.add_argument("--repeats", type=int, default=300, help="loads of each setting")
    options = parser.parse_args()
    for name in options.what or ("single", "pairs"):
        (single if name == "single" else pairs)(np.random.default_rng(0), options.repeats)


def single(draw: np.random.Generator, repeats: int) -> None:
    """Coverage of the intervals of one load."""
    print(
        "one load\nplaces  busy  requests",
        "  before: mean   p50   p90   p99   after: mean   p50   p90   p99",
        "  p99 unknown",
    )
    for places in PLACES:
        for busy in UTILISATIONS:
            for n in REQUESTS:
                loads = [latencies(*_requests(draw, n, places, busy), places) for _ in range(repeats)]
                whole = np.concatenate(loads)
                truth = [float(whole.mean()), *np.percentile(whole, SHOWN).tolist()]
                before = np.mean([_held(_independent(one), truth) for one in loads], axis=0)
                found = [_blocks(one) for one in loads]
                after = np.mean([_held(one, truth) for one in found], axis=0)
                unknown = np.mean([not all(map(math.isfinite, one[-1])) for one in found])
                columns = [" ".join(f"{share:5.2f}" for share in side) for side in (before, after)]
                print(f"{places:6} {busy:5} {n:9} {columns[0]:>31} {columns[1]:>30} {unknown:13.2f}", flush=True)


def pairs(draw: np.random.Generator, repeats: int) -> None:
    """How often two loads of one server seem to differ."""
    print("\ntwo loads\nplaces  busy  requests  kind    different: p50   p99   unknown: p50   p99")
    for places in PLACES:
        for busy in UTILISATIONS:
            for n in REQUESTS:
                for kind in ("other", "alike"):
                    false, unknown = np.zeros(len(COMPARED)), np.zeros(len(COMPARED))
                    for _ in range(repeats):
                        arrivals, first = _requests(draw, n, places, busy)
                        second = (
                            draw.exponential(1, n) if kind == "other" else first * np.exp(draw.normal(-0.005, 0.1, n))
                        )
                        sides = [latencies(arrivals, times, places) for times in (first, second)]
                        for place, percent in enumerate(COMPARED):
                            ends = percentile_ratio_interval(sides[0], sides[1], percent, np.arange(n))
                            unknown[place] += ends is None
                            false[place] += ends is not None and not ends[0] <= 1 <= ends[1]
                    shares = " ".join(f"{share:5.2f}" for share in false / repeats)
                    left = " ".join(f"{share:5.2f}" for share in unknown / repeats)
                    print(f"{places:6} {busy:5} {n:9}  {kind:6} {shares:>21} {left:>21}", flush=True)


def latencies(arrivals: Values, times: Values, places: int) -> Values:
    """Return how long each request takes, with its wait for one of the places."""
    free = [0.0] * places
    found = np.empty(len(arrivals))
    for number, (arrival, needed) in enumerate(zip(arrivals.tolist(), times.tolist(), strict=True)):
        end = max(heapq.heappop(free), arrival) + needed
        heapq.heappush(free, end)
        found[number] = end - arrival
    return found


def _requests(draw: np.random.Generator, n: int, places: int, busy: float) -> tuple[Values, Values]:
    """Return when requests arrive, and how long each needs."""
    return np.cumsum(draw.exponential(1 / (busy * places), n)), draw.exponential(1, n)


def _blocks(values: Values) -> list[tuple[float, float]]:
    found = distribution(values).intervals
    return [found[name] for name in ("mean", *(f"p{percent}" for percent in SHOWN))]


def _independent(values: Values) -> list[tuple[float, float]]:
    mean, half = float(values.mean()), Z * float(values.std(ddof=1)) / math.sqrt(len(values))
    return [(mean - half, mean + half), *(percentile_interval(np.sort(values), percent) for percent in SHOWN)]


def _held(intervals: list[tuple[float, float]], truth: list[float]) -> list[bool]:
    return [low <= value <= high for (low, high), value in zip(intervals, truth, strict=True)]


if __name__ == "__main__":
    main()
