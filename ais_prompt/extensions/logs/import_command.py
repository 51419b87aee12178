"""``aisprompt import``: make a run folder of the log of another tool."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.brought import brought, given_options
from ais_prompt.cli.options import shown_command
from ais_prompt.cli.verb import Verb, echo, hanging, json_option, offer
from ais_prompt.utils import one_line

if TYPE_CHECKING:
    from ais_prompt.store import RunFolder


@click.command("import", cls=Verb)
@click.argument("log", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--config", metavar="CONFIG", help="Read a run of OpenCompass or AISBench with this config, which is executed."
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are made (default: outputs).")
@brought("stored")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def import_command(log: Path, config: str | None, work_dir: str | None, debug: bool, **others: Any) -> None:  # noqa: ARG001
    """Make a run folder of the log of another tool. Nothing in LOG is executed.

    LOG is a file or folder of inspect_ai, lm-evaluation-harness, evalscope, HELM, Every Eval Ever or NeMo Evaluator, or
    a run folder of OpenCompass or AISBench: outputs/default/20240131_120000. Its content decides, not its name.

    Answers, prompts, golds and scores come along. Then `view`, `score`, `compare`, `export` and `baseline` work on it.
    """
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.extensions.logs.import_log import import_log, is_log

    options = given_options(others)
    if log.is_dir() and not is_log(log):
        _import_peer_run(log, config, work_dir, options)
        return
    if config is not None or options:
        raise click.UsageError(
            "This log comes with its scores. Score it afterwards: aisprompt score RUN --config CONFIG"
        )
    imported = import_log(log, expand(work_dir or DEFAULT_WORK_DIR), shown_command())
    for one in imported.tasks:
        for note in one.notes:
            echo(f"note: {one.name}: {one_line(note)}", err=True)
    offer(
        folder=str(imported.folder.root),
        tasks=[
            {"name": one.name, "samples": one.samples, "failed": one.failed, "scores": dict(one.reported)}
            for one in imported.tasks
        ],
        notes=[f"{one.name}: {note}" for one in imported.tasks for note in one.notes],
    )
    width = max(len(one.name) for one in imported.tasks)
    for one in imported.tasks:
        failed = f", {one.failed:,} failed" if one.failed else ""
        scores = "".join(f"; {score.metric} {score.value:.4g}" for score in one.scores if score.value is not None)
        echo(hanging(f"{one.name:<{width}}  ", f"{one.samples:,} samples{failed}{scores or '; not scored'}"))
    _show_next(imported.folder, "score the answers again        ")


def _import_peer_run(folder: Path, config: str | None, work_dir: str | None, options: Mapping[str, Any]) -> None:
    from ais_prompt.checks import Source
    from ais_prompt.extensions.peers.import_run import import_run

    imported = import_run(folder, Source(config, work_dir=work_dir, options=options), shown_command())
    for note in imported.notes:
        echo(f"note: {one_line(note)}", err=True)
    offer(
        folder=str(imported.folder.root),
        tasks=[
            {"name": task.name, "samples": task.samples, "failed": task.failed, "scores": dict(task.numbers)}
            for task in imported.tasks
        ],
        notes=list(imported.notes),
    )
    width = max(len(task.name) for task in imported.tasks)
    for task in imported.tasks:
        failed = f", {task.failed:,} failed" if task.failed else ""
        samples = f"{task.samples:,} samples{failed}{_theirs(task.numbers)}"
        echo(hanging(f"{task.name:<{width}}  ", samples))
    _show_next(imported.folder, "score the answers              ")


def _show_next(folder: RunFolder, scoring: str) -> None:
    root = shlex.quote(str(folder.root))
    echo(f"\nRun folder: {root}\nNext:")
    echo(hanging(f"  {scoring} ", f"aisprompt score {root}", breaks=False))
    echo(hanging("  what another run changes        ", f"aisprompt compare {root} RUN", breaks=False))


def _theirs(numbers: Mapping[str, float]) -> str:
    return "".join(f"; {name} {value:g} there" for name, value in numbers.items())
