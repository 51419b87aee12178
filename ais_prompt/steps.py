"""Steps: the places in the path of the core where an extension may act, see `ais_prompt.extension.STEPS`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, Extension, Step, import_object, missing_extension, shipped
from ais_prompt.utils import installed_extensions


def extensions() -> list[Extension]:
    """Return the extensions of this installation, and those of installed packages."""
    return [*shipped().values(), *installed_extensions()]


@cache
def metrics_of_modes() -> Mapping[str, frozenset[str]]:
    """Return mode of ``run`` that an extension brings → the metrics that it measures in place of scores."""
    return {name: import_object(mode.metrics) for one in extensions() for name, mode in one.modes.items()}


def mode_of_metric(metric: str) -> str | None:
    """Return the first mode that measures a metric; None for metrics of scores."""
    return next((mode for mode, metrics in metrics_of_modes().items() if metric in metrics), None)


def steps(name: Step) -> list[Any]:
    """Return the functions of a step, those of installed packages last."""
    return [import_object(one.steps[name]) for one in extensions() if name in one.steps]


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
