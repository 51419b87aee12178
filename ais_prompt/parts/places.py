"""Find the file and line that an error names."""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final

_PACKAGE: Final = str(Path(__file__).resolve().parents[1])


def place(file: Path, line: int | None = None) -> str:
    """Return ``file:line`` for an error. A file below the working directory is shown relative to it."""
    with suppress(OSError, RuntimeError):  # a link that points to itself
        file = file.resolve()
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return f"{shown}:{line}" if line else str(shown)


def last_line_in(error: BaseException, is_users: Callable[[Path], bool]) -> str:
    """Return ``file:line`` of the innermost frame in one of the user's files; empty if there is none."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if is_users(Path(frame.f_code.co_filename)):
            return place(Path(frame.f_code.co_filename), line)
    return ""


def users_line(error: BaseException) -> str:
    """Return ``file:line`` of the innermost frame in the user's code, else in a library; empty if all is our code."""
    import sysconfig  # importing it reads a large file of Python's build

    paths = sysconfig.get_paths()
    libraries = [paths[name] for name in ("stdlib", "purelib", "platlib")]
    return last_line_in(error, lambda file: not _is_in(file, _PACKAGE, *libraries)) or last_line_in(
        error, lambda file: not _is_in(file, _PACKAGE, paths["stdlib"])
    )


def is_raised_in_code(error: BaseException) -> bool:
    """Return whether a ``raise`` in the user's code raised an exception, and not a signal."""
    *_, (frame, line) = [(None, 0), *traceback.walk_tb(error.__traceback__)]
    file = frame.f_code.co_filename if frame else "<>"
    return not _is_in(Path(file), _PACKAGE) and linecache.getline(file, line).lstrip().startswith("raise ")


def defined_at(part: Any, member: str = "") -> str:
    """Return ``file:line`` where a part is defined; only the file if a class has no source.

    Args:
        part: a function, a class, or an object of a class.
        member: a method or property of the part.
    """
    part = inspect.unwrap(reduce(lambda value, _: value.func if isinstance(value, partial) else value, range(9), part))
    known = inspect.getattr_static(part, member, None) if member else None
    places: list[Any] = [known.fget if isinstance(known, property) else known, part]
    for one in places if isinstance(part, type) else [*places, type(part)]:
        with suppress(TypeError, OSError):
            return place(Path(inspect.getsourcefile(one) or ""), inspect.getsourcelines(one)[1])
    module = getattr(sys.modules.get(str(getattr(part, "__module__", ""))), "__file__", None)
    return place(Path(module)) if module else ""


def _is_in(file: Path, *folders: str) -> bool:
    return str(file).startswith(("<", *folders))
