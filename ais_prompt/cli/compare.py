"""``aisprompt compare``: two runs, sample by sample."""

from __future__ import annotations

import json

import click

from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("run_a")
@click.argument("run_b")
@click.option("--flips", type=click.IntRange(min=0), default=3, show_default=True, help="Changed samples to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every changed sample.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def compare(run_a: str, run_b: str, flips: int, as_json: bool, work_dir: str | None) -> None:
    """Compare two runs: what changed, on which samples, how sure that is, and where it comes from.

    A run is the path of a run folder, or below the work dir a name (its latest run), name/time, or a time. Samples are
    paired by their ids. Nobody is asked, and nothing is written.
    """
    from rich.console import Console

    from ais_prompt.compare import compare_runs, open_run
    from ais_prompt.report.comparison import comparison_json, print_comparison

    found = compare_runs(open_run(run_a, work_dir), open_run(run_b, work_dir))
    if as_json:
        text = json.dumps(comparison_json(found.comparisons, found.notes), ensure_ascii=False, indent=2)
        click.echo(text.encode("utf-8", "backslashreplace"))
    else:
        print_comparison(found.comparisons, found.notes, flips, Console())
