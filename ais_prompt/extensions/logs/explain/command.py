"""``aisprompt explain``: why two scores differ, whatever tools made them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ais_prompt.cli.completion import complete_reuse, complete_run
from ais_prompt.cli.verb import Verb, echo, json_option, offer, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ais_prompt.extensions.logs.explain.ladder import Ladder


@click.command(cls=Verb)
@click.argument("first", shell_complete=complete_run)
@click.argument("second", shell_complete=complete_run)
@click.option("--dataset", metavar="NAME", help="Only this dataset.")
@click.option("--pairs", type=click.IntRange(min=0), default=10, show_default=True, help="Pairs to show of each cause.")
@click.option(
    "--ask",
    metavar="MODEL",
    help="Ask pairs again: an address (http://127.0.0.1:8000/v1, or …/v1#model), a model config, or weights.",
)
@click.option(
    "--max-requests", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="Most requests of --ask."
)
@click.option(
    "-r",
    "--reuse",
    metavar="[latest|TIMESTAMP]",
    shell_complete=complete_reuse,
    help="With --ask: go on with its run, and ask only what is missing.",
)
@json_option
@click.option("--html", metavar="FILE", help="Write a page for the browser, with the pairs side by side.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def explain(
    first: str,
    second: str,
    dataset: str | None,
    pairs: int,
    ask: str | None,
    max_requests: int,
    reuse: str | None,
    html: str | None,
    work_dir: str | None,
) -> None:
    """Explain why two scores differ: which part of the difference comes from where, and how sure that is.

    FIRST and SECOND are logs of any tool that `import` reads, or runs as in `compare`. The order of the causes is that
    in which a score is made: other samples, data, failures, prompt, decoding, truncation, answers, extraction, metric,
    aggregation. What comes after the answer is computed: each side's answers are scored by the rule of the other side.

    No model is asked, unless --ask names one. It gets the prompts of either log with the decoding of either log, which
    separates prompt, decoding and chance. Exit code 1 if nothing can be explained.
    """
    from rich.console import Console

    from ais_prompt.comparison import read_stored_run
    from ais_prompt.extensions.logs.explain.ladder import explain_runs
    from ais_prompt.extensions.logs.explain.ladder_table import (
        MOST_ON_PAGE,
        explanation_page,
        ladder_json,
        print_ladder,
    )
    from ais_prompt.store import replacing

    if reuse is not None and ask is None:
        raise click.UsageError("-r goes on with what --ask has asked. Add --ask MODEL, or leave -r out.")
    before, after = read_stored_run(first, work_dir), read_stored_run(second, work_dir)
    ladders, notes = explain_runs(before, after, dataset, names=(first, second))
    if ask is not None:
        ladders = [_asked_again(ladders, ask, max_requests, reuse, work_dir)]
    if html is not None:
        found = {"explanations": [ladder_json(one, MOST_ON_PAGE) for one in ladders], "notes": list(notes)}
        with replacing(Path(html)) as page:
            page.write(explanation_page(first, second, found))
    offer(explanations=[ladder_json(one, pairs) for one in ladders], notes=list(notes))
    if not wants_json():
        console = Console()
        for note in notes:
            echo(f"Note: {note}")
        for ladder in ladders:
            echo(f"\n{ladder.before.dataset} and {ladder.after.dataset}" if len(ladders) > 1 else "")
            print_ladder(ladder, pairs, console)
        if html is not None:
            echo(f"\n{html}: the pairs of each cause, for a browser")
    if not ladders:
        raise click.exceptions.Exit(1)


def _asked_again(ladders: Sequence[Ladder], name: str, most: int, reuse: str | None, work_dir: str | None) -> Ladder:
    """Ask a model again, and return the explanation with the steps that this separates."""
    from ais_prompt import load_config, run
    from ais_prompt.checks import checked
    from ais_prompt.cli.check import show_estimate
    from ais_prompt.config import DEFAULT_WORK_DIR, Options
    from ais_prompt.errors import ConfigError, Interrupted
    from ais_prompt.extensions.logs.explain.asking_again import choose_questions, config_of, dataset_name, separate
    from ais_prompt.plan import named_model
    from ais_prompt.store import RunFolder, read_predictions
    from ais_prompt.utils import listed

    if len(ladders) != 1:
        counts = Counter(name for one in ladders for name in {one.before.dataset, one.after.dataset})
        names = listed(sorted(name for name, count in counts.items() if count == 1))
        fix = f"choose one: --dataset with {names}" if ladders else "leave --ask out, which shows why"
        raise ConfigError(f"--ask needs one dataset, and {len(ladders)} can be explained", where="--ask", fix=fix)
    questions = choose_questions(ladders[0], most)
    loaded = load_config(config_of(questions, named_model(name)))
    work_dir = work_dir or DEFAULT_WORK_DIR
    show_estimate(checked(Options(loaded=loaded, work_dir=work_dir))[0], by_task=False)
    try:
        made = run(loaded, mode="infer", reuse=reuse, work_dir=work_dir, quiet=wants_json())
    except Interrupted as stop:
        stop.fix = f"go on with the same command and -r {Path(stop.where).name}"
        raise
    made.raise_errors()
    folder = RunFolder(made.path)
    answers = {
        way: list(read_predictions(folder.predictions(model, dataset_name(way)), with_prompts=False))
        for way, model in questions.models.items()
    }
    return separate(questions, answers, str(folder.root))
