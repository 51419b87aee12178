"""The questions that are asked if not all are, as they are: some drawn at random, or spoiled on purpose.

`drawn` draws some of them, so that their score says something about all of them (``sample``). A question is drawn by a
digest of its id and the seed, and the smallest digests are taken. So every model, machine and format of the file has
the same questions, their order does not matter, a larger draw holds the smaller one, and new rows replace only as many
of the drawn as they are a part of all rows.

`spoil` spoils them (``control``): a score above chance shows what can be answered without reading them. Ids stay those
of the questions as they are, so that the answers pair with those of an ordinary run.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from string import ascii_uppercase
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.data.reader import LazySamples
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.types import ControlSpec, DrawSpec, ReaderSpec, Sample, Stratum
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
    _check_columns([draw.by] if draw.by is not None else [], columns, where)
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


def _check_columns(named: Sequence[str], columns: Sequence[str], where: str) -> None:
    for column in named:
        if column not in columns:
            raise DataError(f"the data have no column {column!r}", where=where, fix=f"columns are {listed(columns)}")


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


def spoil(samples: Sequence[Sample], columns: Sequence[str], spec: ReaderSpec) -> Sequence[Sample]:
    """Return the samples as ``control`` of a `ReaderSpec` asks for them.

    Args:
        samples: as they are.
        columns: of the data.
        spec: with a control.

    Raises:
        DataError: the data have no such column, or more than half of the rows share the values to be swapped.
    """
    control, where = spec.control, f"{spec.where}.control"
    assert control is not None
    _check_columns(control.columns, columns, where)
    partners = _partners(samples, control, where) if control.type == "swap" else ()
    return SpoiledSamples(samples, spec, partners)


class SpoiledSamples(LazySamples):
    """The spoiled samples.

    Args:
        samples: as they are.
        spec: with a control.
        partners: position → position of the sample that the columns are taken from, if they are swapped.
    """

    def __init__(self, samples: Sequence[Sample], spec: ReaderSpec, partners: Sequence[int]) -> None:
        super().__init__(range(len(samples)))
        self._samples = samples
        self._spec = spec
        self._partners = partners

    def made(self, row: int, index: int) -> Sample:
        """Return a spoiled sample.

        Raises:
            DataError: the gold of a sample is none of its options.
        """
        control, sample = self._spec.control, self._samples[row]
        assert control is not None
        if control.type == "shuffle":
            return replace(self._shuffled(sample, control), index=index)
        if control.type == "swap":
            other = self._samples[self._partners[row]].fields
            changed = {name: other[name] for name in control.columns}
        else:
            changed = {name: [] if isinstance(sample.fields[name], list) else "" for name in control.columns}
        return replace(sample, index=index, fields={**sample.fields, **changed})

    def _shuffled(self, sample: Sample, control: ControlSpec) -> Sample:
        columns, values = control.columns, [sample.fields[name] for name in control.columns]
        in_list = len(columns) == 1 and isinstance(values[0], list)
        options = values[0] if in_list else values
        order = list(range(len(options)))
        random.Random(f"{control.seed} {sample.id}").shuffle(order)
        moved = [options[number] for number in order]
        fields = {**sample.fields, **({columns[0]: moved} if in_list else dict(zip(columns, moved, strict=True)))}
        gold = self._moved_gold(sample, options, () if in_list else columns, order)
        if self._spec.output_column is not None:
            fields[self._spec.output_column] = gold
        return replace(sample, fields=fields, gold=gold)

    def _moved_gold(self, sample: Sample, options: Sequence[Any], columns: Sequence[str], order: Sequence[int]) -> Any:
        """Return the gold of shuffled options: the same text, or the new letter, column or number of its option.

        Raises:
            DataError: the gold names no option.
        """
        gold = sample.gold
        letters = ascii_uppercase[: len(options)]
        if gold in columns:
            return columns[order.index(columns.index(gold))]
        if gold is None or gold in options:
            return gold
        if isinstance(gold, str) and len(gold) == 1 and gold in letters:
            return letters[order.index(letters.index(gold))]
        if type(gold) is int and 0 <= gold - self._first < len(options):
            return order.index(gold - self._first) + self._first
        what = f"the options of sample {sample.id} cannot be shuffled: its gold {gold!r} is none of them"
        fix = "name the columns of the options, in the order of their letters"
        raise DataError(what, where=f"{self._spec.where}.control", fix=fix)

    @cached_property
    def _first(self) -> int:
        """The number of the first option: 1, unless a gold is 0."""
        return int(all(sample.gold != 0 for sample in self._samples))


def _partners(samples: Sequence[Sample], control: ControlSpec, where: str) -> list[int]:
    """Return for each position another one whose columns have other values.

    Rows with equal values, such as the questions about one passage, stand together in a random order; a rotation by the
    largest group leads each row to another group.

    Raises:
        DataError: a group has more than half of the rows.
    """
    groups: dict[str, list[int]] = {}
    for position, sample in enumerate(samples):
        groups.setdefault(canonical([sample.fields[name] for name in control.columns]), []).append(position)
    largest = max(map(len, groups.values()), default=0)
    if 2 * largest > len(samples):
        what = f"{largest} of {len(samples)} rows have the same {listed(control.columns)}, too many to swap"
        raise DataError(what, where=where, fix="name another column, or use type='blank'")
    members = list(groups.values())
    random.Random(control.seed).shuffle(members)
    order = [position for group in members for position in group]
    found = [0] * len(order)
    for place, position in enumerate(order):
        found[position] = order[(place + largest) % len(order)]
    return found
