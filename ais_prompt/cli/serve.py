"""``aisprompt serve``: servers that all shards of a run share."""

from __future__ import annotations

from typing import Any

import click

from ais_prompt.cli.options import config_options, source
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@config_options
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are made (default: the config's).")
@click.option("-r", "--reuse", required=True, metavar="NAME", help="The run, as the shards have it.")
def serve(reuse: str, **options: Any) -> None:
    """Start the servers of models with server=dict(..., shared=True), for all shards of a run.

    Their addresses are announced in the run folder; shards read them there, and follow changes. Start it on as many
    machines as you like. It ends when all shards have ended, or with Ctrl-C; the servers stop with it.
    """
    from ais_prompt.checks.source import read_spec
    from ais_prompt.plan.plan import Plan
    from ais_prompt.store.shards import shared_run_folder
    from ais_prompt.utils.signals import interruption
    from ais_prompt.verbs.serve import serve as start

    spec = read_spec(source(**options)).spec
    folder = shared_run_folder(spec.work_dir, spec.name, reuse)
    try:
        start(Plan(spec), folder, click.echo)
    except KeyboardInterrupt as stop:
        raise interruption(stop, "stopped, with all servers that it started", where=str(folder.root)) from None
