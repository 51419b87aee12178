"""``aisprompt labels``: what people labelled in a run; ``aisprompt judge-check``: what that says about its judge.

Options of ``aisprompt view`` make the labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, echo, json_option, offer, wants_json

DRAWN: Final = 100
LABEL: Final[Any] = click.option("--label", is_flag=True, help="Label answers of RUN as right or wrong.")
NAME: Final[Any] = click.option("--name", metavar="NAME", help="With --label: who labels (default: me).")
TASK: Final[Any] = click.option("--task", metavar="MODEL/DATASET", help="With --label: only answers of this task.")
DRAW: Final[Any] = click.option(
    "--draw", type=click.IntRange(min=1), metavar="N", help=f"With --label: so many answers (default: {DRAWN})."
)
DISAGREED: Final[Any] = click.option(
    "--disagreed", is_flag=True, help="With --label: only answers on which judges disagree."
)


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.option("--task", metavar="MODEL/DATASET", help="Only this task.")
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the labels of a task on which all people agree, for judge-check --labels.",
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def labels(
    run: str,
    task: str | None,
    output: Path | None,
    work_dir: str | None,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Count the labels of people in a run, how far they agree, and what the score is by them.

    `aisprompt view RUN --label` makes labels. The corrected share is that of right answers among all, from labels of
    answers that were drawn at random; the next labels are those that make its interval narrowest.
    """
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.errors import ConfigError
    from ais_prompt.extensions.labels.label_files import write_label_file
    from ais_prompt.extensions.labels.labelled import measure, tasks_to_label
    from ais_prompt.store import locate_run

    folder = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    found = [one for stored in tasks_to_label(folder, task) if (one := measure(folder, stored)) is not None]
    if not found:
        what = "no answer of this run has a label"
        raise ConfigError(what, where=str(folder.root), fix=f"aisprompt view {run} --label")
    if output is not None:
        if len(found) > 1:
            names = ", ".join(one.task for one in found)
            raise ConfigError(f"there are labels of {len(found)} tasks", where="-o", fix=f"add --task, one of: {names}")
        write_label_file(output, found[0].agreed)
    offer(
        folder=str(folder.root),
        tasks=[one.to_json() for one in found],
        files=[] if output is None else [str(output)],
    )
    if not wants_json():
        for one in found:
            echo("\n".join(one.lines()))
        if output is not None:
            echo(f"{output}: {len(found[0].agreed):,} labels")


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
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Measure the judge of each RUN against labels of people, and the agreement of several judges.

    Labels say of some answers whether they are right. Shown are the judge's sensitivity and specificity, Cohen's kappa,
    and the score of the run corrected for its errors; for several runs of the same answers, Krippendorff's alpha.
    """
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.extensions.labels.judge_check import check_judges

    found = check_judges(runs, labels, expand(work_dir or DEFAULT_WORK_DIR), task)
    offer(judges=[one.to_json() for one in found.judges], alpha=found.alpha)
    for one in found.judges:
        echo("\n".join(one.lines()))
    if len(runs) > 1:
        alpha = "none: the verdicts do not vary" if found.alpha is None else f"{found.alpha:.3f}"
        echo(f"Krippendorff's alpha of {len(runs)} judges, {found.answers:,} answers: {alpha}")
