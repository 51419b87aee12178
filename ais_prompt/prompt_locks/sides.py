"""What `aisprompt diff` compares: the prompts of a config, rendered now, or those that a run has sent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from pathlib import Path

from msgspec import Struct

from ais_prompt.config.locate import find_config
from ais_prompt.errors import ConfigError
from ais_prompt.models.base import Model
from ais_prompt.plan.source import Source, checked
from ais_prompt.prompt_locks.render import render_run
from ais_prompt.prompt_locks.sent import sent_prompts, with_model
from ais_prompt.prompt_locks.values import TaskPrompts
from ais_prompt.store.find import locate_run
from ais_prompt.store.layout import RunFolder


class SideTask(Struct, frozen=True):
    """The prompts of a task, and the model that can count their tokens; None for those of a run."""

    prompts: TaskPrompts
    model: Model | None = None


class Side(Struct, frozen=True):
    """One of the two that are compared.

    Attributes:
        name: what the user calls it.
        tasks: the prompts of each task.
        is_run: whether they are those of a run. Of its parts only the templates are known.
    """

    name: str
    tasks: Sequence[SideTask]
    is_run: bool = False


def open_side(name: str, work_dir: Path, model: str | None = None) -> Side:
    """Render the prompts of a config, or read those of a run.

    Args:
        name: path or shipped name of a config, or a run as `locate_run` finds it.
        work_dir: where runs are looked for.
        model: ``abbr`` of the only model that is meant; None for all.

    Raises:
        ConfigError: it is neither, the config has faults, or it has no such model.
        AisPromptError: a prompt cannot be built, or the run cannot be read.
    """
    config = None if Path(name).is_dir() else _config(name)
    if config is None:
        return Side(name, list(map(SideTask, sent_prompts(_run(name, work_dir), model))), is_run=True)
    spec, _ = checked(Source(str(config), allow_code_execution="unsafe"))  # nothing is executed here
    return Side(name, list(starmap(SideTask, render_run(with_model(spec, model)))))


def _config(name: str) -> Path | None:
    try:
        return find_config(name)
    except ConfigError:
        return None


def _run(name: str, work_dir: Path) -> RunFolder:
    try:
        return locate_run(work_dir, name)
    except ConfigError as error:
        fix = f"name a .py file, a shipped config, or a run; {error.fix}"
        raise ConfigError(f"{name!r} is neither a config nor a run", where=error.where, fix=fix) from None
