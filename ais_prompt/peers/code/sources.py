"""Find the source of OpenCompass and AISBench: a checkout, or an installed wheel. Nothing of it is imported."""

from __future__ import annotations

import importlib.util
import os
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement

PEER_PATH: Final = "AISPROMPT_PEER_PATH"
"""Environment variable with folders that hold checkouts or unpacked wheels, as ``PATH`` has them."""

DISTRIBUTIONS: Final = {"opencompass": "opencompass", "ais_bench": "ais_bench_benchmark"}
"""Package of a peer → the distribution that pip installs."""


def peer_package(package: str) -> Path | None:
    """Return the folder of a peer's package; None if it is nowhere.

    Folders of `PEER_PATH` come before what is installed. Each is the root of a checkout, or the package itself.

    Args:
        package: a key of `DISTRIBUTIONS`.
    """
    for text in os.environ.get(PEER_PATH, "").split(os.pathsep):
        root = Path(text).expanduser()
        for folder in (root / package, root) if text else ():
            if folder.name == package and folder.is_dir():
                return folder.resolve()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    return Path(places[0]).resolve() if places else None


def is_complete(package: str) -> bool:
    """Return whether a peer is installed with all that it requires, so that Python can import it as it is.

    A checkout that `PEER_PATH` names is not: it is there to be used instead.
    """
    if _named_by_path(package):
        return False
    try:
        needed = [Requirement(text) for text in requires(DISTRIBUTIONS[package]) or ()]
        return all(_is_met(one) for one in needed)
    except (PackageNotFoundError, InvalidRequirement):
        return False


def peer_version(package: str) -> str:
    """Return the version of an installed peer; of a checkout, ``checkout``."""
    try:
        return "checkout" if _named_by_path(package) else version(DISTRIBUTIONS[package])
    except PackageNotFoundError:
        return "checkout"


def _named_by_path(package: str) -> bool:
    folder = peer_package(package)
    roots = [Path(text).expanduser().resolve() for text in os.environ.get(PEER_PATH, "").split(os.pathsep) if text]
    return folder is not None and any(root in (folder, folder.parent) for root in roots)


def _is_met(needed: Requirement) -> bool:
    if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
        return True
    try:
        return needed.specifier.contains(version(needed.name), prereleases=True)
    except PackageNotFoundError:
        return False
