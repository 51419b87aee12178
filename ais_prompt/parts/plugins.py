"""Installed packages that bring parts and configs, by the entry points of the group ``ais_prompt.parts``.

Packages with a manifest have one of the group ``ais_prompt.extensions`` in its place, see `ais_prompt.extension`.

A package declares the module that registers its parts, in its ``pyproject.toml``::

    [project.entry-points."ais_prompt.parts"]
    my-package = "my_package.parts"

The module is imported when a config names a part that does not ship with ais_prompt. A folder ``configs`` in the
package may hold ``datasets``, ``models`` and ``summarizers``, whose files can be named.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.extension import Extension

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "ais_prompt.parts"
EXTENSIONS: Final = "ais_prompt.extensions"

_told: set[str] = set()
"""Messages that were logged already."""


def find_plugins(group: str = GROUP) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group of all installed packages, in alphabetical order."""
    return _found(tuple(sys.path), group)


@cache
def _found(path: tuple[str, ...], group: str) -> tuple[EntryPoint, ...]:
    # The import of importlib.metadata takes a third of the time of `aisprompt list`, and most people have no plugin.
    if not any(group in text for folder in path for text in _entry_points(Path(folder), group)):
        return ()
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=group), key=lambda one: (one.name, one.value)))


def _entry_points(folder: Path, group: str) -> Iterator[str]:
    """Yield the entry points of packages in a folder of `sys.path`; an archive is not opened, and may have any."""
    if not folder.is_dir():
        yield group if folder.exists() else ""
        return
    with suppress(OSError):  # a folder that this user may not read
        for entry in folder.iterdir():
            declared = entry / "entry_points.txt"
            if entry.suffix in (".dist-info", ".egg-info") and declared.is_file():
                yield declared.read_text("utf-8", "replace")


def installed_extensions() -> list[Extension]:
    """Return the extensions of installed packages, the full names of their modules in them. A broken one is logged."""
    return [one for plugin in find_plugins(EXTENSIONS) if (one := _manifest(plugin)) is not None]


def installed_entry(field: str, name: str) -> Any:
    """Return what an installed package brings under a name in a field of its manifest, ``exporters``; None if none."""
    return next((getattr(one, field)[name] for one in installed_extensions() if name in getattr(one, field)), None)


@cache
def _manifest(plugin: EntryPoint) -> Extension | None:
    if _load(plugin):
        return None
    found = getattr(sys.modules[plugin.module], plugin.attr or "EXTENSION", None)
    if not isinstance(found, Extension):
        _tell(f"{_shown(plugin)} names no Extension")
        return None
    return found.at(plugin.module)


def load_plugins() -> list[str]:
    """Import the modules of all plugins, each once. One that fails does not stop the others.

    Returns:
        The fault of each plugin that failed, in one line.
    """
    return [wrong for plugin in find_plugins() if (wrong := _load(plugin))]


def _load(plugin: EntryPoint) -> str:
    """Return the fault of a plugin; empty if its module is imported."""
    from ais_prompt.parts.guarded import ends_program, exception_line  # `aisprompt list` does without msgspec

    try:
        importlib.import_module(plugin.module)
    except BaseException as error:
        if ends_program(error):
            raise
        wrong = f"{_shown(plugin)} cannot be loaded: {exception_line(error)}"
        _tell(wrong)
        return wrong
    return ""


def _tell(wrong: str) -> None:
    import logging

    if wrong not in _told:
        _told.add(wrong)
        logging.getLogger(__name__).warning("%s", wrong)


def plugin_configs() -> list[Path]:
    """Return the ``configs`` folders of all plugins that have one."""
    folders = []
    for package in dict.fromkeys(
        plugin.module.partition(".")[0] for plugin in (*find_plugins(), *find_plugins(EXTENSIONS))
    ):
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
