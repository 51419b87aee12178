"""The options of ``run`` that measure the performance of servers, each told once, and the metrics that gates can limit.

The options are the fields of `LoadOptions`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Annotated, Final, Literal, TypeAlias

from ais_prompt.config import Need, OptionSpec

ToolName: TypeAlias = Literal["vllm", "sglang", "evalscope", "guidellm", "aiperf"]
"""Other tools whose tables are made from a stored load; those of AISBench are its files."""
Tokens: TypeAlias = tuple[int, int]
"""The least and the most tokens of a text."""
DAY: Final = 86_400.0


def _tokens(text: str) -> Tokens:
    """Return the ends of ``1024`` or ``128-1024``."""
    least, _, most = text.partition("-")
    if not (least.isdecimal() and (most or least).isdecimal()):
        raise ValueError(f"{text!r} is neither a number (1024) nor two (128-1024)")
    tokens = int(least), int(most or least)
    if not 1 <= tokens[0] <= tokens[1]:
        raise ValueError(f"{text!r}: write at least 1 token, and the smaller number first")
    return tokens


def _above_zero(most: float = inf) -> Callable[[str], float]:
    """Return what reads a number above 0, and at most ``most``."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0 < number <= most or number == inf:
            raise ValueError(f"{text!r} is not a number above 0{f', and at most {most:,.0f}' if most < inf else ''}")
        return number

    return read


@dataclass(frozen=True)
class LoadOptions:
    """What the command line says of a load, before ``perf`` of the config."""

    input_tokens: Annotated[
        Tokens | None,
        OptionSpec("Made-up prompts of so many tokens (default without data: 1024).", metavar="N|N-M", parse=_tokens),
    ] = None
    output_tokens: Annotated[
        Tokens | None,
        OptionSpec("With made-up prompts: most tokens of answers (default: 128).", metavar="N|N-M", parse=_tokens),
    ] = None
    request_rate: Annotated[
        float | None,
        OptionSpec(
            "Requests a second of the first model (default: its config's, else 16 clients).",
            metavar="X",
            parse=_above_zero(),
        ),
    ] = None
    slos: Annotated[
        tuple[str, ...],
        OptionSpec(
            "A goal for a latency: 'p99 ttft <= 2s', 'p90 tpot <= 50ms'. Exit code 1 if it is missed.",
            "--slo",
            metavar="GOAL",
        ),
    ] = ()
    duration: Annotated[
        float | None,
        OptionSpec(
            "Start no request after so long; rows are asked again until then.",
            metavar="SECONDS",
            parse=_above_zero(DAY),
        ),
    ] = None
    grace: Annotated[
        float | None,
        OptionSpec(
            "With --duration: cut requests that are in flight so long after it (default: 30).",
            metavar="SECONDS",
            least=0,
            most=int(DAY),
            needs=Need("duration", "needs --duration", "add --duration SECONDS"),
        ),
    ] = None
    sweep: Annotated[
        tuple[str, ...],
        OptionSpec("One load for each value of an option of the models: concurrency=1,4,16.", metavar="KEY=V,V…"),
    ] = ()
    find_rate: Annotated[bool, OptionSpec("With --slo: search the largest request rate that meets every goal.")] = False
    runs: Annotated[
        int | None, OptionSpec("Measure each load N times (default: 1).", metavar="N", least=1, most=100)
    ] = None
    num_warmups: Annotated[int | None, OptionSpec("Requests before the load (default: 1).", metavar="N", least=0)] = (
        None
    )
    pressure: Annotated[bool, OptionSpec("Ask over and over, for --pressure-time.")] = False
    pressure_time: Annotated[
        float | None,
        OptionSpec(
            "With --pressure: for so long (default: 15).",
            metavar="SECONDS",
            parse=_above_zero(DAY),
            needs=Need("pressure", "needs --pressure", "add --pressure"),
        ),
    ] = None
    shown_as: Annotated[
        Literal["aisbench", ToolName] | None,
        OptionSpec("Print the tables of another tool, with its definitions.", "--as"),
    ] = None
    spec_decode: Annotated[
        bool, OptionSpec("Write what vLLM counts of speculative decoding, in the form of AISBench.")
    ] = False
    strict: Annotated[bool, OptionSpec("Exit code 1 if this machine was the limit.")] = False


METRICS: Final[Mapping[str, str]] = {
    "ttft_seconds": "TTFT",
    "ttft_from_due_seconds": "TTFT*",
    "ttft_first_turn_seconds": "TTFT turn 1",
    "ttft_later_turns_seconds": "TTFT turn 2+",
    "ttfo_seconds": "TTFO",
    "tpot_seconds": "TPOT",
    "itl_seconds": "ITL",
    "e2el_seconds": "E2EL",
    "e2el_from_due_seconds": "E2EL*",
    "e2el_from_due_with_failures_seconds": "E2EL*∞",
    "queue_seconds": "QUEUE",
    "probe_seconds": "PROBE",
    "input_tokens": "InputTokens",
    "output_tokens": "OutputTokens",
    "answer_tokens_per_second": "OutputTokenThroughput",
}
"""Name of a metric in files → its title in tables, in their order."""
THROUGHPUTS: Final[Mapping[str, str]] = {
    "requests_per_second": "requests/s",
    "input_tokens_per_second": "tokens in/s",
    "output_tokens_per_second": "tokens out/s",
    "concurrency": "in flight",
}
"""Name of a number of the whole load → its title."""
LOAD_VERDICTS: Final = (
    *("client", "schedule", "places", "failures", "tokens", "lengths", "cache", "warmup", "values"),
    *("steady", "stream", "server", "bodies", "slo", "runs"),
)
"""Questions about a load, whose verdicts are 1 if nothing is wrong, else 0."""
LOAD_METRICS: Final = frozenset(
    (
        *(f"{name}_{kind}" for name in METRICS for kind in ("mean", "p50", "p75", "p90", "p95", "p99")),
        *THROUGHPUTS,
        *("goodput", "goodput_share"),
        *LOAD_VERDICTS,
    )
)
"""Metrics of ``-m perf`` that a gate can limit."""
