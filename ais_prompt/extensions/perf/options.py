"""The options of ``run`` that measure the performance of servers."""

from __future__ import annotations

from typing import Final

import click

from ais_prompt.cli.options import FiniteRange


class _Tokens(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    name = "tokens"

    def convert(self, value: str | list[int], param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Return the least and the most tokens."""
        if isinstance(value, list):
            return value
        least, _, most = value.partition("-")
        if not (least.isdecimal() and (most or least).isdecimal()):
            self.fail(f"{value!r} is neither a number (1024) nor two (128-1024)", param, ctx)
        tokens = [int(least), int(most or least)]
        if not 1 <= tokens[0] <= tokens[1]:
            self.fail(f"{value!r}: write at least 1 token, and the smaller number first", param, ctx)
        return tokens


TOKENS: Final = _Tokens()
OPTIONS: Final = (
    click.Option(
        ["--num-warmups"],
        type=click.IntRange(0),
        metavar="N",
        help="With -m perf: requests before the load (default 1).",
    ),
    click.Option(
        ["--input-tokens"], type=TOKENS, metavar="N|N-M", help="With -m perf: made-up prompts of so many tokens."
    ),
    click.Option(
        ["--output-tokens"], type=TOKENS, metavar="N|N-M", help="With them: most tokens of answers (default 128)."
    ),
    click.Option(
        ["--request-rate"],
        type=FiniteRange(0, min_open=True),
        metavar="X",
        help="With -m perf: requests a second of the first model.",
    ),
    click.Option(
        ["--as", "shown_as"],
        type=click.Choice(["aisbench", "vllm", "sglang", "evalscope", "guidellm", "aiperf"]),
        help="With -m perf and perf_viz: print the tables of another tool, with its definitions.",
    ),
    click.Option(["--pressure"], is_flag=True, help="With -m perf: ask over and over, for --pressure-time."),
    click.Option(
        ["--pressure-time"],
        type=FiniteRange(0, 86_400, min_open=True),
        metavar="SECONDS",
        help="With --pressure: for so long (default: 15).",
    ),
    click.Option(
        ["--duration"],
        type=click.FloatRange(0, 86_400, min_open=True),
        metavar="SECONDS",
        help="With -m perf: start no request after so long; rows are asked again until then.",
    ),
    click.Option(
        ["--grace"],
        type=click.FloatRange(0, 86_400),
        metavar="SECONDS",
        help="With --duration: cut requests that are in flight so long after it (default: 30).",
    ),
    click.Option(
        ["--slo", "slos"],
        multiple=True,
        metavar="GOAL",
        help="With -m perf: a goal for a latency: 'p99 ttft <= 2s', 'p90 tpot <= 50ms'; also for goodput.",
    ),
    click.Option(
        ["--sweep"],
        metavar="KEY=V,V…",
        help="With -m perf: one load for each value of an option of the models: concurrency=1,4,16.",
    ),
    click.Option(
        ["--find-rate"],
        is_flag=True,
        help="With -m perf and --slo: search the largest request rate that meets every goal.",
    ),
    click.Option(
        ["--runs"],
        type=click.IntRange(1, 100),
        metavar="N",
        help="With -m perf: measure each load N times (default: 1).",
    ),
    click.Option(
        ["--spec-decode"],
        is_flag=True,
        help="With -m perf and perf_viz: write what vLLM counts of speculative decoding, in the form of AISBench.",
    ),
    click.Option(["--strict"], is_flag=True, help="With -m perf: exit code 1 if this machine was the limit."),
)
