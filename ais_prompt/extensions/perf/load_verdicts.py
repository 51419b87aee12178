"""What may be wrong with the numbers of a load, and whether its goals are met (SLOs).

Each question is a function with a verdict of one sentence. Nothing that the client did is hidden in a number about the
server. A verdict that does not hold says which number is not what it seems.

A request counts for a goal from the moment at which it was due where it has one (rates and traces): that is what a user
waits. Failures meet nothing, and are infinite in percentiles. An answer of one token has no TPOT and meets every goal
for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct, field

from ais_prompt.extensions.perf.counters import cache_hit_rate
from ais_prompt.extensions.perf.exchange import Exchange, Seconds
from ais_prompt.extensions.perf.intervals import Slope, independent_values, percentile_interval, slope
from ais_prompt.extensions.perf.load_files import StoredLoad
from ais_prompt.extensions.perf.metrics import (
    LEAST_BEYOND,
    SHORT_GAP,
    LoadTable,
    firm_p99,
    in_flight_steps,
    latencies,
    percentile,
    values_beyond,
)
from ais_prompt.extensions.perf.options import METRICS
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.extensions.perf.section import Slo
from ais_prompt.utils import counted, listed

MOST_LAG: Final = 0.005
"""Seconds that the event loop may be late, in 99 % of the ticks."""
MOST_CPU: Final = 0.8
"""Share of a core that the client may use."""
MOST_CLIENT_SHARE: Final = 0.05
"""The client may take this share of the median TTFT between a connection and the last byte of a request."""
MOST_LATE: Final = 0.010
"""Seconds that requests may be late, in 99 % of them; or `MOST_LATE_SHARE` of the mean interval, if that is more."""
MOST_LATE_SHARE: Final = 0.05
MOST_SHARE: Final = 0.05
"""Share of cached tokens, and of answers of another length than asked for, that goes without notice."""
MOST_DIFFERENCE: Final = 0.01
"""Median difference between the counts of server and tokenizer that goes without notice."""
MOST_GROWTH: Final = 0.2
"""Growth over the whole load, as a share of the mean, that goes without notice."""
MOST_TOKENS_PER_EVENT: Final = 1.2
MOST_SHORT_GAPS: Final = 0.2
"""Share of gaps between pieces that may be too short to be those of tokens."""
SLO: Final = "slo"
"""The name of the verdicts on goals."""
VALUES: Final = "values"
"""The verdict on percentiles with few values, which screens do not show."""
VOIDING: Final = ("client", "schedule", "places", "steady")
"""Verdicts without which no number of a load is one of the server at this load."""


class LoadVerdict(Struct, frozen=True):
    """The answer to one question about a load.

    Attributes:
        name: of the question, also for gates.
        holds: whether nothing is wrong.
        text: one sentence.
        values: the numbers behind it.
    """

    name: str
    holds: bool
    text: str
    values: Mapping[str, float] = field(default_factory=dict)


def load_verdicts(load: StoredLoad, table: LoadTable, goals: Goodput | None = None) -> list[LoadVerdict]:
    """Return the verdicts of a load, in a fixed order; each goal has a verdict ``slo`` of its own.

    Args:
        load: as it is stored, with at least one exchange.
        table: its numbers, of the stage ``total``.
        goals: whether its goals are met; None without goals.
    """
    return [*(verdict(load, table) for verdict in QUESTIONS), *map(slo_verdict, goals.slos if goals else ())]


def client_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:
    """Was the client the limit?"""
    client = load.client
    if client is None:
        return LoadVerdict("client", False, "the client's process was killed: whether it was the limit is not known")
    own = firm_p99(_client_seconds(load))
    first = table.distributions.get("ttft_seconds") or table.distributions.get("e2el_seconds")
    wait = first.percentiles["p50"] if first else 0.0
    causes = {
        f"its event loop was {_ms(client.lag_p99)} late (p99)": client.lag_p99 > MOST_LAG,
        f"it used {client.cpu_share:.0%} of a core": client.cpu_share > MOST_CPU,
        f"it took {_ms(own)} (p99) to send a request": bool(wait) and own > MOST_CLIENT_SHARE * wait,
    }
    values = {"lag_p99_seconds": client.lag_p99, "cpu_share": client.cpu_share, "client_p99_seconds": own}
    if found := [cause for cause, is_so in causes.items() if is_so]:
        text = f"CLIENT-BOUND: the numbers measure this machine: {listed(found)}"
        return LoadVerdict("client", False, text, values)
    text = f"the client was not the limit: {client.cpu_share:.0%} of a core, {_ms(client.lag_p99)} late (p99)"
    return LoadVerdict("client", True, text, values)


def schedule_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Were requests sent when they were due?"""
    schedule = load.plan.schedule
    planned = [one for one in load.exchanges if one.turn == 0]
    if not schedule.is_open or not planned:
        return LoadVerdict("schedule", True, "requests had no time of their own: each was sent when a place was free")
    late = np.array([one.start - one.due for one in planned])
    p50, p99, most = float(np.percentile(late, 50)), float(np.percentile(late, 99)), float(late.max())
    sent = sorted(one.start for one in planned)
    span = sent[-1]
    achieved = len(planned) / span if span > 0 else 0.0
    interval = 1 / schedule.rate if schedule.rate else 0.0
    holds = p99 <= max(MOST_LATE, MOST_LATE_SHARE * interval)
    rate = f"{achieved:.4g} of {schedule.rate:.4g} requests/s" if schedule.rate else f"{achieved:.4g} requests/s"
    text = f"requests were sent {_ms(p50)} (p50), {_ms(p99)} (p99), {_ms(most)} (most) after they were due; {rate}"
    values = {"late_p50_seconds": p50, "late_p99_seconds": p99, "late_max_seconds": most, "rate": achieved}
    return LoadVerdict("schedule", holds, text if holds else f"LATE: {text}", values)


