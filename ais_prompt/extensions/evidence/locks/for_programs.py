"""Locks for programs: ``ais_prompt.lock`` and ``ais_prompt.check_lock``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Unpack

from ais_prompt.extensions.evidence.locks.drift import Drift
from ais_prompt.extensions.evidence.locks.lock_file import write_prompt_lock
from ais_prompt.extensions.evidence.locks.prompt_lock import find_drift, make_prompt_lock, prompt_lock_path
from ais_prompt.plan import Plan
from ais_prompt.verbs import Config, ConfigOptions, planned, public_errors


def lock(
    config: Config | None = None, file: str | os.PathLike[str] | None = None, **options: Unpack[ConfigOptions]
) -> Path:
    """Write every prompt of a config into a lock, a small file to be reviewed and committed.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        file: the lock; if left out, ``eval.lock`` beside ``eval.py``.
        options: as in `ConfigOptions`.

    Returns:
        The path of the lock.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        StoreError: the file cannot be written.
    """
    with public_errors():
        plan = planned(config, options)
        path = _lock_path(plan, config, file)
        write_prompt_lock(path, make_prompt_lock(plan))
        return path


def check_lock(
    config: Config | None = None, file: str | os.PathLike[str] | None = None, **options: Unpack[ConfigOptions]
) -> Drift:
    """Compare the prompts of a config with its lock; ``is_none`` of the result is True if they are the same.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        file: the lock; if left out, ``eval.lock`` beside ``eval.py``.
        options: as in `ConfigOptions`.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        ConfigError: there is no lock, or it is of another config.
    """
    with public_errors():
        plan = planned(config, options)
        return find_drift(plan, _lock_path(plan, config, file))


def _lock_path(plan: Plan, config: Config | None, file: str | os.PathLike[str] | None) -> Path:
    named = os.fspath(config) if isinstance(config, str | os.PathLike) else None
    return prompt_lock_path(plan.spec, None if file is None else os.fspath(file), named)
