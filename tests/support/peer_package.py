"""A small package in the layout of OpenCompass, written for tests. Nothing in it comes from there."""

from __future__ import annotations

import shutil
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "data" / "peer"


def write_peer(root: Path) -> Path:
    """Copy the package into a folder, and return that folder."""
    shutil.copytree(SOURCE, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return root
