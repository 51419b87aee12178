"""What the shards of a run agree on, and the predictions of shards that asked the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ais_prompt.engine import conversations_of
from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.shards.shard_folders import stored_agreements
from ais_prompt.plan import Plan, Task
from ais_prompt.secrets import SECRETS
from ais_prompt.store import PredictionSorter, RequestKeys, RunFolder, stored_lines
from ais_prompt.types import Request, decoding_to_json
from ais_prompt.utils import canonical, decode_own, encode, versions

logger = logging.getLogger(__name__)


def joined(plan: Plan, folder: RunFolder) -> Callable[[Task, PredictionSorter], bool] | None:
    """Return what adds the predictions of a task that shards have written; None for a run without shards.

    It returns whether it has added those of all samples. Predictions are taken only from shards that asked exactly what
    the config asks; else journals are to be read, whose keys hold the prompts and so say which answers can be used.

    Args:
        plan: of the config that scores.
        folder: the run folder.
    """
    sessions, agreements = folder.sessions(), stored_agreements(folder)

    def join(task: Task, sorter: PredictionSorter) -> bool:
        ours = agreement_on(agreement(plan, [task]), task)
        asked = [theirs for theirs in agreements if task.name in theirs.get("requests", {})]
        if any(canonical(agreement_on(theirs, task)) != canonical(ours) for theirs in asked):
            logger.info("[%s] is not what the shards asked: their journals are read", task.name)
            return False
        return join_predictions(sessions, task, sorter)

    return join if sessions else None


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


def join_predictions(shards: Sequence[RunFolder], task: Task, sorter: PredictionSorter) -> bool:
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
