"""``aisprompt import``: make a run folder of the log of another tool."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from ais_prompt.cli.options import shown_command
from ais_prompt.cli.verb import Verb, brought, echo, given_options, hanging, json_option, offer
from ais_prompt.utils import one_line


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

    LOG is a file or folder of inspect_ai, lm-evaluation-harness, evalscope, HELM, Every Eval Ever, NeMo Evaluator,
    τ-bench or τ²-bench, or a run folder of OpenCompass or AISBench: outputs/default/20240131_120000. Its content
    decides, not its name.

    Answers, prompts, golds and scores come along. Then `view`, `score`, `compare`, `export` and `baseline` work on it.
    """
    from ais_prompt.config import Options
    from ais_prompt.extensions.logs.import_log import import_log

    options = Options(config, work_dir=work_dir, options=given_options(others, others))
    imported = import_log(log, options, shown_command())
    for note in imported.notes:
        echo(f"note: {one_line(note)}", err=True)
    offer(
        folder=str(imported.folder.root),
        tasks=[
            {"name": one.name, "samples": one.samples, "failed": one.failed, "scores": dict(one.reported)}
            for one in imported.tasks
        ],
        notes=list(imported.notes),
    )
    width = max(len(one.name) for one in imported.tasks)
    for one in imported.tasks:
        failed = f", {one.failed:,} failed" if one.failed else ""
        if imported.is_scored:
            scores = [f"; {score.metric} {score.value:.4g}" for score in one.scores if score.value is not None]
        else:
            scores = [f"; {name} {value:g} there" for name, value in one.reported.items()]
        shown = "".join(scores) or ("; not scored" if imported.is_scored else "")
        echo(hanging(f"{one.name:<{width}}  ", f"{one.samples:,} samples{failed}{shown}"))
    root = shlex.quote(str(imported.folder.root))
    again = " again" if imported.is_scored else ""
    echo(f"\nRun folder: {root}\nNext:")
    for what, command in (
        (f"score the answers{again}", f"aisprompt score {root}"),
        ("what another run changes", f"aisprompt compare {root} RUN"),
    ):
        echo(hanging(f"  {what:<31} ", command, breaks=False))
