"""``aisprompt agents``: what each agent of some runs scored and needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ais_prompt.cli.verb import Verb, echo, json_option, offer, quiet_option, wants_json

if TYPE_CHECKING:
    from ais_prompt.extensions.agents.agents_table import AgentRow, Needed


@click.command(cls=Verb)
@click.argument("runs", nargs=-1, required=True)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@quiet_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def agents(runs: tuple[str, ...], work_dir: str | None, debug: bool) -> None:  # noqa: ARG001  # read by `Verb`
    """Compare agents: score, steps, calls of tools, tokens, cost and seconds of a sample, with 95 % intervals.

    RUNS are run folders, or names of configs for their latest runs.
    """
    from msgspec import to_builtins

    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.errors import ConfigError
    from ais_prompt.extensions.agents.agents_table import agent_rows
    from ais_prompt.report import read_stored_results
    from ais_prompt.store import locate_run

    folder = expand(work_dir or DEFAULT_WORK_DIR)
    rows = [row for run in runs for row in agent_rows(read_stored_results(locate_run(folder, run)))]
    if not rows:
        fix = "run a CommandModel, a FunctionAgentModel, a ServerAgentModel or a ToolLoopInferencer"
        raise ConfigError("no sample of these runs has steps of an agent", fix=fix)
    offer(agents=to_builtins(rows))
    if not wants_json():
        _print(rows)


def _print(rows: list[AgentRow]) -> None:
    from rich.console import Console

    from ais_prompt.extensions.agents.agents_table import MEASURES
    from ais_prompt.terminal import Column, print_table
    from ais_prompt.utils import counted

    names = [Column("agent", is_name=True, right=False), Column("dataset", is_name=True, right=False)]
    shown = [measure for measure in MEASURES if any(getattr(row, measure) is not None for row in rows)]
    columns = [*names, Column("score"), *(Column(measure.replace("_", " ")) for measure in shown), Column("failed")]
    cells = [
        [
            row.agent,
            row.dataset,
            "-" if row.score is None else f"{row.metric} {row.score:.3g}{_interval(row)}",
            *(
                "-" if (one := getattr(row, measure)) is None else f"{one.mean:.4g}{_interval(one)}"
                for measure in shown
            ),
            f"{row.failed} of {row.samples}",
        ]
        for row in rows
    ]
    print_table(columns, cells, Console())
    echo(f"Means of a sample with 95 % intervals; {counted(sum(row.samples for row in rows), 'answer')}.")


def _interval(of: AgentRow | Needed) -> str:
    return "" if of.low is None or of.high is None else f" [{of.low:.3g}, {of.high:.3g}]"
