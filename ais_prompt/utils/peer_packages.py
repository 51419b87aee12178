"""Find the packages of OpenCompass and AISBench, or of their data, in a checkout or where they are installed.

Nothing is imported.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Final

PEER_PATH: Final = "AISPROMPT_PEER_PATH"
"""Environment variable with folders that hold checkouts or unpacked wheels, as ``PATH`` has them."""


def peer_paths() -> list[Path]:
    """Return the folders of `PEER_PATH`, which ``--peer-path`` sets."""
    return [Path(text).expanduser() for text in os.environ.get(PEER_PATH, "").split(os.pathsep) if text]


def peer_package(package: str) -> Path | None:
    """Return the folder of a peer's package; None if there is none.

    Folders of `PEER_PATH` come before installed packages. Each is the root of a checkout, or the package itself.

    Args:
        package: ``opencompass``, ``ais_bench``, or one that holds data for them, such as ``bfcl_eval``.
    """
    for root in peer_paths():
        for folder in (root / package, root):
            if folder.name == package and folder.is_dir():
                return folder.resolve()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    return Path(places[0]).resolve() if places else None
