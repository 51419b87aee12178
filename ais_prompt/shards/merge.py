"""Merge the answers of a run and its shards into predictions, also while the run is not finished.

Predictions are made of journals, or taken from shards that asked the same (`agreement`). A run that is not finished is
collected in the subfolder ``partial``, so that it can be scored and shown before it ends.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ais_prompt.engine import conversations_of, stored_predictions
from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.models import full_identity
from ais_prompt.plan import Plan, Task, record_of
from ais_prompt.scoring import check_answers
from ais_prompt.secrets import SECRETS
from ais_prompt.shards.shard_folders import list_shard_folders, stored_agreements
from ais_prompt.store import (
    PredictionSorter,
    RequestKeys,
    RunFolder,
    addresses_of,
    done_tasks,
    hold_writer_lock,
    prediction_sorter,
    read_run_file,
    refuse_links,
    stored_lines,
    try_file_lock,
    writing,
)
from ais_prompt.terminal import logging_to
from ais_prompt.types import Request, TaskFacts, decoding_to_json
from ais_prompt.utils import canonical, decode_own, encode, versions

logger = logging.getLogger(__name__)
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
    merged = merge_journals(plan, folder, command, folder.partial) if list_shard_folders(folder) else {}
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
            # Over: its predictions are those of the run, and appear here as they are.
            if task.name in done and _share(_predictions(task, folder), _predictions(task, partial)):
                copy.add_task(task.spec, TaskFacts.from_json(record["tasks"][task.name]))
                continue
            # Merged from shards a moment ago.
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
        shards, agreements = [one.folder for one in list_shard_folders(folder)], stored_agreements(folder)
        for task in plan.tasks:
            try:
                # Predictions of shards are joined only if the shards asked exactly what this config asks; else journals
                # are read, whose keys hold the prompts and so say which answers can be used.
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
    shards: Sequence[RunFolder] = (),
    addresses: Sequence[str] = (),
) -> TaskFacts:
    """Write the predictions of the samples that are answered, and return the facts of the task.

    Args:
        task: a model and a dataset.
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
            # Answers outside of shards, or shards that are not complete: the journals of all are read, the slow way.
            if folder.journal(*names).exists() or not _join(task, shards, sorter):
                # A new sorter: a failed join may have left samples in the first one.
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


def journals_of(task: Task, folder: RunFolder) -> list[Path]:
    """Return the journals of a task: of the run itself, then of its shards, the oldest first."""
    folders = [folder, *(one.folder for one in list_shard_folders(folder))]
    found = (one.journal(task.spec.model.abbr, task.spec.dataset.abbr) for one in folders)
    return [journal for journal in found if journal.exists()]


def agreement(plan: Plan, tasks: Iterable[Task]) -> dict[str, Any]:
    """Return the models, rows and requests of some tasks of a plan, without addresses and speed of servers.

    Parts that cannot be used are None: they end their tasks. Secrets are hidden, and all values are those that
    their JSON is read back as, so that they can be compared with the files of other shards.
    """
    names = [task.name for task in plan.spec.tasks]
    agreed: dict[str, Any] = {"version": versions().get("ais-prompt", ""), "tasks": names}
    agreed |= {"models": {}, "datasets": {}, "decoding": {}, "rows": {}, "requests": {}}
    sections = dict(zip((dataset.abbr for dataset in plan.spec.datasets), plan.spec.resolved["datasets"], strict=True))
    for task in tasks:
        model, dataset = task.spec.model.abbr, task.spec.dataset.abbr
        agreed["datasets"][dataset] = {key: value for key, value in sections[dataset].items() if key != "eval_cfg"}
        agreed["models"][model] = agreed["rows"][dataset] = None
        agreed["decoding"][task.name] = agreed["requests"][task.name] = None
        with suppress(AisPromptError):
            agreed["models"][model] = dict(task.model.identity())
        with suppress(AisPromptError):
            agreed["rows"][dataset] = task.data.digest
        with suppress(AisPromptError):
            first, key_of = _first_requests(task), RequestKeys(task.model.identity())
            agreed["decoding"][task.name] = decoding_to_json(first[0].decoding) if first else {}
            agreed["requests"][task.name] = [key_of(request) for request in first]
    return dict(decode_own(SECRETS.hide_in_json(encode(agreed))))


def agreement_on(agreed: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Return the part of an agreement that one task is about."""
    model, dataset = task.spec.model.abbr, task.spec.dataset.abbr
    places = {"models": model, "datasets": dataset, "decoding": task.name, "rows": dataset, "requests": task.name}
    return {"version": agreed.get("version"), **{kind: agreed.get(kind, {}).get(name) for kind, name in places.items()}}


def _left(plan: Plan, folder: RunFolder, record: Mapping[str, Any]) -> list[Task]:
    """Return the tasks that are not asked to their end; none if a session has tried all and nothing is in a journal."""
    done = done_tasks(record)
    left = [task for task in plan.tasks if task.name not in done]
    if record.get("status") in _ENDED and not any(journals_of(task, folder) for task in left):
        return []
    return left


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
        # Failures last, and the latest session first: any answer comes before any failure.
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


def _first_requests(task: Task) -> list[Request]:
    """Return the first requests of a task, whose keys hold its prompt."""
    for conversation in conversations_of(task, lambda _: None, task.data.test[:1]):
        return conversation.open_requests()
    return []
