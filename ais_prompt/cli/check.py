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

    Types, arguments, templates, data files and columns are looked at, and one prompt is made for each model and data
    set. All prompts are made again with other gold answers: where one changes, it tells the answer. The data is
    searched for golds in other columns, choices that look right, and questions that are copied (docs/leaks.md).
    Golds are put into ordinary phrasings to see whether the postprocessor finds them again.
    Exit code 2 if anything is wrong; warnings tell what you may not expect of the prompts.
    """
    from ais_prompt.pipeline import checked
    from ais_prompt.report.extraction import describe
    from ais_prompt.tasks.extraction import try_extraction
    from ais_prompt.utils.text import printable

    spec, warnings = checked(source(**options), thorough=True)
    for warning in warnings:
        click.echo(printable(f"Warning: {warning}"))
    for dataset in spec.datasets:
        if found := try_extraction(dataset):
            click.echo(printable(describe(found)))
    models, datasets = len(spec.models), len(spec.datasets)
    click.echo(f"No faults: {models} model{'s' * (models != 1)}, {datasets} data set{'s' * (datasets != 1)}.")
