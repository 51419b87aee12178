"""What ``--json`` says of loads, beside what the documents of ``run`` and ``compare`` have already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

Value: TypeAlias = float | int | str | None


class ToolSection(Struct, frozen=True):
    """One table.

    Attributes:
        title: of the table.
        rows: name → its values; None where a column means nothing for it.
        columns: titles of the values; empty for tables of names and one value each.
    """

    title: str
    rows: Mapping[str, Sequence[Value]]
    columns: Sequence[str] = ()


class Ratio(Struct, frozen=True):
    """How a number of a load changed.

    Attributes:
        metric: its name with its unit, as in ``_perf.json``; ``ttft_seconds_p99``.
        before, after: of the requests that both have answered; of a throughput, of all requests.
        ratio: ``after / before``; None if ``before`` is 0.
        interval: its 95 % interval; None for a throughput, and where the loads are too short to show it.
        n: pairs of values.
        thin: whether fewer than `perf.metrics.LEAST_BEYOND` values are beyond the percentile.
    """

    metric: str
    before: float
    after: float
    ratio: float | None
    interval: tuple[float, float] | None = None
    n: int = 0
    thin: bool = False


class LoadComparison(Struct, frozen=True):
    """Two loads.

    Attributes:
        common: requests that both have answered.
        ratios: of latencies, then of throughputs.
        notes: how the loads themselves differ, which the ratios then show too.
    """

    common: int
    ratios: Sequence[Ratio]
    notes: Sequence[str]


class ScoreFields(Struct, kw_only=True):
    """Of ``score`` and ``merge``, which are of one form with ``run``.

    Attributes:
        tables: task → the tables of another tool, with ``--as``; a number for each column.
    """

    tables: dict[str, list[ToolSection]] = field(default_factory=dict)


class RunFields(ScoreFields, kw_only=True):
    """Of ``run``.

    Attributes:
        tables: task → the tables of another tool, with ``--as``; a number for each column.
        loads: of several loads, the metrics of each.
        best_rate: the largest request rate that met all goals, with ``--find-rate``; null if none did.
        best_rate_is_least: whether the server may take more than that.
    """

    loads: list[dict[str, Any]] = field(default_factory=list)
    best_rate: str | None = None
    best_rate_is_least: bool = False


class CompareFields(Struct, kw_only=True):
    """Of ``compare``.

    Attributes:
        loads: of each task that both runs have measured with ``-m perf``.
        load_notes: why loads cannot be compared.
    """

    loads: dict[str, LoadComparison] = field(default_factory=dict)
    load_notes: list[str] = field(default_factory=list)
