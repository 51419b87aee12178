"""``aisprompt export``: results where other programs read them."""

from __future__ import annotations

from pathlib import Path

import click

from ais_prompt.catalog import EXPORTERS
from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run, metavar="RUN")
@click.option(
    "--to",
    type=click.Choice(tuple(EXPORTERS)),
    required=True,
    help="CSV or Parquet tables, Every Eval Ever, logs of inspect_ai, files of lm-evaluation-harness.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the files go (default: export/FORM in the run folder).",
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def export(run: str, to: str, output: Path | None, work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Write scores and samples of a run in the form of another program.

    RUN is the path of a run folder, or below the work dir a name (its latest run), name/time, a time, or latest.
    """
    from ais_prompt.verbs.export import export as write

    paths = write(run, to, output, work_dir)
    for path in paths:
        click.echo(str(path))
    if not paths:
        click.echo("no task has a score, so there is nothing to write: aisprompt score RUN", err=True)
