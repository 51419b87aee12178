"""What may be wrong with the numbers of a load: each question is a function with a verdict of one sentence.

Nothing that the client did is hidden in a number about the server. A verdict that does not hold says which number is
not what it seems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct, field

from ais_prompt.perf.exchange import Exchange, Seconds
from ais_prompt.perf.files import StoredLoad
from ais_prompt.perf.metrics import LEAST_BEYOND, METRICS, LoadTable, in_flight_steps
from ais_prompt.utils.text import counted, listed

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


def load_verdicts(load: StoredLoad, table: LoadTable) -> list[LoadVerdict]:
    """Return the verdicts of a load, in a fixed order.

    Args:
        load: as it is stored, with at least one exchange.
        table: its numbers, of the stage ``total``.
    """
    return [verdict(load, table) for verdict in QUESTIONS]


def client_verdict(load: StoredLoad, table: LoadTable) -> LoadVerdict:
    """Was the client the limit?"""
    client = load.client
    if client is None:
        return LoadVerdict("client", False, "the client's process was killed: whether it was the limit is not known")
    own = float(np.percentile(_client_seconds(load), 99))
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
    if schedule.kind not in ("rate", "trace") or not planned:
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
    if schedule.places is None or schedule.kind not in ("rate", "trace"):
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
    text = f"{table.failed} of {table.requests} requests failed ({named}); they are in no latency{stopped}"
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
    differences = [_difference(one.output_tokens or 0, one.counted_tokens) for one in answered if one.counted_tokens]
    if not differences:
        return LoadVerdict("tokens", True, "token counts are the server's; with tokenizer_path they would be checked")
    median = float(np.median(differences))
    values = {"median_difference": median, "checked": float(len(differences))}
    if abs(median) > 0.01:
        text = f"the server counts {abs(median):.1%} {'more' if median > 0 else 'fewer'} tokens than tokenizer_path"
        return LoadVerdict("tokens", False, text, values)
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
    values = {"shared_prefix": plan.shared_prefix, "repeated": repeated, "cached": cached}
    found = {
        f"the server took {cached:.0%} of the prompts' tokens from its cache": cached,
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
        return LoadVerdict("values", True, "there are values enough for every percentile")
    percents = sorted({name for names in thin.values() for name in names})
    metrics = [METRICS[name] for name in METRICS if name in thin]
    text = f"{listed(percents)} of {listed(metrics)} rest on fewer than {LEAST_BEYOND} values"
    return LoadVerdict("values", False, text)


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
)


def _difference(told: int, counted: int) -> float:
    """Return how many more tokens the server counts, as a share; it may count the token that ends an answer."""
    return 0.0 if told - counted in (0, 1) else told / counted - 1


def _client_seconds(load: StoredLoad) -> Seconds:
    """Return the seconds of each request in which it waited for this client alone."""
    waits_for_place = load.plan.schedule.places is not None and load.plan.schedule.kind in ("rate", "trace")

    def seconds(one: Exchange) -> float:
        turned = 0.0 if waits_for_place else one.taken - one.due
        sent = one.sent - one.connected if one.sent is not None and one.connected is not None else 0.0
        return turned + sent

    return np.array([seconds(one) for one in load.exchanges])


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"
