"""Verbs that compare results: ``compare`` two runs, ``baseline`` for later runs, ``judge-check`` with human labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.brought import brought
from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, echo, json_option, offer, wants_json
from ais_prompt.verbs import measured_judge

if TYPE_CHECKING:
    from ais_prompt.judges import Estimated, Judge


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
    from ais_prompt.comparison import make_baselines, read_stored_run, write_baseline
    from ais_prompt.gates import advice_lines, advise_gates, alarm_words
    from ais_prompt.utils import counted

    if output is None and not advise:
        raise click.UsageError("Give -o FILE, --advise, or both.")
    stored = [read_stored_run(run, work_dir) for run in runs]
    if output is not None:
        made = make_baselines(stored)
        write_baseline(Path(output), made)
        samples = sum(len(task.values) for task in made.tasks)
        offer(file=output, samples=samples, datasets=len(made.tasks))
        if not wants_json():
            origin = f"{counted(samples, 'sample')} of {counted(len(made.tasks), 'dataset')}, from {made.run}"
            echo(f"{output}: {origin}\n{alarm_words(made.tasks, made.runs)}")
    if advise:
        advice = advise_gates(stored, alarms)
        offer(advice=[one.to_json() for one in advice])
        if not wants_json():
            echo("\n".join(advice_lines(advice, len(stored), alarms)))


@click.command("judge-check", cls=Verb)
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "--labels",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of rows with id (of a sample) and label (true or false).",
)
@click.option("--task", metavar="MODEL/DATASET", help="Only this task, if runs have several.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def judge_check(
    runs: tuple[str, ...],
    labels: Path,
    task: str | None,
    work_dir: str | None,
    debug: bool,  # noqa: ARG001
) -> None:
    """Measure the judge of each RUN against labels of people, and the agreement of several judges.

    Labels say of some answers whether they are right. Shown are the judge's sensitivity and specificity, Cohen's kappa,
    and the score of the run corrected for its errors; for several runs of the same answers, Krippendorff's alpha.
    """
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.verbs import check_judges as check

    found = check(runs, labels, expand(work_dir or DEFAULT_WORK_DIR), task)
    offer(judges=list(map(measured_judge, found.judges)), alpha=found.alpha)
    for judge in found.judges:
        _show(judge)
    if len(runs) > 1:
        alpha = "none: the verdicts do not vary" if found.alpha is None else f"{found.alpha:.3f}"
        echo(f"Krippendorff's alpha of {len(runs)} judges, {found.answers:,} answers: {alpha}")


def _show(judge: Judge) -> None:
    without = f", {judge.unjudged:,} more without a verdict" if judge.unjudged else ""
    echo(f"{judge.task} of {judge.run}: {judge.confusion.n:,} labelled answers{without}")
    right = sum(judge.verdicts.values()) / len(judge.verdicts)
    echo(f"  sensitivity      {_percent(judge.confusion.sensitivity, 'no right answer is labelled')}")
    echo(f"  specificity      {_percent(judge.confusion.specificity, 'no wrong answer is labelled')}")
    kappa = judge.confusion.kappa
    shown = "unknown: nothing varies" if kappa is None else f"{kappa.value:.2f}  [{kappa.low:.2f}, {kappa.high:.2f}]"
    echo(f"  Cohen's kappa    {shown}")
    echo(f"  score            {right:.1%} as judged".replace("%", " %"))
    corrected = _percent(
        judge.corrected, "unknown: the judge is no better than chance, or labels of a kind are missing"
    )
    echo(f"  corrected score  {corrected}\n")


def _percent(found: Estimated | None, missing: str) -> str:
    if found is None:
        return missing
    return f"{100 * found.value:.1f} %  [{100 * found.low:.1f} %, {100 * found.high:.1f} %]"
