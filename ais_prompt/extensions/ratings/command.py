"""``aisprompt ratings``: rate the models of a run again, with other options."""

from __future__ import annotations

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, json_option, offer, wants_json


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.option("--length", is_flag=True, help="Control for the length of answers, as AlpacaEval does.")
@click.option("--style", is_flag=True, help="Control for length and Markdown of answers, as Arena-Hard does.")
@click.option("--half-ties", is_flag=True, help="Count a tie as half a win, as the arenas do.")
@click.option("--anchor", metavar="MODEL", help="Give this model the rating 1000 (default: the mean).")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def ratings(
    run: str,
    length: bool,
    style: bool,
    half_ties: bool,
    anchor: str | None,
    work_dir: str | None,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Rate the models that a judge compared in a run, by the Bradley-Terry model.

    A run whose judge compares several models (PairwiseEvaluator with baseline='all') prints this at its end. Ratings
    are on the scale of Elo: 400 points are odds of ten to one. Intervals are from a bootstrap over questions.
    """
    from msgspec import to_builtins
    from rich.console import Console

    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.errors import ConfigError
    from ais_prompt.extensions.ratings.printed import print_ratings
    from ais_prompt.extensions.ratings.rate import Control, rate_run
    from ais_prompt.store import locate_run

    if length and style:
        raise ConfigError("--length and --style are two ways to control for length", fix="give one of them")
    control: Control | None = "style" if style else "length" if length else None
    folder = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    found = rate_run(folder, control=control, anchor=anchor, ties_are_half=half_ties)
    if not found:
        raise ConfigError(
            "the run has no battles of three models",
            where=str(folder.root),
            fix="compare the models: evaluator=dict(type='PairwiseEvaluator', baseline='all', ...), then score the run",
        )
    known = {one.model for each in found for one in each.ratings.models}
    if anchor is not None and anchor not in known:
        fix = f"name one of {', '.join(sorted(known))}"
        raise ConfigError(f"there is no model {anchor!r} in the ratings", where="--anchor", fix=fix)
    offer(folder=str(folder.root), datasets=[to_builtins(one) for one in found])
    if not wants_json():
        console = Console()
        for one in found:
            print_ratings(one, console)
