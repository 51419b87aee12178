"""``aisprompt import``: bring a run of OpenCompass or AISBench."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from ais_prompt.cli.options import PEER_SCORES, shown_command
from ais_prompt.cli.verb import PEER_PATH, Verb, hanging


@click.command("import", cls=Verb)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--config", metavar="CONFIG", help="Read the run with this config, which is executed, not with its own.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are made (default: outputs).")
@PEER_PATH
@PEER_SCORES
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def import_run(folder: Path, config: str | None, work_dir: str | None, peer_scores: bool, debug: bool) -> None:  # noqa: ARG001
    """Make a run folder of a run of OpenCompass or AISBench: outputs/default/20240131_120000, or its parent.

    Answers, prompts and golds come along, and nothing in FOLDER is executed. Then `score`, `view`, `compare` and
    `baseline` work on it.
    """
    from ais_prompt.checks.source import Source
    from ais_prompt.extensions.peers.import_run import import_run as bring

    imported = bring(folder, Source(config, work_dir=work_dir, peer_scores=peer_scores), shown_command())
    for note in imported.notes:
        click.echo(f"note: {note}", err=True)
    width = max(len(task.name) for task in imported.tasks)
    for task in imported.tasks:
        failed = f", {task.failed:,} failed" if task.failed else ""
        samples = f"{task.samples:,} samples{failed}{_theirs(task.numbers)}"
        click.echo(hanging(f"{task.name:<{width}}  ", samples))
    root = shlex.quote(str(imported.folder.root))
    click.echo(f"\nRun folder: {root}\nNext:")
    click.echo(hanging("  score the answers               ", f"aisprompt score {root}", breaks=False))
    click.echo(hanging("  what a run of your own changes  ", f"aisprompt compare {root} RUN", breaks=False))


def _theirs(numbers: Mapping[str, float]) -> str:
    return "".join(f"; {name} {value:g} there" for name, value in numbers.items())
