"""Make predictions of what the journals of a run and its shards hold."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from ais_prompt.config.render import render_config
from ais_prompt.engine.conversations import stored_predictions
from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.models.identity import full_identity
from ais_prompt.plan.plan import Plan, Task
from ais_prompt.store.disk import writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import write_predictions
from ais_prompt.store.run_record import RunRecord
from ais_prompt.store.shards import shard_folders
from ais_prompt.store.writer_lock import hold_writer_lock
from ais_prompt.types import Prediction, TaskFacts
from ais_prompt.utils.log import logging_to

logger = logging.getLogger(__name__)


def merge_journals(plan: Plan, folder: RunFolder, command: str) -> None:
    """Write the predictions of every task that the journals answer to its end; equal answers, equal bytes.

    A task whose answers cannot be used is left out with a warning.

    Raises:
        AisPromptError: the run folder cannot be used.
    """
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = RunRecord(folder, render_config(plan.spec.resolved), command, asks=True)
        for task in plan.tasks:
            try:
                facts = collect(task, folder, folder)
            except StoreError:
                raise
            except AisPromptError as error:
                logger.warning("[%s] its answers cannot be used: %s", task.name, error)
                continue
            if facts.of is None:
                record.add_task(task.spec, facts)
            else:
                path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
                with writing(path):
                    path.unlink()
        record.finish("partial" if record.unfinished(plan.spec.tasks) else "finished")


def collect(task: Task, folder: RunFolder, target: RunFolder, addresses: Sequence[str] = ()) -> TaskFacts:
    """Write the predictions of the samples that the journals answer, and return the facts of the task.

    Args:
        task: which model was asked what.
        folder: the run folder with the journals.
        target: where the predictions go.
        addresses: where earlier sessions asked; version 1 had the address in its keys.

    Raises:
        AisPromptError: the data, the model's files or a journal cannot be read, or the disk is full.
    """
    samples = failed = 0

    def counted() -> Iterator[Prediction]:
        nonlocal samples, failed
        for prediction in stored_predictions(task, journals_of(task, folder), addresses):
            samples += 1
            failed += prediction.failed
            yield prediction

    try:
        data = task.data
        write_predictions(target.predictions(task.spec.model.abbr, task.spec.dataset.abbr), counted())
        of = len(data.test) if samples < len(data.test) else None
        return TaskFacts(full_identity(task.model), data.digest, tuple(data.origins), samples, failed, of=of)
    finally:
        task.release()
        if task.dataset.judge is None:  # a judge asks about its rows
            task.dataset.release()


def journals_of(task: Task, folder: RunFolder) -> list[Path]:
    """Return the journals of a task: of the run itself, then of its shards, the oldest first."""
    folders = [folder, *(one.folder for one in shard_folders(folder))]
    found = (one.journal(task.spec.model.abbr, task.spec.dataset.abbr) for one in folders)
    return [journal for journal in found if journal.exists()]
