"""``aisprompt run``: infer, score, report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.limit import FAILURE_LIMIT, FailureLimit
from ais_prompt.cli.options import as_command, source, source_options
from ais_prompt.cli.verb import Verb, report

if TYPE_CHECKING:
    from pathlib import Path

    from ais_prompt.pipeline import RunResult
    from ais_prompt.types import RunSpec


@click.command(cls=Verb)
@source_options
@click.option(
    "-m",
    "--mode",
    type=click.Choice(["all", "infer", "eval", "viz"]),
    default="all",
    show_default=True,
    help="All, only predictions, only scores of stored predictions, or only the summary.",
)
@click.option("-r", "--reuse", metavar="[latest|TIMESTAMP]", help="Go on with a run: ask only what is missing.")
@click.option("--dry-run", is_flag=True, help="Show the tasks and the number of questions; ask nothing.")
@click.option(
    "--max-failures",
    type=FAILURE_LIMIT,
    default="0",
    show_default=True,
    metavar="N|N%",
    help="More samples than this without an answer: exit code 1.",
)
@click.pass_context
def run(
    ctx: click.Context, /, mode: str, reuse: str | None, dry_run: bool, max_failures: FailureLimit, **options: Any
) -> None:
    """Ask the models, score the answers, report.

    CONFIG is a Python config, or name shipped ones: --models NAME… --datasets NAME…
    """
    from ais_prompt import pipeline

    spec, warnings = pipeline.checked(source(**options))
    if dry_run:
        _show_plan(spec)
        return
    folder = pipeline.open_run(spec, mode, reuse)  # type: ignore[arg-type]
    click.echo(f"Run folder: {folder.root}", err=True)
    result = pipeline.run(spec, folder, mode, _command_line(), warnings)  # type: ignore[arg-type]
    _show(result, folder.root)
    _show_next(result, folder.root.name, max_failures, options)
    ctx.exit(_exit_code(result, max_failures, debug=options["debug"]))


def _show_plan(spec: RunSpec) -> None:
    """The tasks of a run, and how much each would ask."""
    from ais_prompt.partitioners.by_task import partition
    from ais_prompt.tasks.build import read_dataset

    sizes = {dataset.abbr: len(read_dataset(dataset).test) for dataset in spec.datasets}
    for task in partition(spec):
        click.echo(f"{task.name}: {sizes[task.dataset.abbr]} questions")
    click.echo(f"{len(spec.models) * sum(sizes.values())} questions in all; nothing was asked (--dry-run)")


def _show(result: RunResult, root: Path) -> None:
    """The table, and where everything lies."""
    from rich.console import Console

    from ais_prompt.report.terminal import print_summary

    click.echo()
    print_summary(result.outcomes, Console())
    click.echo(f"\nRun folder: {root}")
    click.echo("  predictions/  every prompt and answer, one sample a line")
    click.echo("  results/      scores with the details of each sample")
    click.echo("  summary/      this table as txt, csv, md and json")


def _show_next(result: RunResult, name: str, limit: FailureLimit, options: dict[str, Any]) -> None:
    """The commands that are of use now."""
    again = as_command("run", **options)
    view = as_command("view-prompt", **options)
    rows = []
    if result.failed:
        rows.append(("ask the failed ones again", f"{again} -r {name}"))
    if not limit.allows(result.failed, result.asked):
        rows.append(("accept these failures", f"{again} -r {name} --max-failures {result.failed}"))
    rows += [("score again without asking", f"{again} -m eval -r {name}"), ("see what was sent", f"{view} -a")]
    click.echo("Next:")
    for purpose, command in rows:
        click.echo(f"  {purpose:<27} {command}")


def _exit_code(result: RunResult, limit: FailureLimit, *, debug: bool) -> int:
    errors = [outcome.error for outcome in result.outcomes if outcome.error is not None]
    if errors:
        click.echo(f"\n{len(errors)} of {len(result.outcomes)} tasks failed; the first cause:", err=True)
        report(errors[0], debug=debug)
        return errors[0].exit_code
    if not limit.allows(result.failed, result.asked):
        click.echo(
            f"\n{result.failed} of {result.asked} samples have no answer; --max-failures is {limit}",
            err=True,
        )
        return 1
    return 0


def _command_line(args: Sequence[str] | None = None) -> str:
    """The command as it was given, without secrets."""
    import shlex

    from ais_prompt.config.redact import redacted_override

    return shlex.join(["aisprompt", *(redacted_override(arg) for arg in (sys.argv[1:] if args is None else args))])
