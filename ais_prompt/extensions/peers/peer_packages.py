"""Find the packages of OpenCompass and AISBench: in a checkout, an unpacked wheel, or where Python finds them.

Nothing of them is imported.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ais_prompt.config import SearchFolders

if TYPE_CHECKING:
    from ais_prompt.config import ConfigTree


PEERS: Final = {"opencompass": "OpenCompass", "ais_bench": "AISBench", "torchtune": "torchtune"}
"""Package → the program that it belongs to."""
DISTRIBUTIONS: Final = {"opencompass": "opencompass", "ais_bench": "ais_bench_benchmark"}
"""Package of a peer → the distribution that pip installs."""
PEER_FOLDERS: Final = SearchFolders("AISPROMPT_PEER_PATH")
"""Checkouts or unpacked wheels of OpenCompass and AISBench (``--peer-path``)."""
_TREES: Final = {"opencompass": ("configs",), "ais_bench": ("benchmark", "configs")}
"""Package of a peer → the path of its config tree in it."""
_FURTHER: Final = {"datasets": ("dataset_collections",)}


def peer_of(path: str) -> str | None:
    """Return the program that a module or dotted path belongs to, such as ``OpenCompass``; None for any other."""
    return PEERS.get(path.partition(".")[0])


def peer_package(package: str) -> Path | None:
    """Return the folder of a peer's package; None if there is none.

    `PEER_FOLDERS` come before installed packages. Each is the root of a checkout, or the package itself.

    Args:
        package: ``opencompass``, ``ais_bench``, or a package of data for them, such as ``bfcl_eval``.
    """
    for root in PEER_FOLDERS.paths():
        for folder in (root / package, root):
            if folder.name == package and folder.is_dir():
                return folder.resolve()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    return Path(places[0]).resolve() if places else None


def config_trees() -> list[ConfigTree]:
    """Return the trees of both peers, for the step ``config_trees``."""
    from ais_prompt.config import ConfigTree  # help does without configs

    fix = "--peer-path with a checkout, or --config-dir with its configs; or install {}"
    return [
        ConfigTree(package, inside, peer_package(package), _FURTHER, fix.format(package))
        for package, inside in _TREES.items()
    ]


def is_complete(package: str) -> bool:
    """Return whether a peer is installed with all that it requires, so that Python can import it as it is.

    A checkout among `PEER_FOLDERS` is not: it is there to be used instead.
    """
    from importlib.metadata import PackageNotFoundError, requires, version  # help does without them

    from packaging.requirements import InvalidRequirement, Requirement

    folder = peer_package(package)
    roots = [root.resolve() for root in PEER_FOLDERS.paths()]
    if folder is not None and any(root in (folder, folder.parent) for root in roots):
        return False
    try:
        needed = map(Requirement, requires(DISTRIBUTIONS[package]) or ())
        return all(
            one.specifier.contains(version(one.name), prereleases=True)
            for one in needed
            if one.marker is None or one.marker.evaluate({"extra": ""})
        )
    except (PackageNotFoundError, InvalidRequirement):
        return False
