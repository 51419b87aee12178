"""``aisprompt check``: all faults of a config at once."""

from __future__ import annotations

from typing import Any

import click

from ais_prompt.cli.options import source, source_options
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@source_options
def check(**options: Any) -> None:
    """Find every fault of a config without building or asking anything.

    Types, arguments, templates, data files and columns are looked at. Exit code 2 if anything is wrong.
    """
    from ais_prompt.pipeline import checked_spec

    spec = checked_spec(source(**options))
    models, datasets = len(spec.models), len(spec.datasets)
    click.echo(f"No faults: {models} model{'s' * (models != 1)}, {datasets} data set{'s' * (datasets != 1)}.")
