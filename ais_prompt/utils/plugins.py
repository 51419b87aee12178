"""Installed packages that bring parts and configs, by the entry points of the group ``ais_prompt.parts``.

A package declares the module that registers its parts, in its ``pyproject.toml``::

    [project.entry-points."ais_prompt.parts"]
    my-package = "my_package.parts"

The module is imported when a config names a part that does not ship with ais_prompt. A folder ``configs`` in the
package may hold ``datasets``, ``models`` and ``summarizers``, whose files can be named.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

GROUP: Final = "ais_prompt.parts"

logger = logging.getLogger(__name__)
_told: set[str] = set()
"""What was logged already."""


def plugins() -> tuple[EntryPoint, ...]:
    """Return the entry points of all installed packages, in alphabetical order."""
    return _found(tuple(sys.path))


@cache
def _found(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)))


def load_plugins() -> list[str]:
    """Import the modules of all plugins, each once. One that fails does not stop the others.

    Returns:
        What is wrong with those that failed, each in one line.
    """
    return [wrong for plugin in plugins() if (wrong := _load(plugin))]


def _load(plugin: EntryPoint) -> str:
    """Return what is wrong with a plugin; empty if its module is imported."""
    from ais_prompt.utils.guard import ends_program, exception_line  # `aisprompt list` does without msgspec

    try:
        importlib.import_module(plugin.module)
    except BaseException as error:
        if ends_program(error):
            raise
        wrong = f"{_shown(plugin)} cannot be loaded: {exception_line(error)}"
        if wrong not in _told:
            _told.add(wrong)
            logger.warning("%s", wrong)
        return wrong
    return ""


def plugin_configs() -> list[Path]:
    """Return the ``configs`` folders of all plugins that have one."""
    folders = []
    for package in dict.fromkeys(plugin.module.partition(".")[0] for plugin in plugins()):
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        places = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
        folders += [place / "configs" for place in places if (place / "configs").is_dir()]
    return folders


def _shown(plugin: EntryPoint) -> str:
    package = f" of the package {plugin.dist.name} {plugin.dist.version}" if plugin.dist else ""
    return f"the entry point {plugin.name!r}{package}"
