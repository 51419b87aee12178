"""``aisprompt requests`` and ``aisprompt answers``: ask through files."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.options import shown_command
from ais_prompt.cli.verb import Verb, echo
from ais_prompt.utils import counted

_DEBUG = click.option("--debug", is_flag=True, help="Show the traceback of an error.")
_WORK_DIR = click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: the config's).")


@click.command(cls=Verb)
@click.argument("run_or_config", metavar="RUN|CONFIG")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="requests.jsonl",
    show_default=True,
    help="The file to write; larger ones are numbered.",
)
@_WORK_DIR
@_DEBUG
def requests(run_or_config: str, output: Path, work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Write what a run still has to ask into a file, in the form of OpenAI's Batch API.

    A CONFIG begins a new run; of a RUN only what has no answer is written. Send the file to a batch service or to
    `vllm run-batch`, and give the answers to `aisprompt answers`. Dialogues take one file for each turn.
    """
    from ais_prompt.checks import checked, open_stored
    from ais_prompt.config import Options
    from ais_prompt.extensions.batch.request_files import begin_run, write_requests

    options = Options(work_dir=work_dir)
    if Path(run_or_config).is_file():
        plan, _ = checked(Options(run_or_config, work_dir=work_dir))
        folder = begin_run(plan, shown_command())
    else:
        plan, folder = open_stored(run_or_config, options)
    files = write_requests(plan, folder, output)
    for path, count in files:
        echo(f"{path}: {counted(count, 'request')}")
    root = shlex.quote(str(folder.root))
    asks = any(count for _, count in files)
    following = f"aisprompt answers {root} ANSWERS.jsonl" if asks else f"aisprompt score {root}"
    echo(f"\nRun folder: {root}\nNext: {following}")


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE…"
)
@_WORK_DIR
@_DEBUG
def answers(run: str, files: tuple[Path, ...], work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Put the answers that a batch service wrote into FILEs into a run."""
    from ais_prompt.checks import open_stored
    from ais_prompt.config import Options
    from ais_prompt.extensions.batch.request_files import read_answer_files

    plan, folder = open_stored(run, Options(work_dir=work_dir))
    found = read_answer_files(plan, folder, files, shown_command())
    echo(f"{found.answered:,} answers, {found.failed:,} failures, {found.left:,} requests left")
    if found.unknown:
        echo(f"{found.unknown:,} lines answer nothing that is open in this run", err=True)
    root = shlex.quote(str(folder.root))
    again = f"aisprompt requests {root}" if found.left else f"aisprompt score {root}"
    echo(f"Next: {again}")
