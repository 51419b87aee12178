"""Find and load files of datasets of OpenCompass and AISBench. For worker processes only.

Nothing is downloaded. If a file is absent, the error names all places that were searched, and the address from which
the peer downloads it.

The loaders of LiveCodeBench pass ``version_tag`` to a script that lies next to the data. `datasets` runs no scripts any
more, so `ais_prompt` reads the files. Source of the rules: the dataset card of livecodebench/code_generation_lite.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.data import reading
from ais_prompt.extensions.peers.data_path import data_folders
from ais_prompt.utils import open_regular, read_objects

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


MODULES: Final = (
    "opencompass.datasets.livecodebench.livecodebench",
    "ais_bench.benchmark.datasets.livecodebench.livecodebench",
)
"""Modules whose ``load_dataset`` this replaces."""
LATEST: Final = "release_latest"
_TAG: Final = re.compile(r"release_v(?P<until>\d+)|v(?P<first>\d+)(_v(?P<last>\d+))?")


def load_release(path: str, *, version_tag: str | None = None, **options: Any) -> Any:
    """Load a dataset, in place of ``datasets.load_dataset``.

    Args:
        path: its folder, or its name on the Hugging Face Hub.
        version_tag: ``release_v3`` for the first three files, ``v3`` for the third alone, ``v2_v4`` for the second to
            the fourth, ``release_latest`` for all; None loads as `datasets` does.
        options: other arguments of ``load_dataset``.

    Raises:
        DataAbsent: there is no such release, or one of its files is absent.
    """
    import datasets

    if version_tag is None:
        return datasets.load_dataset(path, **options)
    files = _files(_folder(path), version_tag)
    # The JSON reader of `datasets` would parse dates. The times of the files make its cache see a change.
    return datasets.Dataset.from_generator(
        _rows, gen_kwargs={"files": [(str(file), file.stat().st_mtime_ns) for file in files]}
    )


def _rows(files: Sequence[tuple[str, int]]) -> Iterator[Any]:
    for file, _ in files:
        with reading(Path(file)), open_regular(Path(file)) as lines:
            for _, row in read_objects(lines, file):
                yield row


def _folder(path: str) -> Path:
    if (folder := Path(path)).is_dir():
        return folder
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(path, repo_type="dataset", allow_patterns="test*.jsonl"))


def _files(folder: Path, tag: str) -> list[Path]:
    """Return the files of a release: test.jsonl is the first, test2.jsonl the second, and so on."""
    present = [int(file.stem[len("test") :] or 1) for file in folder.glob("test*.jsonl")]
    found = _TAG.fullmatch(f"release_v{max(present, default=1)}" if tag == LATEST else tag)
    if found is None:
        raise DataAbsent(f"{folder} has no release {tag!r}", "known ones: release_v1, v1, v1_v2, …, release_latest")
    first = 1 if found["until"] else int(found["first"])
    last = int(found["until"] or found["last"] or first)
    files = [folder / f"test{number if number > 1 else ''}.jsonl" for number in range(first, last + 1)]
    if missing := [file.name for file in files if not file.is_file()]:
        raise DataAbsent(f"release {tag!r} needs {', '.join(missing)} in {folder}", "put the files there")
    return files
