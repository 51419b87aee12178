"""Several loads of one model: points of a sweep, repeated runs, the search for the largest rate. Nothing is sent here.

A point is one value of one option, such as ``concurrency=4``. Its runs have a folder each below ``loads/`` of the run
folder, a run folder of its own: ``01-concurrency=4``, or ``01-concurrency=4-run2`` if every point is repeated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.load_verdicts import LoadVerdict
from ais_prompt.extensions.perf.metrics import LoadTable
from ais_prompt.extensions.perf.schedule import LEAST_RATE, MOST_RATE
from ais_prompt.utils import listed

ALIASES: Final = {"concurrency": "max_concurrency"}
CLOSE_ENOUGH: Final = 1.05
"""The search ends when the rate that fails is at most this much above the rate that passes."""
MOST_HALVINGS: Final = 5
"""How often the first rate is halved until a search gives up."""
OF_CLIENT: Final = ("client", "schedule")
"""Verdicts on this machine, not on the server."""
LEAST_POINTS: Final = 3
"""Fewest points that have a knee."""
LATER: Final = 1.5
"""How much larger a latency beyond the knee must be, so that the knee is not chance."""
_FOLDER: Final = re.compile(r"(?P<number>\d+)(?:-(?P<setting>[^=]+=.*?))?(?:-run(?P<run>\d+))?")
_SPREAD: Final = (
    ("ttft_seconds", "p50"),
    ("tpot_seconds", "p50"),
    ("e2el_seconds", "p50"),
    ("output_tokens_per_second", ""),
)
"""Numbers whose spread between runs is compared with their intervals."""


class Setting(Struct, frozen=True):
    """One value of one option of the models.

    Attributes:
        option: its name; ``concurrency`` is ``max_concurrency``.
        text: the value as it was written.
    """

    option: str
    text: str

    def __str__(self) -> str:
        return f"{self.option}={self.text}"

    @property
    def key(self) -> str:
        """The name of the option in a config."""
        return ALIASES.get(self.option, self.option)

    @property
    def value(self) -> Any:
        """The value in a config: a number, True, False, None, or a text."""
        words = {"True": True, "False": False, "None": None}
        if self.text in words:
            return words[self.text]
        for kind in (int, float):
            try:
                return kind(self.text)
            except ValueError:
                continue
        return self.text


class PointRun(Struct, frozen=True):
    """One load.

    Attributes:
        number: of the point, from 1.
        setting: what is set; None where loads are only repeated.
        run: from 1; 0 if no point is repeated.
    """

    number: int
    setting: Setting | None = None
    run: int = 0

    @property
    def folder_name(self) -> str:
        """The name of its folder."""
        setting = "" if self.setting is None else f"-{quote(str(self.setting), safe='=.,+_')}"
        return f"{self.number:02}{setting}{f'-run{self.run}' if self.run else ''}"

    @property
    def point(self) -> str:
        """The setting in words; empty without one."""
        return "" if self.setting is None else str(self.setting)

    @property
    def title(self) -> str:
        """Point and run in words."""
        return " ".join(word for word in (self.point, f"run {self.run}" if self.run else "") if word)

    @classmethod
    def of_folder(cls, name: str) -> PointRun | None:
        """Read the name of a folder; None if it is not that of a load."""
        if not (found := _FOLDER.fullmatch(name)):
            return None
        option, _, text = unquote(found["setting"] or "").partition("=")
        return cls(int(found["number"]), Setting(option, text) if option else None, int(found["run"] or 0))


def read_sweep(text: str, *further: str) -> list[Setting]:
    """Read ``concurrency=1,4,16``.

    Args:
        text: the sweep.
        further: other sweeps, which are refused: one load is measured after the other.

    Raises:
        ConfigError: it is not in this form, or has a value twice, or there is another sweep.
    """
    if further:
        raise ConfigError("loads have one sweep", where=f"--sweep {further[0]}", fix="give --sweep once with -m perf")
    option, _, values = text.partition("=")
    settings = [Setting(option.strip(), value.strip()) for value in values.split(",")]
    if not option.strip().isidentifier() or not all(one.text for one in settings):
        what = f"{text!r} is no sweep"
        raise ConfigError(what, where="--sweep", fix="write 'concurrency=1,4,16' or 'request_rate=1,2,4'")
    if len({one.value for one in settings}) < len(settings):
        raise ConfigError(f"{text!r} has a value twice", where="--sweep", fix="--runs 3 repeats every load")
    return settings


def knee(rates: Sequence[float], latencies: Sequence[float]) -> int | None:
    """Return the place of the point with the most throughput for its latency: more load costs more than it brings.

    Source: Kleinrock 1979, "Power and Deterministic Rules of Thumb for Probabilistic Problems in Computer
    Communications". None where the points do not show it: fewer than three of them, none whose latency is much larger,
    or none with less throughput.

    Args:
        rates: throughput of each point.
        latencies: latency of each point in the same order, infinite if nothing was answered.
    """
    if len(rates) < LEAST_POINTS or not max(rates):
        return None
    powers = [rate / latency if latency else 0.0 for rate, latency in zip(rates, latencies, strict=True)]
    found = max(range(len(powers)), key=powers.__getitem__)
    is_reached = max(latencies) >= LATER * latencies[found]
    return found if is_reached and rates[found] > min(rates) else None


def runs_verdict(tables: Sequence[LoadTable]) -> LoadVerdict:
    """Are runs of one load as alike as the intervals of each say?

    Args:
        tables: of each run, at least two.
    """
    found: dict[str, float] = {}
    for metric, name in _SPREAD:
        pairs = [_value(table, metric, name) for table in tables]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(tables):
            continue
        values = [value for value, _ in known]
        width = sum(ends[1] - ends[0] for _, ends in known) / len(known)
        if width > 0:
            found[f"{metric}_{name}".strip("_")] = (max(values) - min(values)) / width
    if not found:
        return LoadVerdict("runs", True, f"{len(tables)} runs have too few requests for intervals")
    wide = {name: ratio for name, ratio in found.items() if ratio > 1}
    if wide:
        words = [f"{name} differs by {ratio:.2g} × its interval" for name, ratio in wide.items()]
        return LoadVerdict("runs", False, f"{len(tables)} runs are less alike than one shows: {listed(words)}", found)
    widest = max(found.values())
    text = f"{len(tables)} runs differ by at most {widest:.2g} × the interval of one"
    return LoadVerdict("runs", True, text, found)


def _value(table: LoadTable, metric: str, name: str) -> tuple[float, tuple[float, float]] | None:
    """Return a number and its interval; None without a finite interval."""
    if name:
        distribution = table.distributions.get(metric)
        ends = distribution.intervals.get(name) if distribution else None
        value = distribution.percentiles[name] if distribution else 0.0
    else:
        ends, value = table.intervals.get(metric), float(getattr(table, metric))
    return None if ends is None or not all(map(math.isfinite, ends)) else (value, ends)


def misses(result: LoadResult) -> list[str]:
    """Return why a load does not pass a search: verdicts that do not hold; nothing if it passes.

    A load passes if every request was answered, all goals are met, and the client was not the limit: so a search never
    ends at what the client can send without saying it.
    """
    needed = ("failures", "slo", *OF_CLIENT)
    return list(dict.fromkeys(one.name for one in result.verdicts if one.name in needed and not one.holds))


def ends_at_client(result: LoadResult) -> bool:
    """Return whether this machine was the limit of a load, so that the server may take more."""
    return not set(misses(result)).isdisjoint(OF_CLIENT)


def search_rate(start: float) -> Generator[float, bool, None]:
    """Search the largest rate that passes: yield a rate, and take whether it passes.

    The rate is doubled while it passes (halved, until one passes), then the gap is halved on a logarithmic scale until
    it is `CLOSE_ENOUGH`. The result is the largest rate that passed: it was tested, it is not interpolated.

    Args:
        start: the first rate, in requests a second.
    """
    low: float | None = None
    high: float | None = None
    rate, halvings = start, 0
    while low is None or high is None:
        if (yield rate):
            low, rate = rate, 2 * rate
        else:
            high, rate, halvings = rate, rate / 2, halvings + 1
        if rate > MOST_RATE or rate < LEAST_RATE or halvings > MOST_HALVINGS:
            return
    while high / low > CLOSE_ENOUGH:
        rate = float(f"{math.sqrt(low * high):.4g}")
        if (yield rate):
            low = rate
        else:
            high = rate