def places_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:
    """Was a load that should not wait for the server held back by `max_concurrency`?"""
    schedule = load.plan.schedule
    if schedule.places is None or not schedule.is_open:
        text = "requests waited for no place" if schedule.places is None else "each place sent as fast as the server"
        return LoadVerdict("places", True, text)
    times, in_flight = in_flight_steps(load.exchanges)
    full = float(np.sum(np.diff(times)[in_flight[:-1] >= schedule.places]))
    share = full / table.seconds if table.seconds else 0.0
    if not share:
        return LoadVerdict("places", True, f"max_concurrency={schedule.places} was never reached", {"full": 0.0})
    text = f"max_concurrency={schedule.places} limited the rate for {share:.0%} of the time"
    return LoadVerdict("places", False, text, {"full": share})


def failures_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:
    """Was every request answered?"""
    kinds = Counter(one.failure for one in load.exchanges if one.failure is not None)
    planned = load.plan.schedule.requests
    stopped = f"; interrupted after {table.requests} of {planned}" if load.client and load.client.interrupted else ""
    values = {"failed": float(table.failed), "requests": float(table.requests)}
    if not kinds:
        return LoadVerdict("failures", not stopped, f"none of {table.requests} requests failed{stopped}", values)
    named = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    cut = f"; timeout={load.plan.timeout:g} s of the model cut some" if kinds["timeout"] and load.plan.timeout else ""
    text = f"{table.failed} of {table.requests} requests failed ({named}){cut}; they are in no latency{stopped}"
    return LoadVerdict("failures", False, text, values)


