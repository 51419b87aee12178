"""Where OpenCompass and AISBench keep the files of their datasets. For worker processes only.

Nothing is downloaded. If a file is absent, the error names all places that were searched, and the address from which
the peer downloads it.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, Final

from ais_prompt.readers.data_path import data_folders

CACHES: Final = {"opencompass": "COMPASS_DATA_CACHE", "ais_bench": "AIS_BENCH_DATASETS_CACHE"}
"""Package of a peer → environment variable with the folder of its data."""


class DataAbsent(FileNotFoundError):
    """Files of a dataset are not on this machine.

    Attributes:
        what: one sentence.
        fix: where to put them, and from where the peer downloads them.
    """

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


def find_data(package: str, dataset_id: str, local_mode: bool = False) -> str:  # noqa: ARG001  # the peers' signature
    """Return the file or folder of a dataset, in place of the peers' ``get_data_path``.

    Args:
        package: package of the peer.
        dataset_id: an id of the peer's table of datasets, or a path.
        local_mode: not used: nothing is downloaded in either mode.

    Raises:
        DataAbsent: it is nowhere.
    """
    if Path(dataset_id).is_absolute():
        return dataset_id
    known = _table(package, "DATASETS_MAPPING").get(dataset_id, {})
    if source := os.environ.get("DATASET_SOURCE"):
        hub_id = known.get({"ModelScope": "ms_id", "HF": "hf_id"}.get(source, ""))
        if hub_id:
            return str(hub_id)
    path = known.get("local") or dataset_id
    places = [Path.cwd() / folder / path for folder in data_folders(Path(path))]
    for place in places:
        if place.exists():
            return f"{place}/" if path.endswith("/") else str(place)  # some loaders add the name of a file to it
    raise absent(package, dataset_id, path, places)


def absent(package: str, dataset_id: str, path: str, places: list[Path]) -> DataAbsent:
    """Return the error for a dataset that is in none of the places."""
    searched = ", ".join(str(place) for place in dict.fromkeys(places))
    fix = f"put it there, or set {CACHES[package]} to the folder that holds {path}"
    urls = _table(package, "DATASETS_URL")
    url = next((urls[name].get("url") for name in sorted(urls, key=len, reverse=True) if name in path), None)
    hub = next((known for key in ("hf_id", "ms_id") if (known := _ids(package, dataset_id).get(key))), None)
    if url or hub:
        fix += f"; OpenCompass takes it from {url or hub}"
    return DataAbsent(f"no data for {dataset_id!r} (searched: {searched})", fix)


def _ids(package: str, dataset_id: str) -> dict[str, Any]:
    found: dict[str, Any] = _table(package, "DATASETS_MAPPING").get(dataset_id, {})
    return found


def _table(package: str, name: str) -> dict[str, Any]:
    """Return a table of the peer; AISBench has none."""
    if package != "opencompass":
        return {}
    found: dict[str, Any] = getattr(importlib.import_module("opencompass.utils.datasets_info"), name, {})
    return found
