"""``perf`` of a config: how the performance of servers is measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct, ValidationError, convert

from ais_prompt.config import ConfigSection, Key, KeyTable, SectionForm, shown
from ais_prompt.errors import ConfigError

_SLO: Final = re.compile(
    r"(?:p(?P<percent>\d{1,2}(?:\.\d+)?)\s+)?(?P<metric>\w+)\s*<=?\s*(?P<limit>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>m?s)?",
    re.IGNORECASE,
)
_SLO_METRICS: Final = {"ttft": "ttft_seconds", "tpot": "tpot_seconds", "e2el": "e2el_seconds"}
_SLO_FIX: Final = "write 'p99 ttft <= 2s', 'p90 tpot <= 50ms', or 'e2el <= 10s' for every request"

PERF: Final = KeyTable(
    "perf",
    "perf",
    "How `-m perf` measures the performance of a server.",
    (
        Key("load", "text", "`closed`, `users`, `rate`, `trace` or `pressure`", "by the options of the model"),
        Key("open_loop", "True or False", "`False`: `max_concurrency` limits a `rate` or `trace` too", "`True`"),
        Key("seed", "number", "of the intervals", "`0`"),
        Key("time_scale", "number", "2 sends a trace twice as fast", "`1.0`"),
        Key("users", "number", "of `load='users'`, each of whom asks again after a pause", "`max_concurrency`"),
        Key("think_seconds", "number", "the pause of `load='users'`", "`1.0`"),
        Key("unique", "True or False", "begin every prompt with a line of its own, against prefix caches", "`False`"),
        Key("warmups", "number", "requests before the load; `--num-warmups`", "`1`"),
        Key("pressure_seconds", "number", "length of `load='pressure'`; `--pressure-time`", "`15.0`"),
        Key("stage", "text", "`total`, or `stable`: the requests that start while all places are taken", "`'total'`"),
        Key("stats", "list of names", "`Average`, `Min`, `Max`, `Median`, `P1` to `P99`; at most 8", "seven of them"),
        Key("duration", "number", "no request starts after so many seconds; `--duration`", "each row is asked once"),
        Key("grace", "number", "seconds after `duration` until requests in flight are cut; `--grace`", "`30.0`"),
        Key("spec_decode", "True or False", "write the counters of speculative decoding; `--spec-decode`", "`False`"),
        Key("probe", "True or False", "each second, time a request for one token beside the load", "`False`"),
        Key("slo", "list of texts", "goals for latencies, such as `'p99 ttft <= 2s'`; `--slo`", "none"),
    ),
)


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
    """``perf`` of a config: how a server's performance is measured (``-m perf``).

    Attributes:
        load: the kind of load; None decides by the model: ``trace`` with ``use_timestamp``, ``rate`` with a
            ``request_rate``, else ``closed``.
        open_loop: whether requests of a rate or trace are sent when they are due, however many are in flight; else
            ``max_concurrency`` limits them.
        seed: of the intervals, and of ``unique``.
        time_scale: 2 sends a trace twice as fast.
        users, think_seconds: number of ``users`` and pause of each after an answer; without a number it is
            ``max_concurrency``.
        unique: begin every prompt with a line of its own, so that a prefix cache finds nothing.
        warmups: requests before the load.
        pressure_seconds: length of a load of the kind ``pressure``.
        stage: what the tables of AISBench are about: ``total``, or ``stable`` for the time with all places taken.
        stats: the statistics of these tables.
        duration: no request starts after so many seconds, and rows are asked again until then; None asks each row once.
        grace: with ``duration``: seconds after it in which requests in flight may end; then they are cut, and failed.
        slo: goals for latencies.
        spec_decode: write what the servers count of speculative decoding, in the form of AISBench.
        probe: send a request for one token beside the load each second, and report its times.
    """

    load: Literal["closed", "users", "rate", "trace", "pressure"] | None = None
    open_loop: bool = True
    seed: int = 0
    time_scale: float = 1.0
    users: int | None = None
    think_seconds: float = 1.0
    unique: bool = False
    warmups: int = 1
    pressure_seconds: float = 15.0
    stage: Literal["total", "stable"] = "total"
    stats: tuple[str, ...] = ("Average", "Min", "Max", "Median", "P75", "P90", "P99")
    duration: float | None = None
    grace: float = 30.0
    slo: tuple[Slo, ...] = ()
    spec_decode: bool = False
    probe: bool = False


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
    if top.values.get("perf") is not None and (section := top.section("perf")) is not None:
        section.refuse_unknown(PERF)
        values |= {name: section.values[name] for name in PERF.names if name in section.values}
    slos = []
    try:
        texts = values.pop("slo", None) or ()
        for number, text in enumerate([texts] if isinstance(texts, str) else texts):
            slos.append(parse_slo(text, f"perf.slo[{number}]"))
    except ConfigError as error:
        top.fault("perf", f"{error.where}: {error.what}", error.fix)
    except TypeError:
        top.fault("perf", f"slo cannot be {shown(texts)}", "write a list of texts")
    try:
        spec = convert(values | {"slo": slos}, PerfSpec)
    except ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        key = path.strip("`$.") or "perf"
        top.fault(
            "perf", f"{key} cannot be {shown(values.get(key))}: {what[:1].lower()}{what[1:]}", f"set another {key}"
        )
        return PerfSpec()
    given = [one for one in (spec.users, spec.duration) if one is not None]
    positive = (spec.time_scale, spec.pressure_seconds, *given)
    if min(positive) <= 0 or min(spec.warmups, spec.think_seconds, spec.grace) < 0:
        what = (
            "time_scale, pressure_seconds, users and duration must be more than 0, "
            "warmups, think_seconds and grace at least 0"
        )
        top.fault("perf", what, "set another value")
    return spec


FORM: Final = SectionForm(PERF, _parse)