def tokens_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Where do numbers of tokens come from, and are they right?"""
    answered = [one for one in load.exchanges if one.failure is None]
    sources = Counter(one.output_source for one in answered)
    others = [source for source in sources if source != "usage"]
    if others:
        words = {"tokenizer": "counted with tokenizer_path", "events": "one for each event", "estimate": "estimated"}
        text = f"the server counts no tokens: those of answers are {listed([words[one] for one in others])}"
        return LoadVerdict("tokens", "tokenizer" in others and len(others) == 1, text)
    pairs = {
        "answers": [(one.output_tokens, one.counted_tokens) for one in answered],
        "prompts": [(one.input_tokens, one.counted_input) for one in answered if one.input_source == "usage"],
    }
    medians = {
        name: float(np.median(differences))
        for name, counts in pairs.items()
        if (differences := [_difference(told or 0, own) for told, own in counts if own])
    }
    if not medians:
        return LoadVerdict("tokens", True, "token counts are the server's; with tokenizer_path they would be checked")
    values = {f"median_difference_{name}": median for name, median in medians.items()}
    wrong = [
        f"{abs(median):.1%} {'more' if median > 0 else 'fewer'} tokens of {name}"
        for name, median in medians.items()
        if abs(median) > MOST_DIFFERENCE
    ]
    if wrong:
        return LoadVerdict("tokens", False, f"the server counts {listed(wrong)} than tokenizer_path", values)
    return LoadVerdict("tokens", True, "token counts of the server agree with tokenizer_path", values)


def lengths_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Are answers as long as was asked for?"""
    answered = [one for one in load.exchanges if one.failure is None and one.max_tokens and one.output_tokens]
    if not answered:
        return LoadVerdict("lengths", True, "nothing was asked of the length of answers")
    lengths = [((one.output_tokens or 0), one.max_tokens or 0) for one in answered]
    full = sum(length >= most for length, most in lengths) / len(lengths)
    longer = sum(length > most for length, most in lengths) / len(lengths)
    values = {"at_most_tokens": full, "longer": longer}
    if longer > MOST_SHARE:
        return LoadVerdict("lengths", False, f"{longer:.0%} of the answers are longer than max_out_len", values)
    if load.plan.ignores_eos and full < 1 - MOST_SHARE:
        text = f"ignore_eos is not obeyed: {1 - full:.0%} of the answers are shorter than max_out_len"
        return LoadVerdict("lengths", False, text, values)
    return LoadVerdict("lengths", True, f"{full:.0%} of the answers have all of max_out_len", values)


def cache_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Do prompts repeat, so that the server answers out of a cache?"""
    plan, answered = load.plan, [one for one in load.exchanges if one.failure is None]
    seen = Counter(one.sample_id for one in answered if one.turn == 0)
    repeated = 1 - len(seen) / seen.total() if seen else 0.0
    told = [one for one in answered if one.cached_tokens is not None and one.input_tokens]
    cached = sum(one.cached_tokens or 0 for one in told) / sum(one.input_tokens or 0 for one in told) if told else 0.0
    hits = cache_hit_rate(load.counters) or 0.0
    values = {"shared_prefix": plan.shared_prefix, "repeated": repeated, "cached": cached, "hits": hits}
    found = {
        f"the server took {cached:.0%} of the prompts' tokens from its cache": cached,
        f"its /metrics has {hits:.0%} of the prompts' tokens in the prefix cache": 0.0 if cached else hits,
        f"{repeated:.0%} of the prompts were sent before": 0.0 if plan.unique else repeated,
        f"{plan.shared_prefix:.0%} of the prompts' text is the beginning of earlier ones": plan.shared_prefix,
    }
    if causes := [cause for cause, share in found.items() if share > MOST_SHARE]:
        text = f"TTFT may include cache hits: {listed(causes)}; perf=dict(unique=True) prevents that"
        return LoadVerdict("cache", False, text, values)
    return LoadVerdict("cache", True, "prompts share no beginnings that a cache would find", values)


def warmup_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Was the server warm?"""
    count = load.plan.warmups
    if not count:
        return LoadVerdict("warmup", False, "there was no warm-up: the first requests may be slower")
    return LoadVerdict("warmup", True, f"{counted(count, 'warm-up request')} came first, with prompts of their own")


