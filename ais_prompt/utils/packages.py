"""Installed packages: optional ones and their versions, and those that bring parts and configs.

The error of a missing package has the command that installs it.

A package declares the module that registers its parts by an entry point of the group ``ais_prompt.parts``, in its
``pyproject.toml``::

    [project.entry-points."ais_prompt.parts"]
    my-package = "my_package.parts"

The module is imported when a config names a part that does not ship with ais_prompt. A folder ``configs`` in the
package may hold ``datasets``, ``models`` and ``summarizers``, whose files can be named. Packages with a manifest have
an entry point of the group ``ais_prompt.extensions`` in its place, see `ais_prompt.extension`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ais_prompt.errors import MissingExtra
from ais_prompt.extension import Extension, shipped

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


_PACKAGE: Final = "ais-prompt"
PACKAGES: Final = (
    "ais-prompt",
    "mmengine-lite",
    "datasets",
    "pyarrow",
    "transformers",
    "tokenizers",
    "torch",
    "aiohttp",
    "openai",
)
"""The packages that can change a prompt or an answer; extensions name more."""


def require(package: str, *, extra: str, why: str) -> ModuleType:
    """Import an optional package.

    Args:
        package: name as in ``import package``.
        extra: the extra of ais-prompt that installs it.
        why: the part that needs it, for the message: "HuggingFaceBaseModel".

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0]:
            raise
        raise _missing(package, extra, why) from error


def installed(path: str) -> bool:
    """Return whether the package of a dotted path is installed, without importing it."""
    return importlib.util.find_spec(path.partition(".")[0]) is not None


def require_installed(package: str, *, extra: str, why: str) -> None:
    """Raise an error unless an optional package is installed, without importing it.

    Raises:
        MissingExtra: as `require`.
    """
    if not installed(package):
        raise _missing(package, extra, why)


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    It names the folder, file or repository from which the program was installed, if pip recorded one (PEP 610): such a
    program may be on no index, or be there in another version.
    """
    origin = _origin()
    path = _path(origin.get("url", ""))
    if path is not None and origin.get("dir_info", {}).get("editable"):
        return f"pip install -e '{path}[{extra}]'"
    if path is not None:
        return f"pip install '{path}[{extra}]'"
    if repository := origin.get("vcs_info"):
        return f"pip install '{_PACKAGE}[{extra}] @ {repository['vcs']}+{origin['url']}@{repository['commit_id']}'"
    return f"pip install '{_PACKAGE}[{extra}]'"


def versions() -> dict[str, str]:
    """Return the versions of Python, of installed packages of `PACKAGES` and of extensions, without importing them."""
    packages = [*PACKAGES, *(package for one in shipped().values() for package in one.packages)]
    known = {package: found for package in packages if (found := _installed(package)) is not None}
    return {"python": platform.python_version(), "platform": platform.platform(), **known}


def _origin() -> dict[str, Any]:
    """Return pip's record of the origin of the program; empty if it came from an index."""
    try:
        text = distribution(_PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return {}
    return dict(json.loads(text)) if text else {}


def _path(url: str) -> Path | None:
    """Return the folder or file that a URL names, if it is still there."""
    parts = urlsplit(url)
    path = Path(url2pathname(parts.path))
    return path if parts.scheme == "file" and path.exists() else None


def _missing(package: str, extra: str, why: str) -> MissingExtra:
    return MissingExtra(f"{why} needs the package {package!r}, which is not installed", fix=install_command(extra))


@cache  # reading the metadata of all these packages takes 30 ms, and a process uses one version of each
def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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
    from ais_prompt.utils.guard import ends_program, exception_line  # `aisprompt list` does without msgspec

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
