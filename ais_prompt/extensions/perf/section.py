"""``perf`` of a config: how the performance of servers is measured."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from ais_prompt.config import ConfigSection, Faults, KeyTable, SectionForm
from ais_prompt.errors import ConfigError
from ais_prompt.types import Count, Key, as_list

_SLO: Final = re.compile(
    r"(?:p(?P<percent>\d{1,2}(?:\.\d+)?)\s+)?(?P<metric>\w+)\s*<=?\s*(?P<limit>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>m?s)?",
    re.IGNORECASE,
)
_SLO_METRICS: Final = {"ttft": "ttft_seconds", "tpot": "tpot_seconds", "e2el": "e2el_seconds"}
_SLO_FIX: Final = "write 'p99 ttft <= 2s', 'p90 tpot <= 50ms', or 'e2el <= 10s' for every request"
STATS: Final = ("Average", "Min", "Max", "Median", "P75", "P90", "P99")
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
POSITIVE: Final = "a number above 0"
Positive: TypeAlias = Annotated[float, Meta(gt=0)]


class Slo(Struct, frozen=True):
    """A goal for a latency.

    Attributes:
        text: the goal as the user wrote it.
        metric: ``ttft_seconds``, ``tpot_seconds`` or ``e2el_seconds``.
        limit: the largest value that is good enough, in seconds.
        percent: the share of requests that must be within the limit, 99 for p99; None for every request.
    """

    text: str
    metric: str
    limit: float
    percent: float | None = None


class PerfSpec(Struct, frozen=True):
    """How `-m perf` measures the performance of a server.

    Attributes:
        load: `closed`, `users`, `rate`, `trace` or `pressure`.
        open_loop: send requests of a `rate` or `trace` when they are due, however many are in flight; `False`:
            `max_concurrency` limits them too.
        seed: of the intervals, and of `unique`.
        time_scale: 2 sends a trace twice as fast.
        users: of `load='users'`, each of whom asks again after a pause.
        think_seconds: the pause of `load='users'`.
        unique: begin every prompt with a line of its own, against prefix caches.
        warmups: requests before the load; `--num-warmups`.
        pressure_seconds: length of `load='pressure'`; `--pressure-time`.
        stage: what the tables of AISBench are about: `total`, or `stable`: the requests that start while all places
            are taken.
        stats: the statistics of these tables: `Average`, `Min`, `Max`, `Median`, `P1` to `P99`; at most 8.
        duration: no request starts after so many seconds, and rows are asked again until then; `--duration`.
        grace: seconds after `duration` until requests in flight are cut, and failed; `--grace`.
        slo: goals for latencies, such as `'p99 ttft <= 2s'`; `--slo`.
        spec_decode: write the counters of speculative decoding, in the form of AISBench; `--spec-decode`.
        probe: each second, time a request for one token beside the load.
    """

    load: Annotated[
        Literal["closed", "users", "rate", "trace", "pressure"] | None,
        Key("'closed', 'users', 'rate', 'trace' or 'pressure'", "by the options of the model"),
    ] = None
    open_loop: Annotated[bool, Key()] = True
    seed: Annotated[int, Key()] = 0
    time_scale: Annotated[Positive, Key(POSITIVE)] = 1.0
    users: Annotated[Count | None, Key("a number from 1", "`max_concurrency`")] = None
    think_seconds: Annotated[Seconds, Key("a number of seconds from 0")] = 1.0
    unique: Annotated[bool, Key()] = False
    warmups: Annotated[Annotated[int, Meta(ge=0)], Key("a number from 0")] = 1
    pressure_seconds: Annotated[Positive, Key(POSITIVE)] = 15.0
    stage: Annotated[Literal["total", "stable"], Key("'total' or 'stable'")] = "total"
    stats: Annotated[tuple[str, ...], Key("a list of names", "seven of them")] = STATS
    duration: Annotated[Positive | None, Key(POSITIVE, "each row is asked once")] = None
    grace: Annotated[Seconds, Key("a number of seconds from 0")] = 30.0
    slo: Annotated[tuple[Slo, ...], Key("a list of texts")] = ()
    spec_decode: Annotated[bool, Key()] = False
    probe: Annotated[bool, Key()] = False


def parse_slo(text: Any, where: str) -> Slo:
    """Parse one goal for a latency.

    Raises:
        ConfigError: it is none.
    """
    found = _SLO.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise ConfigError(f"{text!r} is no goal for a latency", where=where, fix=_SLO_FIX)
    metric = _SLO_METRICS.get(found["metric"].lower().removesuffix("_seconds"))
    percent = None if found["percent"] is None else float(found["percent"])
    limit = float(found["limit"]) * (0.001 if (found["unit"] or "s").lower() == "ms" else 1)
    if metric is None:
        raise ConfigError(f"{found['metric']!r} is not ttft, tpot or e2el", where=where, fix=_SLO_FIX)
    if percent == 0 or not limit:
        raise ConfigError(f"{text!r}: percentile and limit must be more than 0", where=where, fix=_SLO_FIX)
    return Slo(text.strip(), metric, limit, percent)


def _parse(top: ConfigSection) -> PerfSpec:
    """Parse ``perf`` of a config, and the ``calculator`` of a summarizer of AISBench; note faults."""
    values: dict[str, Any] = {}
    summarizer = top.values.get("summarizer")
    calculator = summarizer.get("calculator") if isinstance(summarizer, Mapping) else None
    if isinstance(calculator, Mapping):
        values["stage"] = "stable" if "Stable" in str(calculator.get("type")) else "total"
        values |= {"stats": calculator["stats_list"]} if calculator.get("stats_list") else {}
    written = top.values.get("perf")
    section = ConfigSection.open({} if written is None else written, "perf", top.faults)
    if section is None:
        return PerfSpec()
    return (
        ConfigSection({**values, **section.values}, "perf", top.faults).read(PerfSpec, {"slo": _parse_slos})
        or PerfSpec()
    )


def _parse_slos(value: Any, where: str, faults: Faults) -> tuple[Slo, ...]:
    slos = []
    for number, text in enumerate(as_list(value)):
        try:
            slos.append(parse_slo(text, f"{where}[{number}]"))
        except ConfigError as error:
            faults.add(error.what, error.where, error.fix)
    return tuple(slos)


FORM: Final = SectionForm(KeyTable("perf", "perf", PerfSpec), _parse)
