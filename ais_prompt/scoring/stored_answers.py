"""Check what a run folder holds before it is scored or shown: a command that cannot work changes no file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from ais_prompt.checks import check_k
from ais_prompt.errors import AisPromptError, ConfigError, raise_all
from ais_prompt.plan import Plan, Task
from ais_prompt.scoring.score import repeats_of
from ais_prompt.store import RunFolder, check_scored, read_predictions


def check_stored(plan: Plan, folder: RunFolder, mode: Literal["eval", "viz"]) -> None:
    """Check that a run holds what a mode needs of the steps before it.

    Tasks that lack it are errors of their own; here they count only if it is all of them.

    Args:
        plan: what is to be scored or shown.
        folder: of the run.
        mode: ``eval`` needs answers, ``viz`` needs scores.

    Raises:
        ConfigError: there are none, or not enough answers for a ``pass@k`` (`ConfigFaults` if several).
    """
    if mode == "viz":
        check_scored(folder, plan.spec.tasks)
        return
    scored = [task for task in plan.spec.tasks if task.is_scored]
    if scored and not any(folder.predictions(task.model.abbr, task.dataset.abbr).exists() for task in scored):
        fix = f"ask the models first: give the run's command again with -r {folder.root.name}"
        raise ConfigError("the run has no answers yet", where=str(folder.root), fix=fix)
    check_answers(plan.tasks, folder)


def check_answers(tasks: Sequence[Task], folder: RunFolder) -> None:
    """Check that there are enough stored answers to each question for every ``pass@k``.

    Tasks whose answers are missing or cannot be read are left to the scoring.

    Raises:
        ConfigError: there are not (`ConfigFaults` if in several datasets).
    """
    faults: dict[str, AisPromptError] = {}
    for task in tasks:
        if task.spec.dataset.eval.k:
            try:
                _check_first(task, folder)
            except ConfigError as fault:
                faults.setdefault(fault.where, fault)
    raise_all(faults.values())


def _check_first(task: Task, folder: RunFolder) -> None:
    """Raise a `ConfigError` if the first question has too few answers; all questions have the same number."""
    first = None
    with suppress(AisPromptError):
        path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
        first = None if task.dataset.has_turns else next(read_predictions(path, with_prompts=False), None)
    if first is not None:
        check_k(task.spec.dataset.eval, repeats_of(first))