def values_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Are there values enough for the percentiles?"""
    thin = {name: found.thin for name, found in table.distributions.items() if found.thin}
    if not thin:
        return LoadVerdict(VALUES, True, "there are values enough for every percentile")
    percents = sorted({name for names in thin.values() for name in names})
    metrics = [METRICS[name] for name in METRICS if name in thin]
    text = f"{listed(percents)} of {listed(metrics)} rest on fewer than {LEAST_BEYOND} values"
    return LoadVerdict(VALUES, False, text)


def steady_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:
    """Does the server keep up, or does its queue grow?"""
    found = _slopes(load, table)
    if "ttft" not in found:
        return LoadVerdict("steady", True, "too few requests to see whether the server keeps up")
    values = {f"{name}_per_second": one.change for name, one in found.items()}
    grows = {name: one.interval[0] > 0 and one.share > MOST_GROWTH for name, one in found.items()}
    if not all(grows.values()):
        return LoadVerdict("steady", True, "nothing grows: the server keeps up", values)
    if "in_flight" in found:
        rate = found["in_flight"].change
        text = f"not steady: the queue grows by {rate:.3g} requests/s: this rate is above the server's capacity"
    else:
        text = f"not steady: the TTFT grows by {_ms(found['ttft'].change)} each second"
    return LoadVerdict("steady", False, text, values)


def _slopes(load: StoredLoad, table: LoadTable) -> dict[str, Slope]:
    """Return how TTFT and, in an open load, requests in flight change from the first answers to the last request."""
    schedule = load.plan.schedule
    latency = table.distributions.get("e2el_seconds")
    if latency is None:
        return {}
    metric = "ttft_seconds" if "ttft_seconds" in table.distributions else "e2el_seconds"
    starts = np.array([one.start for one in load.exchanges])
    waits = request_values(load.exchanges, schedule, metric)
    begin = starts.min() + latency.percentiles["p50"]  # before it the load only fills the server
    inside = np.isfinite(waits) & (starts >= begin)
    order = np.argsort(starts[inside], kind="stable")
    times = starts[inside][order]
    found = {"ttft": slope(times, waits[inside][order])}
    if schedule.is_open:
        changes, in_flight = in_flight_steps(load.exchanges)
        found["in_flight"] = slope(times, in_flight[np.searchsorted(changes, times, side="right") - 1])
    return {name: one for name, one in found.items() if one is not None}


def stream_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:
    """Does each event of a stream bring one token?"""
    if table.tokens_per_event is None:
        streamed = not table.answered or any(one.kinds for one in load.exchanges)
        text = "no answer has tokens" if streamed else "no answer was streamed: TTFT, TPOT and ITL need stream=True"
        return LoadVerdict("stream", streamed, text)
    short = table.short_gaps or 0.0
    values = {"tokens_per_event": table.tokens_per_event, "short_gaps": short}
    found = {
        f"an event has {table.tokens_per_event:.3g} tokens": table.tokens_per_event > MOST_TOKENS_PER_EVENT,
        f"{short:.0%} of the gaps are shorter than {_ms(SHORT_GAP)}": short > MOST_SHORT_GAPS,
    }
    if causes := [cause for cause, is_so in found.items() if is_so]:
        return LoadVerdict("stream", False, f"ITL is that of events, not of tokens: {listed(causes)}", values)
    return LoadVerdict("stream", True, "tokens came one by one", values)


def server_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Was it one model all the time, and did replicas share the load evenly?"""
    answered = [one for one in load.exchanges if one.failure is None]
    served = sorted({one.served for one in answered if one.served})
    if len(served) > 1:
        text = f"{len(served)} models or versions answered: {listed(served[:3])}"
        return LoadVerdict("server", False, text, {"served": float(len(served))})
    replicas = Counter(one.replica for one in answered if one.replica)
    name = served[0] if served else "a server that does not name its model"
    if len(replicas) < 2:
        return LoadVerdict("server", True, f"{name} answered")
    shares = {replica: count / replicas.total() for replica, count in sorted(replicas.items())}
    text = f"{name} answered, on {len(shares)} replicas: {listed([f'{share:.0%}' for share in shares.values()])}"
    uneven = max(shares.values()) > 2 * min(shares.values())
    return LoadVerdict("server", not uneven, text if not uneven else f"replicas got unequal loads: {text}", shares)


def bodies_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:  # noqa: ARG001
    """Were all requests alike but for what the rows say?"""
    digests = Counter(one.body for one in load.exchanges if one.body)
    if len(digests) > 1:
        text = f"requests have {len(digests)} different sets of options: compare only parts that have the same"
        return LoadVerdict("bodies", False, text, {"kinds": float(len(digests))})
    return LoadVerdict("bodies", True, "requests differ in prompt, length and seed only; _perf.json has the first one")


def slo_verdict(found: SloResult) -> LoadVerdict:
    """Is a goal met?"""
    if found.value is None:
        return LoadVerdict(
            SLO, False, f"{found.text}: no answer has this latency: TTFT needs stream=True, TPOT two tokens"
        )
    value = "infinite, since requests failed" if math.isinf(found.value) else _ms(found.value)
    ends = found.interval or ()
    shown = " to ".join("?" if math.isinf(end) else _ms(end) for end in ends)
    interval = f" (95 % interval {shown})" if shown else ""
    thin = "; few values are beyond it" if found.thin else ""
    text = f"{found.text}: it is {value}{interval}; {found.share:.1%} of all requests meet it{thin}"
    return LoadVerdict(SLO, found.met, text, {"value": found.value, "share": found.share})


