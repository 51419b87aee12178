"""The end of the verbs that score: the table, the files, and the exit code.

A run whose tasks were all refused (a wrong key, an unknown model, a server that is not reached) ends with `refusals`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from ais_prompt.cli.verb import echo, hanging, hint, offer, output_of, report
from ais_prompt.errors import ModelError, Refusal

if TYPE_CHECKING:
    from rich.console import Console

    from ais_prompt.plan import Plan
    from ais_prompt.scoring import TaskOutcome
    from ais_prompt.verbs import FailureLimit, RunResult

PIPE_WIDTH: Final = 100
"""Columns of tables in a file or pipe, unless ``COLUMNS`` says otherwise."""
_CHANGES_SHOWN: Final = 3
"""Most differences from the run before that are named."""
_FILES: Final = {
    "predictions": "every prompt and answer, one sample a line",
    "results": "scores with the details of each sample",
    "summary": "all of this as txt, csv, md and json",
    "report.html": "scores and every sample, for a browser: aisprompt view",
}


def show(
    result: RunResult,
    plan: Plan,
    remedies: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    options: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Print the table, what became of the other answers, and where the files are; with ``-q`` the table only.

    Args:
        result: of the run.
        plan: of the run.
        remedies: state of answers (`ais_prompt.report.LostAnswers`) → what is known of it, and the command that helps.
        options: those of extensions about scores.
    """
    from rich.console import Console

    from ais_prompt.report import print_speed, print_summary, used_line
    from ais_prompt.steps import first_answer, tell
    from ais_prompt.terminal import is_quiet
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
    )
    if result.differences:
        from ais_prompt.comparison import difference_json

        offer(differences=list(map(difference_json, result.differences)))
    # A pipe without a width gets lines that most terminals show whole.
    console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH)
    datasets = {outcome.dataset for outcome in result.outcomes}
    if any(outcome.error is None for outcome in result.outcomes):
        hint("")
        print_summary(result.rows, console, {row.dataset for row in result.rows} - datasets, result.outcomes)
    beside = first_answer("beside_scores", root, plan, options, console)
    if beside is not None:
        offer(**beside.fields)
    if is_quiet() or refusals(result):
        return
    if beside is not None:
        echo()
        beside.show()
    elif result.differences:
        from ais_prompt.comparison import print_model_difference

        print_model_difference(result.differences, root, console)
    tell("shown", root, console)
    echo()
    _print_lost_answers(result, plan, remedies, console)
    if result.speeds and output_of(click.get_current_context()).with_speed:
        print_speed(result.speeds, console)
        console.print()
    if result.isolation:
        echo(f"isolation: {', '.join(sorted(set(result.isolation.values())))}")
    if result.used.requests:
        echo(f"asked: {used_line(result.used)}")


def _print_lost_answers(
    result: RunResult, plan: Plan, remedies: Mapping[str, tuple[str, str]], console: Console
) -> None:
    """Print a line for each state of answers without a full score, and the reader that would have read more."""
    from rich.cells import cell_len

    from ais_prompt.report import better_readings, lost_answers, term

    view = shlex.join(["aisprompt", "view", short_name(result.folder.root)])
    lines = []
    for lost in lost_answers(result.folder, result.outcomes):
        example, command = remedies.get(lost.word, ("", view))
        example = example or lost.example or (_place(plan, *lost.row) if lost.row else "")
        lines.append((f"{lost.count:,} {term(lost.word) if console.is_terminal else lost.word}", example, command))
    widths = [max(map(cell_len, column)) for column in list(zip(*lines, strict=True))[:2]]
    for *texts, command in lines:
        head = "".join(f"  {text}{' ' * (width - cell_len(text))}" for text, width in zip(texts, widths, strict=True))
        echo(hanging(f"{head}  ", command, breaks=False))
    for sentence, command in better_readings(result.folder, result.outcomes):
        echo(hanging(f"  {sentence}:  ", command, breaks=False))


def _place(plan: Plan, dataset: str, row: int) -> str:
    """Return where a row is, ``questions.csv:31``; its number, if the data cannot be read any more."""
    from ais_prompt.data import row_place
    from ais_prompt.errors import AisPromptError

    with suppress(AisPromptError):
        return next(row_place(one.data.origins, row) for one in plan.datasets if one.spec.abbr == dataset)
    return f"row {row}"


