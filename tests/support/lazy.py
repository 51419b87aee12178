"""Packages that take long to import, for the tests that use them."""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """Import a module when something of it is first used.

    Every worker of ``pytest -n`` collects all test modules, but runs only a part of them: what a module imports at its
    top is paid for by each worker.

    Args:
        name: of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks for marks of its own on everything that is in a module
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)
