"""How often the 95 % interval of a drawn sample holds the score of the whole set, by simulation.

    python -m bench.statistics_draws                   # all tables, in about ten minutes
    python -m bench.statistics_draws one --repeats 4000

The answers to all ``N`` questions of a set are fixed; ``n`` of them are drawn again and again, and the coverage is the
part of the draws whose interval holds the mean of all. "no correction" is the interval of questions without end, with
its width in units of ours. Questions in clusters of ten are alike (a cluster is right with a chance of its own), strata
differ by up to 40 points. ``few`` draws one to three questions of each stratum. Aim: at least .93 in the mean over the
shares, and .90 at least.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ais_prompt.data import allot
from ais_prompt.metrics import mean_scores
from ais_prompt.scoring import score_row, with_averages
from ais_prompt.types import SampleScore, Stratum, SummaryEntry, SummaryGroup

SHARES: Final = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
SETS: Final = ((50, 20), (100, 90), (1000, 50), (1000, 200), (14_042, 200), (1000, 800))
"""Questions of the set, and how many are drawn."""
GROUPS: Final = ((3, 60), (3, 200), (10, 100), (57, 57), (57, 200), (57, 1000))
"""Datasets of a group, and how many questions are drawn of all."""
STRATA: Final = (2, 5, 20)
FEW: Final = ((200, 2), (200, 3), (500, 5), (300, 10), (1000, 20))
"""Questions of the set, and strata of which one to three questions are drawn."""
CLUSTER: Final = 10


class Held(NamedTuple):
    """Whether the interval held the truth, and half of its width; the same without the correction."""

    ours: bool
    width: float
    naive: bool
    naive_width: float


def main() -> None:
    """Print the tables."""
    tables = {"one": one_set, "strata": strata, "few": few, "groups": groups}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*tables, []], help="tables to print; all by default")
    parser.add_argument("--repeats", type=int, default=400, help="draws of each share")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.what or tables:
        tables[name](np.random.default_rng(options.seed), options.repeats)


def one_set(draw: np.random.Generator, repeats: int) -> None:
    """Draw from one set, whose questions are right or wrong, alike in clusters, or rated from 0 to 1."""
    print("one set\n     N     n  values      mean  least  (at)   no correction: mean  width")
    kinds: dict[str, Callable[[float, int], NDArray[np.float64]]] = {
        "right": lambda share, size: draw.permutation(np.arange(size) < round(share * size)).astype(float),
        "clusters": lambda share, size: _clusters(draw, share, size),
        "rated": lambda share, size: np.round(draw.beta(share * 3, (1 - share) * 3, size), 2),
    }
    for size, n in SETS:
        for kind, values_of in kinds.items():
            found = []
            for share in SHARES:
                values = values_of(share, size)
                found.append([_held(values, np.zeros(size, int), draw, [n]) for _ in range(repeats)])
            print(f"{size:6} {n:5}  {kind:9} {_summary(found)}", flush=True)


def strata(draw: np.random.Generator, repeats: int) -> None:
    """Draw from strata of one set in proportion to their sizes, which differ."""
    print("\nstrata of one set\n     N     n  strata    mean  least  (at)   no correction: mean  width")
    for size, n in SETS:
        for count in (count for count in STRATA if count <= n):
            found = []
            for share in SHARES:
                stratum, chance = _divided(draw, share, size, count)
                values = (draw.random(size) < chance).astype(float)
                counts = allot(n, np.bincount(stratum, minlength=count).clip(1).tolist())
                found.append([_held(values, stratum, draw, counts) for _ in range(repeats)])
            print(f"{size:6} {n:5}  {count:6} {_summary(found)}", flush=True)


def few(draw: np.random.Generator, repeats: int) -> None:
    """Draw one to three questions of each stratum, which are right or wrong, or rated from 0 to 1."""
    print("\nfew of each stratum\n     N  strata  drawn  values    mean  least  (at)   no correction: mean  width")
    for size, count in FEW:
        for n in (each * count for each in (1, 2, 3) if each * count > 2):
            for kind in ("right", "rated"):
                found = []
                for share in SHARES:
                    stratum, chance = _divided(draw, share, size, count)
                    values = (draw.random(size) < chance).astype(float)
                    if kind == "rated":
                        chance = chance.clip(0.01, 0.99)
                        values = np.round(draw.beta(chance * 3, (1 - chance) * 3), 2)
                    counts = allot(n, np.bincount(stratum, minlength=count).clip(1).tolist())
                    found.append([_held(values, stratum, draw, counts) for _ in range(repeats)])
                print(f"{size:6} {count:7} {n:6}  {kind:6} {_summary(found)}", flush=True)


def _divided(
    draw: np.random.Generator, share: float, size: int, count: int
) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """Return the stratum of each question, and how likely it is answered right."""
    stratum = draw.choice(count, size, p=np.arange(1, count + 1) / np.arange(1, count + 1).sum())
    return stratum, np.clip(share + np.linspace(-0.2, 0.2, count), 0.0, 1.0)[stratum]


def groups(draw: np.random.Generator, repeats: int) -> None:
    """Draw from the datasets of a group, whose sizes and scores differ, for their plain and their weighted average."""
    print("\ngroups of datasets\n  sets     n  average     mean  least  (at)")
    for count, n in GROUPS:
        held: dict[str, list[float]] = {"naive_average": [], "weighted_average": []}
        for share in SHARES:
            sizes = draw.integers(30, 500, count)
            own = draw.beta(8 * share, 8 * (1 - share), count)
            sets = [(draw.random(size) < chance).astype(float) for size, chance in zip(sizes, own, strict=True)]
            truth = {
                "naive_average": float(np.mean([values.mean() for values in sets])),
                "weighted_average": float(np.concatenate(sets).mean()),
            }
            counts = allot(n, sizes.tolist())
            hits = dict.fromkeys(held, 0)
            for _ in range(max(repeats // 4, 100)):
                for name, (low, high) in _average(sets, counts, draw).items():
                    hits[name] += low - 1e-12 <= truth[name] <= high + 1e-12
            for name, hit in hits.items():
                held[name].append(hit / max(repeats // 4, 100))
        for name, found in held.items():
            worst = SHARES[int(np.argmin(found))]
            print(f"{count:6} {n:5}  {name:16} {np.mean(found):.3f}  {min(found):.3f}  {worst:5}", flush=True)


def _average(
    sets: Sequence[NDArray[np.float64]], counts: Sequence[int], draw: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Return the intervals of both averages over datasets of which so many questions are drawn."""
    rows, questions = [], {}
    for number, (values, n) in enumerate(zip(sets, counts, strict=True)):
        chosen = draw.choice(values, n, replace=False)
        stratum = None if n == len(values) else Stratum("", len(values))
        scores = [
            SampleScore(f"{number} {index}", "scored", values={"accuracy": float(value)}, stratum=stratum)
            for index, value in enumerate(chosen)
        ]
        row = score_row(f"d{number}", "m", mean_scores(["accuracy"], scores)[0])
        rows.append(row)
        questions[row] = [(score.sample_id, score.values["accuracy"]) for score in scores]
    group = SummaryGroup("all", tuple(SummaryEntry(row.dataset) for row in rows), weights="n")
    found = {}
    for row in with_averages(rows, [group], questions.__getitem__)[len(rows) :]:
        assert row.metric is not None
        assert row.ci95_low is not None
        assert row.ci95_high is not None
        found[row.metric] = row.ci95_low, row.ci95_high
    return found


