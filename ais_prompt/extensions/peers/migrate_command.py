"""``aisprompt migrate``: the native config that a config of OpenCompass or AISBench means."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from ais_prompt.cli.options import FURTHER, MODEL_AND_DATA, read_options, with_options
from ais_prompt.cli.verb import Verb, echo


@click.command(cls=Verb, first={**MODEL_AND_DATA, "Config": ("-o", "--force", "-h")}, further=FURTHER)
@with_options("config")
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write."
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def migrate(output: Path, force: bool, **values: Any) -> None:
    """Write a config of OpenCompass or AISBench as one of this program.

    What it drops or means differently becomes comments. The prompts are the same: compare them with
    `aisprompt lock`.
    """
    from ais_prompt.extensions.peers.migrate import migrate as write

    if output.exists() and not force:
        raise click.UsageError(f"{output} is there already; --force replaces it.")
    notes = write(read_options(values), output)
    found = f"{len(notes)} note{'' if len(notes) == 1 else 's'} at its top" if notes else "without notes"
    echo(f"{output}: written, {found}\n\nNext: aisprompt check {shlex.quote(str(output))}")
