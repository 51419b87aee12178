"""The stored answers of a run: check that there are enough, and make predictions of them, also before the run ends.

Predictions are made of journals. If several processes asked parts of the run, what they predicted can be joined in
place of that (the step ``joined``). A run that is not finished is collected in the subfolder ``partial``, so that it
can be scored and shown before it ends.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal, TypeAlias

from ais_prompt.checks import check_k
from ais_prompt.engine import stored_predictions
from ais_prompt.errors import AisPromptError, ConfigError, StoreError, raise_all
from ais_prompt.models import full_identity
from ais_prompt.plan import Plan, Task, record_of
from ais_prompt.scoring.answers import repeats_of
from ais_prompt.steps import first_answer
from ais_prompt.store import (
    PredictionSorter,
    RunFolder,
    addresses_of,
    check_scored,
    done_tasks,
    hold_writer_lock,
    prediction_sorter,
    read_predictions,
    read_run_file,
    refuse_links,
    try_file_lock,
    writing,
)
from ais_prompt.terminal import logging_to
from ais_prompt.types import TaskFacts

logger = logging.getLogger(__name__)
Join: TypeAlias = Callable[[Task, PredictionSorter], bool]
"""Adds the stored predictions of all samples of a task, and returns whether it has; see the step ``joined``."""
_ENDED = {"finished", "failed"}
"""How a session ends that has tried every task."""


def open_partial(plan: Plan, folder: RunFolder, command: str) -> RunFolder | None:
    """Return a run folder with all answers of a run that is not finished; None for a run with nothing left to ask.

    The run may be under way in another process: its folder is only read, except for the subfolder ``partial``. Tasks
    that are over are taken as they are; the predictions of the others are made of their journals.

    Args:
        plan: the plan of the config that scores.
        folder: of the run.
        command: the command line without secrets, for the record.

    Raises:
        AisPromptError: the run folder cannot be used.
    """
    check_answers(plan.tasks, folder)
    merged = merge_journals(plan, folder, command, folder.partial) if folder.sessions() else {}
    if not folder.run_file.exists():  # a folder that was made by hand
        return None
    record = read_run_file(folder)
    done = done_tasks(record)
    left = [task for task in plan.tasks if task.name not in done]
    journals = (folder.journals(task.spec.model.abbr, task.spec.dataset.abbr) for task in left)
    # Nothing is left, or a session has tried all, and nothing is in a journal.
    if not left or (record.get("status") in _ENDED and not any(journals)):
        return None
    partial = folder.partial
    refuse_links(folder)
    with writing(partial.root):
        partial.root.mkdir(exist_ok=True)
    with hold_writer_lock(partial), logging_to(partial.logs / "run.log"):
        _clear(partial, keep=[_predictions(task, partial) for task in left if task.name in merged])
        _copy_judgements(folder, partial)
        copy = record_of(plan, partial, command, asks=True).begin()
        addresses = list(dict.fromkeys(address for _, address in addresses_of(record)))
        for task in plan.tasks:
            # Over: its predictions are those of the run, and appear here as they are.
            if task.name in done and _share(_predictions(task, folder), _predictions(task, partial)):
                copy.add_task(task.spec, TaskFacts.from_json(record["tasks"][task.name]))
                continue
            # Merged a moment ago.
            if task.name in merged:
                copy.add_task(task.spec, merged[task.name], done=False)
                continue
            try:
                # Under way: its journal says what is answered by now.
                facts = collect(task, folder, whole=partial, part=partial, addresses=addresses)
            except AisPromptError as error:  # scoring says that there are no predictions
                logger.warning("[%s] its answers cannot be used: %s", task.name, error)
            else:
                copy.add_task(task.spec, facts, done=facts.of is None)
        # The status says to readers of the copy that it is not the end of the run.
        copy.finish("partial")
    return partial


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
        if not task.spec.dataset.eval.k:
            continue
        first = None
        with suppress(AisPromptError):
            if task.dataset.has_turns:
                continue
            first = next(read_predictions(_predictions(task, folder), with_prompts=False), None)
        try:
            if first is not None:  # all questions have the same number
                check_k(task.spec.dataset.eval, repeats_of(first))
        except ConfigError as fault:
            faults.setdefault(fault.where, fault)
    raise_all(faults.values())


def forget_partial(folder: RunFolder) -> None:
    """Remove the scores of the unfinished run, which are outdated; the answers of judges are kept.

    Raises:
        StoreError: the disk refuses it.
    """
    partial = folder.partial
    if not partial.root.is_dir():
        return
    with writing(partial.root), try_file_lock(partial.writer_lock_file) as is_free:
        if is_free:  # else they are being made right now
            _copy_judgements(partial, folder)
            shutil.rmtree(partial.root)


def merge_journals(
    plan: Plan, folder: RunFolder, command: str, partial: RunFolder | None = None
) -> dict[str, TaskFacts]:
    """Write the predictions of every task that is answered to its end; equal answers, equal bytes.

    A task whose answers cannot be used is left out with a warning. Earlier predictions of other tasks stay.

    Args:
        plan: the plan of the run.
        folder: of the run.
        command: the command line without secrets, for the record.
        partial: where the predictions of other tasks go; None to leave them out.

    Returns:
        Name and facts of every task with usable answers.

    Raises:
        AisPromptError: the run folder cannot be used.
    """
    found = {}
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = record_of(plan, folder, command, asks=True).begin()
        join = first_answer("joined", plan, folder)
        for task in plan.tasks:
            try:
                facts = collect(task, folder, whole=folder, part=partial, join=join)
            except StoreError:
                raise
            except AisPromptError as error:
                logger.warning("[%s] its answers cannot be used: %s", task.name, error)
                continue
            found[task.name] = facts
            # A task with missing samples is not done: its predictions are partial, and the next session asks the rest.
            if facts.of is None:
                record.add_task(task.spec, facts)
        record.finish("partial" if record.unfinished(plan.spec.tasks) else "finished")
    return found


def collect(
    task: Task,
    folder: RunFolder,
    *,
    whole: RunFolder,
    part: RunFolder | None,
    join: Join | None = None,
    addresses: Sequence[str] = (),
) -> TaskFacts:
    """Write the predictions of the samples that are answered, and return the facts of the task.

    Args:
        task: a model and a dataset.
        folder: the run folder with journals.
        whole: where the predictions go if every sample is answered or has failed.
        part: where they go otherwise; None to leave them out.
        join: takes stored predictions in place of journals; None to read the journals.
        addresses: where earlier sessions asked; version 1 had the address in its keys.

    Raises:
        AisPromptError: the data, the model's files or a journal cannot be read, or the disk is full.
    """
    names = task.spec.model.abbr, task.spec.dataset.abbr
    beside = (part or whole).predictions(*names)
    try:
        data = task.data
        with ExitStack() as stack:
            sorter = stack.enter_context(prediction_sorter(beside))
            # Stored predictions are not all, as the run itself has answers too, or some are missing: the slow way.
            if folder.journal(*names).exists() or join is None or not join(task, sorter):
                # A new sorter: a failed join may have left samples in the first one.
                sorter = stack.enter_context(prediction_sorter(beside))
                for prediction in stored_predictions(task, folder.journals(*names), addresses):
                    sorter.add(prediction)
            of = len(data.test) if len(sorter) < len(data.test) else None
            if (target := whole if of is None else part) is not None:
                sorter.write(target.predictions(*names))
        identity = full_identity(task.model)
        return TaskFacts(identity, data.digest, tuple(data.origins), len(sorter), sorter.failed, of=of)
    finally:
        task.release()
        if not task.dataset.judges:  # a judge asks about its rows
            task.dataset.release()


def _predictions(task: Task, folder: RunFolder) -> Path:
    return folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)


def _clear(partial: RunFolder, keep: Collection[Path]) -> None:
    """Remove the results of an earlier call, except the journals of judges, the lock and some predictions."""
    with writing(partial.root):
        partial.run_file.unlink(missing_ok=True)
        partial.report.unlink(missing_ok=True)
        for path in partial.root.glob("predictions/*/*"):
            if path not in keep:
                path.unlink()
        for name in ("results", "summary"):
            shutil.rmtree(partial.root / name, ignore_errors=True)


def _copy_judgements(source: RunFolder, target: RunFolder) -> None:
    """Add the answers of judges in one run folder to the journals of another, so that no verdict is asked twice."""
    for journal in source.root.glob("judge/**/journal/*/*.jsonl"):
        path = target.root / journal.relative_to(source.root)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = journal.read_bytes().splitlines(keepends=True)
            with path.open("a+b") as file:
                file.seek(0)
                known = set(file)
                if known and not all(line.endswith(b"\n") for line in known):
                    file.write(b"\n")  # after a torn line
                file.writelines(line for line in lines if line.endswith(b"\n") and line not in known)


def _share(source: Path, target: Path) -> bool:
    """Make a file appear in another folder as well; False if it is not there. Its owner only ever replaces it."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except FileNotFoundError:
            return False
        except OSError:  # a file system without hard links
            shutil.copyfile(source, target)
    return True
