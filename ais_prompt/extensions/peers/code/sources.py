"""Find the source of OpenCompass and AISBench: a checkout, or an installed wheel. Nothing of it is imported."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement

from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS, peer_package

DISTRIBUTIONS: Final = {"opencompass": "opencompass", "ais_bench": "ais_bench_benchmark"}
"""Package of a peer → the distribution that pip installs."""


def is_complete(package: str) -> bool:
    """Return whether a peer is installed with all that it requires, so that Python can import it as it is.

    A checkout among `PEER_FOLDERS` is not: it is there to be used instead.
    """
    folder = peer_package(package)
    roots = [root.resolve() for root in PEER_FOLDERS.paths()]
    if folder is not None and any(root in (folder, folder.parent) for root in roots):
        return False
    try:
        needed = [Requirement(text) for text in requires(DISTRIBUTIONS[package]) or ()]
        return all(_is_met(one) for one in needed)
    except (PackageNotFoundError, InvalidRequirement):
        return False


def _is_met(needed: Requirement) -> bool:
    if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
        return True
    try:
        return needed.specifier.contains(version(needed.name), prereleases=True)
    except PackageNotFoundError:
        return False
