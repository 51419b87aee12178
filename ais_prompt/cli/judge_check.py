"""``aisprompt judge-check``: how far a judge can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ais_prompt.cli.verb import Verb

if TYPE_CHECKING:
    from ais_prompt.metrics.judging import Estimated
    from ais_prompt.verbs.judge_check import Judge


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
    from ais_prompt.config.parse.run import DEFAULT_WORK_DIR
    from ais_prompt.config.paths import expand
    from ais_prompt.verbs.judge_check import judge_check as check

    found = check(runs, labels, expand(work_dir or DEFAULT_WORK_DIR), task)
    for judge in found.judges:
        _show(judge)
    if len(found.judges) > 1:
        alpha = "none: the verdicts do not vary" if found.alpha is None else f"{found.alpha:.3f}"
        click.echo(f"Krippendorff's alpha of {len(found.judges)} judges, {found.answers:,} answers: {alpha}")


def _show(judge: Judge) -> None:
    without = f", {judge.unjudged:,} more without a verdict" if judge.unjudged else ""
    click.echo(f"{judge.task} of {judge.run}: {judge.confusion.n:,} labelled answers{without}")
    right = sum(judge.verdicts.values()) / len(judge.verdicts)
    click.echo(f"  sensitivity      {_percent(judge.confusion.sensitivity, 'no right answer is labelled')}")
    click.echo(f"  specificity      {_percent(judge.confusion.specificity, 'no wrong answer is labelled')}")
    kappa = judge.confusion.kappa
    shown = "unknown: nothing varies" if kappa is None else f"{kappa.value:.2f}  [{kappa.low:.2f}, {kappa.high:.2f}]"
    click.echo(f"  Cohen's kappa    {shown}")
    click.echo(f"  score            {right:.1%} as judged".replace("%", " %"))
    corrected = _percent(
        judge.corrected, "unknown: the judge is no better than chance, or labels of a kind are missing"
    )
    click.echo(f"  corrected score  {corrected}\n")


def _percent(found: Estimated | None, missing: str) -> str:
    if found is None:
        return missing
    return f"{100 * found.value:.1f} %  [{100 * found.low:.1f} %, {100 * found.high:.1f} %]"