def _clusters(draw: np.random.Generator, share: float, size: int) -> NDArray[np.float64]:
    chances = np.repeat(draw.beta(share, 1 - share, size // CLUSTER + 1), CLUSTER)[:size]
    return (draw.random(size) < chances).astype(float)


def _held(
    values: NDArray[np.float64], stratum: NDArray[np.int_], draw: np.random.Generator, counts: Sequence[int]
) -> Held:
    """Draw so many questions of each stratum once."""
    truth = float(values.mean())
    drawn = []
    for number, n in enumerate(counts):
        own = values[stratum == number]
        if len(own):
            drawn.append((len(own), np.sort(draw.choice(own, n, replace=False)).tobytes()))
    (low, high), (naive_low, naive_high) = _intervals(tuple(drawn))
    return Held(
        low - 1e-12 <= truth <= high + 1e-12,
        high - low,
        naive_low <= truth <= naive_high,
        naive_high - naive_low,
    )


@lru_cache(100_000)
def _intervals(drawn: tuple[tuple[int, bytes], ...]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the interval of drawn values, and that of as many out of very many; draws often have the same values.

    Args:
        drawn: size and drawn values of each stratum.
    """
    scores = [
        SampleScore("", "scored", values={"a": value}, stratum=Stratum(str(number), size))
        for number, (size, values) in enumerate(drawn)
        for value in np.frombuffer(values).tolist()
    ]
    bare = [SampleScore("", "scored", values=score.values) for score in scores]
    ours, theirs = (mean_scores(["a"], each)[0].interval for each in (scores, bare))
    return ours or (0.0, 1.0), theirs or (0.0, 1.0)


def _summary(found: Sequence[Sequence[Held]]) -> str:
    ours = [float(np.mean([one.ours for one in each])) for each in found]
    naive = float(np.mean([one.naive for each in found for one in each]))
    wider = float(np.mean([one.naive_width / one.width for each in found for one in each if one.width]))
    return f"{np.mean(ours):6.3f} {min(ours):6.3f}  {SHARES[int(np.argmin(ours))]:5}   {naive:18.3f}  {wider:5.2f}"


if __name__ == "__main__":
    main()
