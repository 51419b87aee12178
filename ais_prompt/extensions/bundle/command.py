"""``aisprompt bundle``: a static site of several runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, echo, json_option, offer, wants_json


@click.command(cls=Verb)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_run, metavar="RUN…")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="FOLDER",
    help="The folder to write; it must be new or empty.",
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def bundle(runs: tuple[str, ...], output: Path, work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Write a static site of RUNs: the list of runs, a matrix of their scores, and the report of each.

    Any web server can show it, and so can a browser without a server; no page sends a request.
    """
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.extensions.bundle.site import write_site
    from ais_prompt.store import locate_run
    from ais_prompt.utils import counted

    folders = [locate_run(expand(work_dir or DEFAULT_WORK_DIR), run) for run in runs]
    size = write_site(folders, output)
    offer(folder=str(output), runs=len(folders), bytes=size)
    if not wants_json():
        echo(f"{output}: {counted(len(folders), 'run')}, {size / 1e6:,.1f} MB")
        echo(f"Look at it: python -m http.server -d {shlex.quote(str(output))}, or open {output / 'index.html'}")
