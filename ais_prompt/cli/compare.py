"""Verbs that compare results: ``compare`` two runs, ``baseline`` for later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, brought, echo, json_option, offer, wants_json


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.argument("other", shell_complete=complete_run, required=False)
@click.option("--models", multiple=True, metavar="MODEL [MODEL]", help="Only this model, or a model of each run.")
@brought("compare")
@click.option("--flips", type=click.IntRange(min=0), help="Changed samples to show (default: 3 of a single dataset).")
@click.option("--together", is_flag=True, help="Add intervals that hold for all datasets together (max-T).")
@json_option
@click.option("--html", metavar="FILE", help="Write a page for the browser, with every changed sample.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def compare(
    run: str,
    other: str | None,
    models: tuple[str, ...],
    flips: int | None,
    together: bool,
    html: str | None,
    work_dir: str | None,
    **_: Any,
) -> None:
    """Compare two runs, or two models of one: what changed, on which samples, how sure that is, and why.

    Without OTHER, a name means its last two runs, and the path of a run its two models: --models ONE TWO.

    A run is the path of a run folder, or below the work dir a name (its latest run), name/time, a time, or latest; or
    the path of a log that `import` reads. Samples are paired by their input columns, those of logs by their questions.
    Of measured loads, latencies and throughputs are compared too, request by request.
    No model is asked, and the runs stay as they are. Exit code 1 if nothing can be compared.
    """
    from rich.console import Console

    from ais_prompt.comparison import (
        compare_runs,
        comparison_json,
        has_scores,
        open_sides,
        print_comparison,
        print_together,
        together_json,
    )
    from ais_prompt.report import comparison_page
    from ais_prompt.steps import first_answer, steps
    from ais_prompt.store import replacing

    within = first_answer("compare_within", click.get_current_context().params)
    if within is not None:
        offer(**within.fields)
        if within.is_empty or not wants_json():
            within.show()
        if within.is_empty:
            raise click.exceptions.Exit(1)
        return
    sides = open_sides(run, other, models, work_dir)
    if further := [one for compared in steps("compare") if (one := compared(*sides)) is not None]:
        for one in further:
            offer(**one.fields)
            if not wants_json():
                one.show()
        if html is None and not all(any(map(has_scores, side.tasks)) for side in sides):
            if all(one.is_empty for one in further):
                raise click.exceptions.Exit(1)
            return
    found = compare_runs(*sides)
    values = comparison_json(found)
    if html is not None:
        with replacing(Path(html)) as page:
            page.write(comparison_page(*found.names, values))
    offer(**values, together=together_json(found.comparisons) if together else [])
    if not wants_json():
        print_comparison(found, flips, Console())
        if together and found.comparisons:
            print_together(found.comparisons, Console())
        if html is not None:
            echo(f"\n{html}: every changed sample, for a browser")
    if not found.comparisons:
        raise click.exceptions.Exit(1)


@click.command(cls=Verb)
@click.argument("runs", shell_complete=complete_run, nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", metavar="FILE", help="Where to write it.")
@click.option("--advise", is_flag=True, help="Print gates for later runs, from at least two runs of one config.")
@click.option(
    "--alarms",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="N",
    help="With --advise: false alarms in a year of nights.",
)
@json_option
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def baseline(runs: tuple[str, ...], output: str | None, advise: bool, alarms: float, work_dir: str | None) -> None:
    """Write down which samples of a run were right, in a small file that can be committed.

    `aisprompt run CONFIG --baseline FILE` compares a later run with it. RUN is as in `aisprompt score`; the baseline of
    several runs has the mean over them, and less noise. --advise says which limits runs of the same model keep to.
    """
    from ais_prompt.comparison import read_stored_run
    from ais_prompt.gates import advice_lines, advise_gates, alarm_words, make_baselines, write_baseline
    from ais_prompt.utils import counted

    if output is None and not advise:
        raise click.UsageError("Give -o FILE, --advise, or both.")
    stored = [read_stored_run(run, work_dir) for run in runs]
    if output is not None:
        made = make_baselines(stored)
        write_baseline(Path(output), made)
        samples = sum(len(task.values) for task in made.tasks if not task.evaluator)
        datasets = len({(task.model, task.dataset) for task in made.tasks})
        offer(file=output, samples=samples, datasets=datasets)
        if not wants_json():
            origin = f"{counted(samples, 'sample')} of {counted(datasets, 'dataset')}, from {made.run}"
            echo(f"{output}: {origin}\n{alarm_words(made.tasks, made.runs)}")
    if advise:
        advice = advise_gates(stored, alarms)
        offer(advice=[one.to_json() for one in advice])
        if not wants_json():
            echo("\n".join(advice_lines(advice, len(stored), alarms)))
