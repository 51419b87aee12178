"""Make the prompt lock of a config, and compare the config's prompts with it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec.structs import replace

from ais_prompt.comparison.locks.drift import PACKAGES, Drift, TaskDrift, changed_parts, compare_task
from ais_prompt.comparison.locks.file import read_prompt_lock
from ais_prompt.comparison.locks.render import count_tokens, render_tasks
from ais_prompt.errors import ConfigError
from ais_prompt.models.base import Model
from ais_prompt.plan.plan import Plan
from ais_prompt.preview.values import PromptLock, TaskPrompts
from ais_prompt.store.layout import safe_name
from ais_prompt.types import RunSpec
from ais_prompt.utils.packages import versions
from ais_prompt.utils.secrets import SECRETS

_MADE_WITH: Final = ("ais-prompt", "transformers", "tokenizers")
"""The packages that can change the prompts of an unchanged config."""
_KEPT_AT_RANDOM: Final = 2
_LONGEST_KEPT: Final = 20_000
"""Maximum characters of a sample whose prompts a lock contains in full, because people review the file."""


def prompt_lock_path(spec: RunSpec, lock_file: str | None, config: str | None) -> Path:
    """Return the path of a config's lock: ``--lock-file``, or else beside the config, ``eval.lock`` for ``eval.py``.

    The lock of a shipped config, or of one composed by ``--models`` and ``--datasets``, is in the working directory.

    Args:
        spec: the config.
        lock_file: the value of ``--lock-file``; None without it.
        config: the name of the config on the command line; None for a composed one.
    """
    if lock_file is not None:
        return Path(lock_file)
    file = spec.config_file
    if file is None:
        return Path(f"{safe_name(spec.name)}.lock")
    is_users_own = file in (Path(config or ""), Path(f"{config}.py"))
    return file.with_suffix(".lock") if is_users_own else Path(file.with_suffix(".lock").name)


def make_prompt_lock(plan: Plan) -> PromptLock:
    """Render all prompts of a config for a lock. ``--num-prompts`` is ignored: a lock covers all questions.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    tasks = [
        replace(shortened(prompts), tokens=count_tokens(model, prompts.texts.values()))
        for prompts, model in render_tasks(_without_limit(plan).tasks)
    ]
    return PromptLock(plan.spec.name, _made_with(), tasks)


def find_drift(plan: Plan, path: Path) -> Drift:
    """Render all prompts of a config, and compare them with its lock. Tokens are counted only for changed tasks.

    Raises:
        ConfigError: there is no lock, it cannot be used, or it belongs to another config.
        AisPromptError: a prompt cannot be built.
    """
    spec, lock = plan.spec, read_prompt_lock(path)
    if lock.config != spec.name:
        fix = "name the right one with --lock-file, or write one: aisprompt lock CONFIG"
        raise ConfigError(f"this is the lock of {lock.config!r}, not of {spec.name!r}", where=str(path), fix=fix)
    locked = {task.name: task for task in lock.tasks}
    tasks, names = [], []
    for prompts, model in render_tasks(_without_limit(plan).tasks):
        names.append(prompts.name)
        if prompts.name in locked:
            tasks.append(_task_drift(locked[prompts.name], prompts, model))
    return Drift(
        (str(path), spec.name),
        tasks,
        only_before=[name for name in locked if name not in names],
        only_after=[name for name in names if name not in locked],
        made_with=changed_parts({PACKAGES: lock.made_with}, {PACKAGES: _made_with()}),
    )


def _task_drift(locked: TaskPrompts, prompts: TaskPrompts, model: Model) -> TaskDrift:
    drift = compare_task(locked, prompts)
    if drift.is_none:
        return replace(drift, after=replace(prompts, texts={}))  # free the texts: there may be many more tasks
    if locked.tokens is None:
        return drift
    return replace(drift, after=replace(prompts, tokens=count_tokens(model, prompts.texts.values())))


def _made_with() -> dict[str, str]:
    found = versions()
    return {name: found[name] for name in _MADE_WITH if name in found}


def _without_limit(plan: Plan) -> Plan:
    """Return the plan of all questions: the same plan, unless ``--num-prompts`` limits it."""
    if all(dataset.spec.reader.limit is None for dataset in plan.datasets):
        return plan
    datasets = (replace(dataset, reader=replace(dataset.reader, limit=None)) for dataset in plan.spec.datasets)
    return Plan(replace(plan.spec, datasets=tuple(datasets)))


def shortened(prompts: TaskPrompts) -> TaskPrompts:
    """Keep a few prompts in full: the first, the longest, and some at random, but none that contains a secret.

    Ids are digests of rows, so the smallest ids are a random choice that does not depend on the other rows.
    """
    lengths = {sample: sum(map(len, texts)) for sample, texts in prompts.texts.items()}
    fitting = [
        sample
        for sample, length in lengths.items()
        if length <= _LONGEST_KEPT and not any(SECRETS.hide_and_count(text)[1] for text in prompts.texts[sample])
    ]
    if not fitting:
        return replace(prompts, texts={})
    chosen = {fitting[0], max(fitting, key=lambda sample: lengths[sample]), *sorted(fitting)[:_KEPT_AT_RANDOM]}
    return replace(prompts, texts={sample: texts for sample, texts in prompts.texts.items() if sample in chosen})
