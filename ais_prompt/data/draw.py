"""Draw some of the questions at random, so that their score says something about all of them (``sample``).

A question is drawn by a digest of its id and the seed, and the smallest digests are taken. So every model, machine and
format of the file has the same questions, their order does not matter, a larger draw holds the smaller one, and new
rows replace only as many of the drawn as they are a part of all rows.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from ais_prompt.data.reader import LazySamples
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.types import DrawSpec, ReaderSpec, Sample, Stratum
from ais_prompt.utils import canonical, listed, text_digest

_Z: Final = 1.96
_DIGITS: Final = 16


def drawn(samples: Sequence[Sample], columns: Sequence[str], spec: ReaderSpec) -> Sequence[Sample]:
    """Return the samples that ``sample`` of a `ReaderSpec` draws, in their own order.

    Args:
        samples: all of them; they are returned as they are if no fewer are to be drawn.
        columns: of the data.
        spec: with a draw.

    Raises:
        DataError: the data have no such column.
        ConfigError: there are more strata than questions to be drawn.
    """
    draw, where = spec.sample, f"{spec.where}.sample"
    assert draw is not None
    if draw.by is not None and draw.by not in columns:
        raise DataError(f"the data have no column {draw.by!r}", where=where, fix=f"columns are {listed(columns)}")
    size = number_drawn(draw, len(samples))
    if size >= len(samples):
        return samples
    order: list[str] = []
    names: list[str] = []
    for sample in samples:
        order.append(text_digest(f"{draw.seed} {sample.id}", _DIGITS))
        value = "" if draw.by is None else sample.fields[draw.by]
        names.append(value if isinstance(value, str) else canonical(value))
    strata = [Stratum(name, count) for name, count in sorted(Counter(names).items())]
    try:
        sizes = allot(size, [stratum.size for stratum in strata])
    except ValueError as error:
        what = f"{error}: {draw.by} has so many values"
        raise ConfigError(what, where=where, fix="draw more, or divide by another column") from None
    rows: dict[str, list[int]] = {stratum.name: [] for stratum in strata}
    for row, name in enumerate(names):
        rows[name].append(row)
    chosen = {
        row: stratum
        for stratum, count in zip(strata, sizes, strict=True)
        for row in heapq.nsmallest(count, rows[stratum.name], key=order.__getitem__)
    }
    return DrawnSamples(samples, {row: chosen[row] for row in sorted(chosen)})


def number_drawn(draw: DrawSpec, rows: int) -> int:
    """Return how many of ``rows`` questions are drawn.

    For a half width of the interval: as many as a share of one half needs, with the correction for a finite population
    (Cochran 1977, "Sampling Techniques", section 4.4).
    """
    if draw.size is not None:
        return min(draw.size, rows)
    assert draw.points is not None
    unlimited = (_Z / 2 / (draw.points / 100)) ** 2
    return math.ceil(unlimited / (1 + (unlimited - 1) / rows)) if rows else 0


def allot(total: int, sizes: Sequence[int]) -> list[int]:
    """Divide a number of questions among strata in proportion to their sizes, at least one for each.

    The highest quotients win, by the method of Webster: no stratum is given more than it has, and a larger total takes
    nothing away from any.

    Args:
        total: at most the sum of the sizes.
        sizes: of the strata, each at least 1.

    Raises:
        ValueError: there are more strata than questions.
    """
    if total < len(sizes):
        raise ValueError(f"{total} questions cannot have one of each of {len(sizes)} parts")
    counts = [1] * len(sizes)
    quotients = [(-size / 3, number) for number, size in enumerate(sizes)]
    heapq.heapify(quotients)
    for _ in range(total - len(sizes)):
        _, number = quotients[0]
        counts[number] += 1
        heapq.heapreplace(quotients, (-sizes[number] / (2 * counts[number] + 1), number))
    return counts


class DrawnSamples(LazySamples):
    """The drawn samples.

    Args:
        samples: all of them.
        strata: the position of each drawn sample → what it was drawn from, in the order of the samples.
    """

    def __init__(self, samples: Sequence[Sample], strata: Mapping[int, Stratum]) -> None:
        super().__init__([*strata])
        self._samples = samples
        self._strata = strata

    def made(self, row: int, index: int) -> Sample:
        """Return a drawn sample with its stratum."""
        return replace(self._samples[row], index=index, stratum=self._strata[row])
