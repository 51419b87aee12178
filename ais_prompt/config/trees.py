"""Find the folders of ``--config-dir``, and the config trees of OpenCompass and AISBench: installed, in a checkout, or
copied beside a config.

Nothing of theirs is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ais_prompt.utils.peer_packages import peer_package

CONFIG_DIR: Final = "AISPROMPT_CONFIG_DIR"
"""Environment variable with folders that hold ``datasets``, ``models`` and ``summarizers``, as ``PATH`` has them."""

TREES: Final = {"opencompass": ("configs",), "ais_bench": ("benchmark", "configs")}
"""Package of a peer → the path of its config tree in it."""


def config_dirs() -> list[Path]:
    """Return the folders of `CONFIG_DIR`, which ``--config-dir`` sets."""
    return [Path(text).expanduser() for text in os.environ.get(CONFIG_DIR, "").split(os.pathsep) if text]


def peer_trees() -> list[tuple[str, Path]]:
    """Return the package and config tree of each peer that is installed, or that ``--peer-path`` names."""
    found = ((package, peer_package(package), steps) for package, steps in TREES.items())
    return [(package, tree) for package, top, steps in found if top and (tree := top.joinpath(*steps)).is_dir()]


def file_in_tree(module: str, importing: Path) -> Path | None:
    """Return the file of a config that is imported by its name in a peer's package.

    Args:
        module: ``opencompass.configs.datasets.gsm8k.gsm8k_gen``.
        importing: the config that imports it; the ``configs`` folder around it is searched too.

    Returns:
        The first file that exists; None if there is none, or the module is in no config tree.
    """
    package, *steps = module.split(".")
    inside = TREES.get(package)
    if inside is None or tuple(steps[: len(inside)]) != inside:
        return None
    rest = steps[len(inside) :]
    candidates = (tree.joinpath(*rest).with_suffix(".py") for tree in _searched(package, importing))
    return next((file for file in candidates if file.is_file()), None)


def searched_trees(package: str, importing: Path) -> list[str]:
    """Return the folders in which `file_in_tree` looks, for a message."""
    return [str(tree) for tree in _searched(package, importing)]


def _searched(package: str, importing: Path) -> Iterator[Path]:
    installed = peer_package(package)
    if installed is not None:
        yield installed.joinpath(*TREES[package])
    yield from (folder for folder in importing.resolve().parents if folder.name == "configs")
    yield Path.cwd() / "configs"
    yield from config_dirs()