QUESTIONS: Final[Sequence[Callable[[StoredLoad, LoadTable], LoadVerdict]]] = (
    client_verdict,
    schedule_verdict,
    places_verdict,
    failures_verdict,
    tokens_verdict,
    lengths_verdict,
    cache_verdict,
    warmup_verdict,
    values_verdict,
    steady_verdict,
    stream_verdict,
    server_verdict,
    bodies_verdict,
)


def _difference(told: int, counted: int) -> float:
    """Return how many more tokens the server counts, as a share; it may count the token that ends an answer."""
    return 0.0 if told - counted in (0, 1) else told / counted - 1


def _client_seconds(load: StoredLoad) -> Seconds:
    """Return the seconds of each request in which it waited for this client alone."""
    waits_for_place = load.plan.schedule.places is not None and load.plan.schedule.is_open

    def seconds(one: Exchange) -> float:
        turned = 0.0 if waits_for_place else one.taken - one.due
        sent = one.sent - one.connected if one.sent is not None and one.connected is not None else 0.0
        return turned + sent

    return np.array([seconds(one) for one in load.exchanges])


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"


class SloResult(Struct, frozen=True):
    """Whether one goal is met.

    Attributes:
        text: the goal as it was written.
        value: the percentile in seconds, or the largest value; infinite if failures decide it, None without values.
        interval: its 95 % interval; None of a goal for every request.
        met: whether it is at most the limit.
        share: of all requests that are within the limit.
        thin: whether too few values are beyond the percentile.
    """

    text: str
    value: float | None
    interval: tuple[float, float] | None
    met: bool
    share: float
    thin: bool = False


class Goodput(Struct, frozen=True):
    """Requests that meet all limits.

    Attributes:
        requests_per_second: how many, over the length of the load.
        share: of all requests, failures included.
        slos: each goal.
    """

    requests_per_second: float
    share: float
    slos: Sequence[SloResult]

    @property
    def met(self) -> bool:
        """Whether all goals are met."""
        return all(one.met for one in self.slos)


def goodput(exchanges: Sequence[Exchange], schedule: Schedule, table: LoadTable, slos: Sequence[Slo]) -> Goodput | None:
    """Return which requests of a load meet the goals; None without goals.

    Args:
        exchanges: at least one.
        schedule: of the load.
        table: its numbers, of the stage ``total``.
        slos: the goals.
    """
    if not slos:
        return None
    exchanges = sorted(exchanges, key=lambda one: one.start)
    values = {metric: request_values(exchanges, schedule, metric) for metric in {one.metric for one in slos}}
    good = np.ones(len(exchanges), bool)
    for slo in slos:
        good &= ~(values[slo.metric] > slo.limit)  # NaN: no value, nothing to miss
    share = float(good.mean())
    per_second = int(good.sum()) / table.seconds if table.seconds else 0.0
    return Goodput(per_second, share, [_result(slo, values[slo.metric]) for slo in slos])


def request_values(exchanges: Sequence[Exchange], schedule: Schedule, metric: str) -> Seconds:
    """Return a latency of each request in seconds: infinite after a failure, NaN if it has none."""
    return np.array(
        [
            math.inf if one.failure is not None else latencies(one, one.due if schedule.is_open else one.start)[metric]
            for one in exchanges
        ]
    )


def _result(slo: Slo, values: Seconds) -> SloResult:
    share = float((~(values > slo.limit)).mean())
    known = values[~np.isnan(values)]  # in the order of their time
    ordered = np.sort(known)
    if not len(ordered):
        return SloResult(slo.text, None, None, met=False, share=share)
    if slo.percent is None:
        return SloResult(slo.text, float(ordered[-1]), None, met=bool(ordered[-1] <= slo.limit), share=share)
    value = percentile(ordered, slo.percent)
    thin = values_beyond(len(ordered), slo.percent) < LEAST_BEYOND
    independent = independent_values((known <= value).astype(np.float64), np.ones(len(known)))
    interval = percentile_interval(ordered, slo.percent, independent)
    return SloResult(slo.text, value, interval, met=value <= slo.limit, share=share, thin=thin)
