"""Read datasets of the Hugging Face Hub, and folders that `datasets` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ais_prompt.data.batches import ArrowBatches
from ais_prompt.data.table import Table
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.registry import READERS
from ais_prompt.utils import lookup, require

if TYPE_CHECKING:
    import datasets

_SAVED = ("dataset_dict.json", "state.json")
"""Files that `save_to_disk` writes: for several splits, or for one."""
_ONLY_SPLIT = "test"
"""The name of a dataset that has no splits."""


@READERS.register_module()
class HuggingFaceDataset:
    """Read a dataset with the library `datasets`. No code of the dataset is ever run.

    Args:
        path: name on the hub, a folder written by ``save_to_disk``, or any other folder that `datasets` understands.
        name: name of a configuration (subset).
        revision: branch, tag or commit on the hub.
        data_files: a file, several, or split → file or files, as `datasets.load_dataset` has it.
        split: only this split, or a part of it such as ``train[:10]``; it serves as train and test at once.

    Raises:
        ConfigError: ``path`` is empty.
    """

    def __init__(
        self,
        path: str,
        name: str | None = None,
        revision: str | None = None,
        data_files: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
        split: str | None = None,
    ) -> None:
        if not path:
            raise ConfigError("HuggingFaceDataset has an empty path", fix="set path to a name on the hub, or a folder")
        self._path = path
        self._name = name
        self._revision = revision
        self._data_files = data_files
        self._split = split

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits.

        Raises:
            DataError: it cannot be loaded.
            MissingExtra: `datasets` is not installed.
        """
        return tuple(self._loaded)

    def read(self, split: str) -> Table:
        """Return all rows of a split that `splits` names.

        Raises:
            DataError: an Arrow file of a folder of ``save_to_disk`` is damaged.
        """
        if is_saved(Path(self._path)):  # anybody may have written it; the library itself wrote all others
            import pyarrow as pa

            try:  # a wrong length or offset would end the process
                self._loaded[split].data.validate(full=True)
            except pa.ArrowException as error:
                what = f"the Arrow file is damaged: {_cause(error)}"
                fix = "write it again with save_to_disk, or load it again"
                raise DataError(what, where=self._path, fix=fix) from error
        return to_table(self._loaded[split], self._path)

    @cached_property
    def _loaded(self) -> Mapping[str, Any]:
        """Split → `datasets.Dataset`."""
        datasets = require("datasets", extra="hub", why="HuggingFaceDataset")

        try:
            data = datasets.load_from_disk(self._path) if is_saved(Path(self._path)) else self._load()
            if self._split is not None and isinstance(data, Mapping):
                data = data[self._split]
        except Exception as error:  # loading can raise anything, from network errors to those of a broken file
            raise DataError(
                f"datasets cannot load it: {_cause(error)}",
                where=" ".join(part for part in (self._path, self._name) if part),
                fix="check path, name and revision; what is not on this machine needs a connection to the hub",
            ) from error
        return data if isinstance(data, Mapping) else {_ONLY_SPLIT: data}

    def _load(self) -> Any:
        import datasets

        is_remote = self._data_files is None and not Path(self._path).exists()
        with lookup(f"datasets/{self._path}") if is_remote else nullcontext():
            return datasets.load_dataset(
                self._path, name=self._name, revision=self._revision, data_files=self._data_files, split=self._split
            )


def is_saved(folder: Path) -> bool:
    """Return whether `datasets` wrote this folder with ``save_to_disk``."""
    return any((folder / file).is_file() for file in _SAVED)


def to_table(data: datasets.Dataset, path: str) -> Table:
    """Return the rows of a `datasets.Dataset`: its Arrow table, copied only if rows were chosen or shuffled.

    Args:
        data: the dataset.
        path: its name if it is not read from a file.
    """
    files = [file["filename"] for file in data.cache_files]
    # The table beneath still has all rows; only a view in Arrow format knows which of them were chosen.
    return Table(ArrowBatches(data.with_format("arrow")[:]), files or [path])


def _cause(error: BaseException) -> str:
    """Return the message of a library in one line, with that of an error that it wraps."""
    lines = str(error).strip().splitlines()
    first = lines[0] if lines else type(error).__name__
    return f"{first}: {_cause(error.__cause__)}" if error.__cause__ else first
