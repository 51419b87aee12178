"""Steps: the places in the path of the core where an extension may act, see `ais_prompt.extension.STEPS`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, Extension, GateEntry, Place, Step, import_object, missing_extension, shipped
from ais_prompt.parts import installed_extensions

logger = logging.getLogger(__name__)


def extensions() -> list[Extension]:
    """Return the extensions of this installation, and those of installed packages."""
    return [*shipped().values(), *installed_extensions()]


@cache
def metrics_of_modes() -> Mapping[str, frozenset[str]]:
    """Return mode of ``run`` that an extension brings → the metrics that it measures in place of scores."""
    return {name: import_object(mode.metrics) for one in extensions() for name, mode in one.modes.items()}


def known_metrics() -> list[str]:
    """Return the metrics of the step ``known_values``, with which extensions score datasets without golds."""
    return [name for one in extensions() for name in one.metrics]


def mode_of_metric(metric: str) -> str | None:
    """Return the first mode that measures a metric; None for metrics of scores."""
    return next((mode for mode, metrics in metrics_of_modes().items() if metric in metrics), None)


def brought_gate(name: str) -> GateEntry | None:
    """Return the gates of a name, if an extension decides them."""
    return next((one.gates[name] for one in extensions() if name in one.gates), None)


def steps(name: Step) -> list[Any]:
    """Return the functions of a step, in the order of the extensions."""
    return [import_object(home) for home in _homes(name)]


def required(name: Step, work: str, where: str) -> list[Any]:
    """Return the functions of a step that a user has asked for.

    Args:
        name: of the step.
        work: what its extension does, for the error.
        where: how the user has asked for it.

    Raises:
        ConfigError: the extension is not here.
    """
    if found := steps(name):
        return found
    raise ConfigError(f"the extension {missing_extension(name)!r} {work}, and is not here", where=where, fix=REINSTALL)


def tell(name: Step, *args: Any) -> None:
    """Call the function of every extension that takes a step. What one raises is a warning, and stops nothing."""
    from ais_prompt.parts import ends_program, exception_line

    for home in _homes(name):
        try:
            import_object(home)(*args)
        except BaseException as error:
            if ends_program(error):
                raise
            logger.warning("%s, which an extension calls at the step %r, raises %s", home, name, exception_line(error))


def _homes(name: Step) -> list[str]:
    return [one.steps[name] for one in extensions() if name in one.steps]


def step(name: Step) -> Any:
    """Return the function of a step that one extension takes; None if there is none."""
    return next(iter(steps(name)), None)


def first_answer(name: Step, *args: Any) -> Any:
    """Return what the first function of a step that knows an answer returns; None if none does."""
    return next((found for function in steps(name) if (found := function(*args)) is not None), None)


def brought_options(place: Place) -> dict[str, Any]:
    """Return the options that extensions bring to verbs: option → its ``click.option(...)``."""
    homes = (home for one in extensions() for home in one.options.get(place, {}).items())
    return {name: import_object(home) for name, home in homes}