def show_folder(result: RunResult) -> None:
    """Print where the run is and what it can be compared with; the first time, and with ``-v``, what its files are."""
    from ais_prompt.store import config_changes, runs_called

    if refusals(result):  # the folder has nothing, and -r finds it
        return
    root = result.folder.root
    home = root.absolute().parent
    runs = runs_called(home.parent, home.name)
    scored = [run for run in runs if run.name < root.name and any(run.glob("results/*/*.json"))]
    is_first = False
    with suppress(OSError):  # the work dir may not be listed
        is_first = len(runs) <= 1 and [*home.parent.iterdir()] == [home]
    compared = ""
    if scored and any(outcome.scores for outcome in result.outcomes):
        compared = f"compare with the run before: {shlex.join(['aisprompt', 'compare', short_name(root)])}"
    hint(hanging(f"Run folder: {root}    ", compared, breaks=False))
    if compared and (changes := config_changes(scored[-1], root)):
        hint(f"  changed since then: {'; '.join(changes[:_CHANGES_SHOWN])}")
    if is_first or output_of(click.get_current_context()).level > 0:
        for name in filter(lambda name: (root / name).exists(), _FILES):
            hint(f"  {name:<13} {_FILES[name]}")


def short_name(root: Path) -> str:
    """Return the name by which `aisprompt view` finds the latest run of a folder; else the path."""
    from ais_prompt.config import DEFAULT_WORK_DIR, expand

    return root.parent.name if expand(DEFAULT_WORK_DIR).resolve() == root.resolve().parent.parent else str(root)


def exit_code(result: RunResult, limit: FailureLimit, *, debug: bool) -> int:
    """Say why tasks failed or are paused, or that too many samples failed, and return the exit code of the run."""
    from ais_prompt.errors import Paused
    from ais_prompt.terminal import is_quiet

    ended = [outcome for outcome in result.outcomes if outcome.error is not None]
    paused = [outcome for outcome in ended if isinstance(outcome.error, Paused)]
    failed = [outcome for outcome in ended if outcome not in paused]
    refused = [] if debug else refusals(result)
    for line in refused:
        echo(line, err=True)
    for outcomes, words in ((failed, "failed"), (paused, "paused")):
        if outcomes and not refused:
            _show_causes(outcomes, words, result.outcomes, debug=debug)
    for outcome in [*failed, *paused]:
        assert outcome.error is not None
        return outcome.error.exit_code
    if not limit.allows(result.failed, result.asked):
        # The lines of `show` say why, with the commands.
        reasons = ", ".join(f"{why} {count}" for why, count in result.reasons.items()) if is_quiet() else ""
        words = f"{result.failed} of {result.asked} samples failed" + (f" ({reasons})" if reasons else "")
        echo(f"exit code 1: {words}; --max-failures is {limit}", err=True)
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


def refusals(result: RunResult) -> list[str]:
    """Return the lines of a run of which each task ended with a refusal by its server; none for any other run.

    Args:
        result: of a run.
    """
    models: dict[Refusal, set[str]] = {}
    for outcome in result.outcomes:
        refusal = outcome.error.refusal if isinstance(outcome.error, ModelError) else None
        if refusal is None or result.used.output_tokens:
            return []
        models.setdefault(refusal, set()).add(outcome.model)
    every = {outcome.model for outcome in result.outcomes}
    lines: list[str] = []
    for refusal, names in models.items():
        who = f"{refusal.status} from" if refusal.status else "no answer from"
        lines.append(f"{who} {refusal.address}{_of(sorted(names), len(every))}: {refusal.words}")
        lines += [f"  {refusal.hint}"] if refusal.hint else []
    if models:
        remedies = " or ".join(dict.fromkeys(map(_remedy, models)))
        lines.append(f"  nothing was answered; {remedies} and run the same command with -r")
    return lines


def _remedy(refusal: Refusal) -> str:
    if not refusal.status:
        return "start the server"
    if refusal.status == "401":
        return "name the key in api_key" if refusal.hint == "no key is sent" else "set it"
    return "correct that"


def _of(names: Sequence[str], models: int) -> str:
    """Return `` for all 8 models``; nothing if the run has one model."""
    if models == 1:
        return ""
    if len(names) == 1:
        return f" for {names[0]}"
    return f" for {'all ' if len(names) == models else ''}{len(names)} models"
