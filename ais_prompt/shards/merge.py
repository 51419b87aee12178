"""Make predictions of what the journals of a run and its shards hold."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ais_prompt.engine.conversations import stored_predictions
from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.models.identity import full_identity
from ais_prompt.plan.plan import Plan, Task, record_of
from ais_prompt.shards.agreement import agreement, agreement_on
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import PredictionSorter, prediction_sorter, stored_lines
from ais_prompt.store.shards import shard_folders, stored_agreements
from ais_prompt.store.writer_lock import hold_writer_lock
from ais_prompt.types import TaskFacts
from ais_prompt.utils.digest import canonical
from ais_prompt.utils.log import logging_to

logger = logging.getLogger(__name__)


def merge_journals(
    plan: Plan, folder: RunFolder, command: str, partial: RunFolder | None = None
) -> dict[str, TaskFacts]:
    """Write the predictions of every task that is answered to its end; equal answers, equal bytes.

    A task whose answers cannot be used is left out with a warning. Earlier predictions of other tasks stay.

    Args:
        plan: what was asked.
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
        shards, agreements = [one.folder for one in shard_folders(folder)], stored_agreements(folder)
        for task in plan.tasks:
            try:
                ours = agreement_on(agreement(plan, [task]), task)
                asked = [theirs for theirs in agreements if task.name in theirs.get("requests", {})]
                agrees = all(canonical(agreement_on(theirs, task)) == canonical(ours) for theirs in asked)
                if not agrees:
                    logger.info("[%s] is not what the shards asked: their journals are read", task.name)
                facts = collect(task, folder, whole=folder, part=partial, shards=shards if agrees else ())
            except StoreError:
                raise
            except AisPromptError as error:
                logger.warning("[%s] its answers cannot be used: %s", task.name, error)
                continue
            found[task.name] = facts
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
    shards: Sequence[RunFolder] = (),
    addresses: Sequence[str] = (),
) -> TaskFacts:
    """Write the predictions of the samples that are answered, and return the facts of the task.

    Args:
        task: which model was asked what.
        folder: the run folder with journals and shards.
        whole: where the predictions go if every sample is answered or has failed.
        part: where they go otherwise; None to leave them out.
        shards: sessions of shards that asked the same, oldest first.
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
            if folder.journal(*names).exists() or not _join(task, shards, sorter):
                sorter = stack.enter_context(prediction_sorter(beside))
                for prediction in stored_predictions(task, journals_of(task, folder), addresses):
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


def _join(task: Task, shards: Sequence[RunFolder], sorter: PredictionSorter) -> bool:
    """Add the predictions that shards have written, and return whether they are those of the whole task.

    This takes a tenth of the time of making them from the journals. They are not enough if samples are missing, or if
    some failed and sessions without predictions, which were killed, may have answered them. As in the journals, the
    first answer to a sample counts, or else its last failure.
    """
    names = task.spec.model.abbr, task.spec.dataset.abbr
    files = [path for one in shards if (path := one.predictions(*names)).exists()]
    if not files:
        return False
    killed = sum(one.journal(*names).exists() for one in shards) - len(files)
    seen = bytearray(len(task.data.test))
    failing = []
    try:
        for path in files:
            if _add_unseen(path, sorter, seen, failed=False):
                failing.append(path)
        for path in reversed(failing):
            _add_unseen(path, sorter, seen, failed=True)
    except (ValueError, IndexError) as error:  # power was lost before the file was on the disk
        logger.warning("[%s] %s is broken (%s); the journals are read instead", task.name, path, error)
        return False
    return all(seen) and not (sorter.failed and killed)


def _add_unseen(path: Path, sorter: PredictionSorter, seen: bytearray, *, failed: bool) -> bool:
    """Add the predictions of a file, those that failed or the others, to samples that have none yet.

    Returns:
        Whether any prediction of the file failed.
    """
    any_failed = False
    for index, has_failed, line in stored_lines(path):
        any_failed = any_failed or has_failed
        if has_failed == failed and not seen[index]:
            seen[index] = True
            sorter.add_line(index, line, failed=failed)
    return any_failed


def journals_of(task: Task, folder: RunFolder) -> list[Path]:
    """Return the journals of a task: of the run itself, then of its shards, the oldest first."""
    folders = [folder, *(one.folder for one in shard_folders(folder))]
    found = (one.journal(task.spec.model.abbr, task.spec.dataset.abbr) for one in folders)
    return [journal for journal in found if journal.exists()]
