"""Run modules of this package in new processes of the same Python."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PACKAGE_FOLDER: Final = Path(__file__).resolve().parents[2]


def module_command(module: str) -> list[str]:
    """Return the command that runs a module. Files of the working directory do not hide modules that it imports."""
    return [sys.executable, "-P", "-m", module]


def module_environment() -> Mapping[str, str]:
    """Return this process's environment; the search path has the folder of this package, if it is not installed."""
    installed = {Path(folder).resolve() for folder in (*site.getsitepackages(), site.getusersitepackages())}
    if PACKAGE_FOLDER in installed:
        return os.environ
    path = os.pathsep.join(filter(None, (str(PACKAGE_FOLDER), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}
