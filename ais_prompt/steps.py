"""What extensions and installed packages bring, and the steps: the places in the path of the core where they may act.

`ais_prompt.extension.STEPS` lists the steps. An installed package has an entry point, of the group
``ais_prompt.extensions`` for a manifest, or ``ais_prompt.parts`` for the module that registers its parts, in its
``pyproject.toml``::

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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, Extension, GateEntry, Place, Step, import_object, missing_extension, shipped

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "ais_prompt.parts"
EXTENSIONS: Final = "ais_prompt.extensions"
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
        _warn_once(f"{_shown(plugin)} names no Extension")
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
    from ais_prompt.parts import ends_program, exception_line  # `aisprompt list` does without msgspec

    try:
        importlib.import_module(plugin.module)
    except BaseException as error:
        if ends_program(error):
            raise
        wrong = f"{_shown(plugin)} cannot be loaded: {exception_line(error)}"
        _warn_once(wrong)
        return wrong
    return ""


@cache
def _warn_once(wrong: str) -> None:
    logger.warning("%s", wrong)


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
