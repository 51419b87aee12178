"""The files that a Python program needs: the system's libraries, the interpreter, and the installed packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
_SETTINGS: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


@cache
def interpreter() -> str:
    """Return the path of this interpreter, outside of any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@cache
def packages() -> tuple[str, ...]:
    """Return the folders of installed packages. A package that is installed from its sources is not among them."""
    return tuple(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages") and _is_there(path))


@cache
def software() -> tuple[str, ...]:
    """Return the files and folders that a program may read, folders before what is in them, links resolved.

    Of an interpreter outside of the system only its own folders are among them: it may be installed in a home.
    """
    base = os.path.realpath(sys.base_prefix)
    own = (interpreter(), *(f"{base}/{folder}" for folder in ("lib", "lib64")), *packages())
    chosen: list[str] = []
    for path in (*SYSTEM, *_SETTINGS, *sorted(own)):
        if _is_there(path) and not any(path == one or path.startswith(f"{one}/") for one in chosen):
            chosen.append(path)
    return tuple(chosen)


def environment(home: str) -> dict[str, str]:
    """Return the whole environment of a program."""
    return dict(_variables(home))


def _variables(home: str) -> Iterator[tuple[str, str]]:
    yield "HOME", home
    yield "TMPDIR", home
    yield "PATH", "/usr/bin:/bin"
    yield "LANG", "C.UTF-8"
    yield "PYTHONPATH", os.pathsep.join(packages())
    yield "PYTHONHASHSEED", "0"  # the same outcome every time
    yield "OMP_NUM_THREADS", "1"
    yield "OPENBLAS_NUM_THREADS", "1"


def _is_there(path: str) -> bool:
    return Path(path).exists()
