"""Steps: the places in the path of the core where an extension may act, see `ais_prompt.extension.STEPS`."""

from __future__ import annotations

import logging
from typing import Any

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, Step, import_object, missing_extension, shipped
from ais_prompt.utils import installed_extensions

logger = logging.getLogger(__name__)


def steps(name: Step) -> list[Any]:
    """Return the functions of a step, those of installed packages last."""
    return [import_object(home) for home in _homes(name)]


def tell(name: Step, *args: Any) -> None:
    """Call the function of every extension that takes a step. What one raises is a warning, and stops nothing."""
    from ais_prompt.utils import ends_program, exception_line

    for home in _homes(name):
        try:
            import_object(home)(*args)
        except BaseException as error:
            if ends_program(error):
                raise
            logger.warning("%s, which an extension calls at the step %r, raises %s", home, name, exception_line(error))


def _homes(name: Step) -> list[str]:
    return [one.steps[name] for one in (*shipped().values(), *installed_extensions()) if name in one.steps]


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
