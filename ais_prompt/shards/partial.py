"""Collect what a run holds that is not finished, so that it can be scored and shown before it ends."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ais_prompt.errors import AisPromptError
from ais_prompt.plan.plan import Plan, Task, record_of
from ais_prompt.scoring.stored import check_answers
from ais_prompt.shards.merge import collect, journals_of, merge_journals
from ais_prompt.store.disk import writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.links import refuse_links
from ais_prompt.store.run_file import read_run_file
from ais_prompt.store.run_record import addresses_of, done_tasks
from ais_prompt.store.shards import shard_folders
from ais_prompt.store.writer_lock import hold_writer_lock, try_file_lock
from ais_prompt.types import TaskFacts
from ais_prompt.utils.log import logging_to

logger = logging.getLogger(__name__)

_ENDED = {"finished", "failed"}
"""How a session ends that has tried every task."""


def open_partial(plan: Plan, folder: RunFolder, command: str) -> RunFolder | None:
    """Return a run folder with all answers of a run that is not finished; None for a run with nothing left to ask.

    The run may be under way in another process: its folder is only read, except for the subfolder ``partial``. Tasks
    that are over are taken as they are; the predictions of the others are made of their journals.

    Args:
        plan: what to score with.
        folder: of the run.
        command: the command line without secrets, for the record.

    Raises:
        AisPromptError: the run folder cannot be used.
    """
    check_answers(plan.tasks, folder)
    merged = merge_journals(plan, folder, command, folder.partial) if shard_folders(folder) else {}
    if not folder.run_file.exists():  # a folder that was made by hand
        return None
    record = read_run_file(folder)
    done = done_tasks(record)
    left = _left(plan, folder, record)
    if not left:
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
            if task.name in done and _share(_predictions(task, folder), _predictions(task, partial)):
                copy.add_task(task.spec, TaskFacts.from_json(record["tasks"][task.name]))
                continue
            if task.name in merged:
                copy.add_task(task.spec, merged[task.name], done=False)
                continue
            try:
                facts = collect(task, folder, whole=partial, part=partial, addresses=addresses)
            except AisPromptError as error:  # scoring says that there are no predictions
                logger.warning("[%s] its answers cannot be used: %s", task.name, error)
            else:
                copy.add_task(task.spec, facts, done=facts.of is None)
        copy.finish("partial")
    return partial


def _left(plan: Plan, folder: RunFolder, record: Mapping[str, Any]) -> list[Task]:
    """Return the tasks that are not asked to their end; none if a session has tried all and nothing is in a journal."""
    done = done_tasks(record)
    left = [task for task in plan.tasks if task.name not in done]
    if record.get("status") in _ENDED and not any(journals_of(task, folder) for task in left):
        return []
    return left


def forget_partial(folder: RunFolder) -> None:
    """Remove the scores of the unfinished run, which are outdated; what judges were asked for them is kept.

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


def _predictions(task: Task, folder: RunFolder) -> Path:
    return folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)


def _clear(partial: RunFolder, keep: Collection[Path]) -> None:
    """Remove what an earlier call made, except the journals of judges, the lock and some predictions."""
    with writing(partial.root):
        partial.run_file.unlink(missing_ok=True)
        partial.report.unlink(missing_ok=True)
        for path in partial.root.glob("predictions/*/*"):
            if path not in keep:
                path.unlink()
        for name in ("results", "summary"):
            shutil.rmtree(partial.root / name, ignore_errors=True)


def _copy_judgements(source: RunFolder, target: RunFolder) -> None:
    """Add what judges answered in one run folder to the journals of another, so that no verdict is asked twice."""
    for journal in source.root.glob("judge/*/journal/*/*.jsonl"):
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
