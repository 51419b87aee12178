"""``aisprompt compare``: two runs, sample by sample."""

from __future__ import annotations

from pathlib import Path

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.output import json_option, offer, wants_json
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("run_a", shell_complete=complete_run)
@click.argument("run_b", shell_complete=complete_run)
@click.option("--flips", type=click.IntRange(min=0), default=3, show_default=True, help="Changed samples to show.")
@json_option
@click.option("--html", metavar="FILE", help="Write a page for the browser, with every changed sample.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def compare(run_a: str, run_b: str, flips: int, html: str | None, work_dir: str | None) -> None:
    """Compare two runs: what changed, on which samples, how sure that is, and where it comes from.

    A run is the path of a run folder, or below the work dir a name (its latest run), name/time, a time, or latest.
    Samples are paired by their input columns. No model is asked, and the runs stay as they are. Exit code 1 if nothing
    can be compared.
    """
    from rich.console import Console

    from ais_prompt.comparison.runs import compare_runs, read_stored_run
    from ais_prompt.report.comparison import comparison_json, print_comparison
    from ais_prompt.report.web.pages import comparison_page
    from ais_prompt.store.disk import replacing

    found = compare_runs(read_stored_run(run_a, work_dir), read_stored_run(run_b, work_dir))
    values = comparison_json(found.comparisons, found.notes)
    if html is not None:
        with replacing(Path(html)) as page:
            page.write(comparison_page(found.before.name, found.after.name, values))
    offer(**values)
    if not wants_json():
        print_comparison(found.comparisons, found.notes, flips, Console())
        if html is not None:
            click.echo(f"\n{html}: every changed sample, for a browser")
    if not found.comparisons:
        raise click.exceptions.Exit(1)
