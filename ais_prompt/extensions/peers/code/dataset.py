"""Read a dataset with a loader of OpenCompass or AISBench."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.extensions.peers.code.calls import CheckCall, LoadCall
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, LOAD_SECONDS, call_peer
from ais_prompt.readers.batches import ArrowBatches
from ais_prompt.readers.table import Table
from ais_prompt.registry import READERS


@READERS.register_module()
class PeerDataset:
    """Read the rows that a dataset class of OpenCompass or AISBench loads. Its code runs in a process of its own.

    Args:
        cls: dotted name of the class: ``opencompass.datasets.gsm8k.GSM8KDataset``.
        kwargs: the arguments of its ``load``.
        prompt: dotted name of a template class; what it writes for each row becomes the column `calls.PROMPT`.
    """

    def __init__(self, cls: str, kwargs: Mapping[str, Any] | None = None, prompt: str | None = None) -> None:
        self._cls = cls
        self._kwargs = dict(kwargs or {})
        self._prompt = prompt

    @staticmethod
    def check_arguments(cls: str, kwargs: Mapping[str, Any] | None = None, prompt: str | None = None) -> None:
        """Import the classes, and compare the arguments with the signature of ``load``.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
        """
        call_peer(CheckCall("dataset", cls, kwargs or {}), cls, CHECK_SECONDS)
        if prompt is not None:
            call_peer(CheckCall("template", prompt, {}), prompt, CHECK_SECONDS)

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits; a dataset without splits has ``test``.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
        """
        return tuple(self._tables)

    def read(self, split: str) -> Table:
        """Return all rows of a split that `splits` names."""
        return self._tables[split]

    @cached_property
    def _tables(self) -> dict[str, Table]:
        import pyarrow as pa

        origin = " ".join(str(part) for part in (self._kwargs.get("path"), self._kwargs.get("name")) if part)
        tables = {}
        with tempfile.TemporaryDirectory() as folder:
            files = call_peer(LoadCall(self._cls, self._kwargs, folder, self._prompt), self._cls, LOAD_SECONDS)
            for split, file in files.items():
                # The mapped file stays readable after its folder is removed.
                with pa.memory_map(file) as source:
                    rows = pa.ipc.open_file(source).read_all()
                tables[split] = Table(ArrowBatches(rows), [f"{self._cls.rpartition('.')[2]} {origin}".strip()])
        if not tables:
            raise DataError(f"{self._cls} loads no split", where=origin, fix="check its arguments")
        return tables
