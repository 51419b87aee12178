"""``aisprompt explain``: why two scores differ, whatever tools made them."""

from __future__ import annotations

from pathlib import Path

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, json_option, offer, wants_json


@click.command(cls=Verb)
@click.argument("first", shell_complete=complete_run)
@click.argument("second", shell_complete=complete_run)
@click.option("--dataset", metavar="NAME", help="Only this dataset.")
@click.option("--pairs", type=click.IntRange(min=0), default=10, show_default=True, help="Pairs to show of each cause.")
@json_option
@click.option("--html", metavar="FILE", help="Write a page for the browser, with the pairs side by side.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def explain(first: str, second: str, dataset: str | None, pairs: int, html: str | None, work_dir: str | None) -> None:
    """Explain why two scores differ: which part of the difference comes from where, and how sure that is.

    FIRST and SECOND are logs of any tool that `import` reads, or runs as in `compare`. The order of the causes is that
    in which a score is made: other samples, data, failures, prompt, decoding, truncation, answers, extraction, metric,
    aggregation. What comes after the answer is computed: each side's answers are scored by the rule of the other side.

    No model is asked. Exit code 1 if nothing can be explained.
    """
    from rich.console import Console

    from ais_prompt.comparison.explained import explain_runs
    from ais_prompt.comparison.runs import read_stored_run
    from ais_prompt.report.ladder import MOST_ON_PAGE, ladder_json, print_ladder
    from ais_prompt.report.web.pages import explanation_page
    from ais_prompt.store.disk import replacing

    before, after = read_stored_run(first, work_dir), read_stored_run(second, work_dir)
    ladders, notes = explain_runs(before, after, dataset)
    if html is not None:
        found = {"explanations": [ladder_json(one, MOST_ON_PAGE) for one in ladders], "notes": list(notes)}
        with replacing(Path(html)) as page:
            page.write(explanation_page(before.name, after.name, found))
    offer(explanations=[ladder_json(one, pairs) for one in ladders], notes=list(notes))
    if not wants_json():
        console = Console()
        for note in notes:
            click.echo(f"Note: {note}")
        for ladder in ladders:
            click.echo(f"\n{ladder.before.dataset} and {ladder.after.dataset}" if len(ladders) > 1 else "")
            print_ladder(ladder, pairs, console)
        if html is not None:
            click.echo(f"\n{html}: the pairs of each cause, for a browser")
    if not ladders:
        raise click.exceptions.Exit(1)
