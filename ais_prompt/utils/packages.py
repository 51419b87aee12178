"""Installed packages: import optional packages where they are used, and note the versions that made a result.

The error of a missing package has the command that installs it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ais_prompt.errors import MissingExtra
from ais_prompt.extension import shipped
from ais_prompt.utils.digests import digest

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
_INSTALLED: Final = (".dist-info", ".egg-info")
"""Endings of the folders, named after package and version, that each installed package has."""


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
    text = None
    with suppress(PackageNotFoundError):
        text = distribution(_PACKAGE).read_text("direct_url.json")
    origin: dict[str, Any] = json.loads(text) if text else {}
    parts = urlsplit(origin.get("url", ""))
    path = Path(url2pathname(parts.path))
    if parts.scheme == "file" and path.exists():
        editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
        return f"pip install {editable}'{path}[{extra}]'"
    if repository := origin.get("vcs_info"):
        return f"pip install '{_PACKAGE}[{extra}] @ {repository['vcs']}+{origin['url']}@{repository['commit_id']}'"
    return f"pip install '{_PACKAGE}[{extra}]'"


def versions() -> dict[str, str]:
    """Return the versions of Python, of installed packages of `PACKAGES` and of extensions, without importing them."""
    packages = [*PACKAGES, *(package for one in shipped().values() for package in one.packages)]
    known = {package: found for package in packages if (found := _installed(package)) is not None}
    return {"python": platform.python_version(), "platform": platform.platform(), **known}


@cache  # a process uses one version of all of them
def program_digest() -> str:
    """Return a digest of the program and of what it runs with: it differs if anything that computes is another version.

    It holds the size and the time of change of each file of the program, the names of all installed packages with
    their versions, and the version of Python.
    """
    files = sorted(_states(Path(__file__).parents[1]))
    folders = filter(Path.is_dir, map(Path, sys.path))
    packages = sorted(path.name for folder in folders for path in folder.iterdir() if path.name.endswith(_INSTALLED))
    return digest([files, packages, sys.version])


def _states(folder: str | Path) -> Iterator[tuple[str, int, int]]:
    """Yield path, size in bytes and time of change in nanoseconds of each file in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file():
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _states(entry.path)


def _missing(package: str, extra: str, why: str) -> MissingExtra:
    return MissingExtra(f"{why} needs the package {package!r}, which is not installed", fix=install_command(extra))


@cache  # reading the metadata of all these packages takes 30 ms, and a process uses one version of each
def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
