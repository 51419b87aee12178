"""``aisprompt diff``: how the prompts of two configs, models or runs differ."""

from __future__ import annotations

import click

from ais_prompt.cli.drift import show_drift
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--models", multiple=True, metavar="MODEL [MODEL]", help="Only this model of A, and of B this or that.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def diff(
    ctx: click.Context,
    /,
    first: str,
    second: str | None,
    models: tuple[str, ...],
    work_dir: str | None,
    as_json: bool,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Compare the prompts of A and B: rendered from configs, or stored by runs.

    Without B two models of A are compared: aisprompt diff A --models ONE OTHER. Exit code 0 if all prompts are equal, 1
    if they differ.
    """
    from ais_prompt.comparison.locks.diff import compare_sides, open_side
    from ais_prompt.config.parse.run import DEFAULT_WORK_DIR
    from ais_prompt.config.paths import expand
    from ais_prompt.errors import ConfigError

    if len(models) > 2 or (second is None and len(models) < 2):
        raise ConfigError("there is nothing to compare with", fix="aisprompt diff A B, or diff A --models ONE OTHER")
    runs = expand(work_dir or DEFAULT_WORK_DIR)
    wanted: list[str | None] = [*models] * (2 if len(models) == 1 else 1) or [None, None]
    before, after = (open_side(name, runs, model) for name, model in zip((first, second or first), wanted, strict=True))
    drift = compare_sides(before, after)
    show_drift(drift, as_json=as_json)
    ctx.exit(0 if drift.is_none else 1)
