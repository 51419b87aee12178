"""``aisprompt score``: answers that are there already become scores."""

from __future__ import annotations

import click

from ais_prompt.cli.ending import command_line, exit_code, show
from ais_prompt.cli.limit import FAILURE_LIMIT, FailureLimit
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("run")
@click.option("--config", metavar="CONFIG", help="Score with this config instead of the run's own.")
@click.option(
    "--set", "overrides", multiple=True, metavar="PATH=VALUE", help="Change one value: datasets.0.eval_cfg.k=[1,4]."
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: the config's, or outputs).")
@click.option(
    "--max-failures",
    type=FAILURE_LIMIT,
    default="0",
    show_default=True,
    metavar="N|N%",
    help="More samples than this without an answer: exit code 1.",
)
@click.option(
    "--allow-code-execution", is_flag=True, help="Let evaluators run programs that a model wrote, in a sandbox."
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def score(
    ctx: click.Context,
    /,
    run: str,
    config: str | None,
    overrides: tuple[str, ...],
    work_dir: str | None,
    max_failures: FailureLimit,
    allow_code_execution: bool,
    debug: bool,
) -> None:
    """Score stored answers again; nobody is asked, and the answers stay as they are.

    RUN is the path of a run folder, or below the work dir a name (its latest run), name/time, or a time.
    """
    from ais_prompt import pipeline, rescore

    source = pipeline.Source(config, overrides=overrides, work_dir=work_dir, allow_code_execution=allow_code_execution)
    spec, folder = rescore.open_stored(run, source)
    result = pipeline.run(spec, folder, "eval", command_line())
    show(result, folder.root)
    ctx.exit(exit_code(result, max_failures, debug=debug))
