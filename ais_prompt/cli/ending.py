"""The end of the verbs that score: the table, the files, and the exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click

from ais_prompt.cli.verb import echo, hint, offer, output_of, report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ais_prompt.scoring import TaskOutcome
    from ais_prompt.verbs import FailureLimit, RunResult

PIPE_WIDTH: Final = 100
"""Columns of tables in a file or pipe, unless ``COLUMNS`` says otherwise."""


def show(result: RunResult) -> None:
    """Print the table, and where the files are; with ``-q`` the table only."""
    from rich.console import Console

    from ais_prompt.comparison import difference_json
    from ais_prompt.report import print_speed, print_summary, unread_answers, used_line
    from ais_prompt.utils import is_quiet
    from ais_prompt.verbs import task_ends

    root = result.folder.root
    if result.is_partial:
        echo(
            f"The run is not finished. The answers so far are scored in {root};\n"
            f"to ask the rest, give the run's command again with -r {root.parent.name}",
            err=True,
        )
    offer(
        folder=str(root),
        tasks=task_ends(result.outcomes),
        scores=list(result.rows),
        asked=result.asked,
        failed=result.failed,
        reasons=dict(result.reasons),
        used=result.used,
        isolation=dict(result.isolation),
        differences=list(map(difference_json, result.differences)),
    )
    hint("")
    # A pipe without a width gets lines that most terminals show whole.
    console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH)
    datasets = {outcome.dataset for outcome in result.outcomes}
    print_summary(result.rows, console, {row.dataset for row in result.rows} - datasets)
    if is_quiet():
        return
    if result.differences:
        from ais_prompt.comparison import print_model_difference

        print_model_difference(result.differences, root, console)
    for number, line in enumerate(unread_answers(result.folder, result.outcomes)):
        echo(line if number else f"\n{line}")
    if result.speeds and output_of(click.get_current_context()).with_speed:
        console.print()
        print_speed(result.speeds, console)
    if result.isolation:
        echo(f"\nisolation: {', '.join(sorted(set(result.isolation.values())))}")
    if result.used.requests:
        echo(f"\nasked: {used_line(result.used)}")
    echo(f"\nRun folder: {root}")
    echo("  predictions/  every prompt and answer, one sample a line")
    echo("  results/      scores with the details of each sample")
    echo("  summary/      all of this as txt, csv, md and json")
    if (root / "report.html").exists():
        echo("  report.html   scores and every sample, for a browser")


def exit_code(result: RunResult, limit: FailureLimit, *, debug: bool) -> int:
    """Say why tasks failed or are paused, or that too many samples failed, and return the exit code of the run."""
    from ais_prompt.errors import Paused

    ended = [outcome for outcome in result.outcomes if outcome.error is not None]
    paused = [outcome for outcome in ended if isinstance(outcome.error, Paused)]
    failed = [outcome for outcome in ended if outcome not in paused]
    for outcomes, words in ((failed, "failed"), (paused, "paused")):
        if outcomes:
            _show_causes(outcomes, words, result.outcomes, debug=debug)
    for outcome in [*failed, *paused]:
        assert outcome.error is not None
        return outcome.error.exit_code
    if not limit.allows(result.failed, result.asked):
        reasons = ", ".join(f"{why} {count}" for why, count in result.reasons.items())
        words = f"{result.failed} of {result.asked} samples failed" + (f" ({reasons})" if reasons else "")
        echo(f"\n{words}; --max-failures is {limit}", err=True)
        return 1
    return 0


def _show_causes(ended: Sequence[TaskOutcome], words: str, tasks: Sequence[TaskOutcome], *, debug: bool) -> None:
    """Print each cause once (`kind_of`), with the tasks that it ended. The causes of most tasks come first."""
    from ais_prompt.report import ALL, NAMED, names_of_tasks
    from ais_prompt.utils import counted, kind_of

    causes: dict[str, list[TaskOutcome]] = {}
    for outcome in ended:
        assert outcome.error is not None
        causes.setdefault(kind_of("\n".join(outcome.error.lines())), []).append(outcome)
    samples = sum(outcome.samples or 0 for outcome in ended)
    of = f", with {counted(samples, 'sample')}" if samples else ""
    echo(f"\n{len(ended)} of {counted(len(tasks), 'task')} {words}{of}:", err=True)
    most_first = sorted(causes.values(), key=len, reverse=True)
    for outcomes in most_first[:NAMED]:
        assert outcomes[0].error is not None
        report(outcomes[0].error, debug=debug)
        if len(tasks) > 1:
            echo(f"  tasks: {names_of_tasks(outcomes, tasks)}", err=True)
    if (more := len(most_first) - NAMED) > 0:
        echo(f"… and {counted(more, 'more cause')}: {ALL}", err=True)
