"""Steps: the places in the path of the core where an extension may act, see `ais_prompt.extension.STEPS`."""

from __future__ import annotations

from typing import Any

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, Step, import_object, missing_extension, shipped
from ais_prompt.utils import installed_extensions


def steps(name: Step) -> list[Any]:
    """Return the functions of a step, those of installed packages last."""
    homes = [one.steps[name] for one in (*shipped().values(), *installed_extensions()) if name in one.steps]
    return [import_object(home) for home in homes]


def step(name: Step) -> Any:
    """Return the function of a step that one extension takes; None if there is none."""
    return next(iter(steps(name)), None)


def needed_step(name: Step) -> Any:
    """Return the function of a step that the user has asked for.

    Raises:
        ConfigError: no extension takes it.
    """
    if (found := step(name)) is None:
        owner = missing_extension(name)
        raise ConfigError(f"the extension {owner!r} does this, and is not here", fix=REINSTALL)
    return found
