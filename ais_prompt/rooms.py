"""Rooms: a folder of the package offers names, each of which is imported when it is first used.

The ``__init__.py`` of a room lists what it offers, as imports that only type checkers run::

    if TYPE_CHECKING:
        from ais_prompt.store.journal import Journal
    else:
        __getattr__, __dir__ = offered(__name__)

Other rooms, extensions and tests import from the room, so that its files can move; importing a room costs nothing.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ais_prompt.catalog import public_names


def offered(room: str, *kinds: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a room (PEP 562).

    Args:
        room: dotted name of the package, which is being imported.
        kinds: kinds of parts that the room offers under their names in configs too, those of extensions included.
    """

    @cache
    def homes() -> dict[str, str]:
        tree = ast.parse(Path(sys.modules[room].__file__ or "").read_text("utf-8"))
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
        return {alias.name: node.module or "" for node in imports for alias in node.names if node.module != "typing"}

    def names() -> list[str]:
        return sorted({*homes(), *(name for kind in kinds for name in public_names(kind))})

    def find(name: str) -> object:
        if name == "__all__":
            return names()
        if name in homes() and not name.startswith("__"):
            return getattr(importlib.import_module(homes()[name]), name)
        for kind in kinds:
            if name in public_names(kind):
                return getattr(importlib.import_module("ais_prompt.registry"), kind.upper()).get(name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return find, names
