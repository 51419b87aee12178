"""Datasets, postprocessors and retrievers that call code of OpenCompass or AISBench."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from ais_prompt.data import ArrowBatches, RowLists, ShotIds, Table
from ais_prompt.errors import DataError, PartError
from ais_prompt.extensions.peers.code.calls import CheckCall, LoadCall, PostprocessCall, RetrieveCall, write_rows
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, LOAD_SECONDS, TEXT_SECONDS, call_peer
from ais_prompt.registry import POSTPROCESSORS, READERS, RETRIEVERS
from ais_prompt.types import Sample


@READERS.register_module()
class PeerDataset:
    """Read the rows that a dataset class of OpenCompass or AISBench loads. Its code runs in a process of its own.

    Args:
        cls: dotted name of the class: ``opencompass.datasets.gsm8k.GSM8KDataset``.
        kwargs: the arguments of its ``load``.
        prompt: dotted name of a template class; what it writes for each row becomes the column `calls.PROMPT`.
    """

    runs_code: ClassVar = True

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


@POSTPROCESSORS.register_module(name="PeerPostprocessor")
def peer_postprocessor(text: Any, *, function: str, kwargs: Mapping[str, Any] | None = None) -> Any:
    """Return what a function of OpenCompass or AISBench makes of a text. It runs in a process of its own.

    Args:
        text: an answer or a gold.
        function: dotted name: ``opencompass.datasets.gsm8k.gsm8k_postprocess``.
        kwargs: its other arguments.

    Raises:
        AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
    """
    return call_peer(PostprocessCall(function, kwargs or {}, [text]), function, TEXT_SECONDS)[0]


peer_postprocessor.runs_code = True  # type: ignore[attr-defined]


def _check_arguments(function: str, kwargs: Mapping[str, Any] | None = None) -> None:
    """Import the function, and compare the arguments with its signature.

    Raises:
        AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
    """
    call_peer(CheckCall("postprocessor", function, kwargs or {}), function, CHECK_SECONDS)


peer_postprocessor.check_arguments = _check_arguments  # type: ignore[attr-defined]  # functions take attributes


_RETRIEVER_FIX: Final = "repair its retrieve method, which returns a list of numbers of train rows for each question"


@RETRIEVERS.register_module()
class PeerRetriever:
    """Choose the examples that a retriever class of OpenCompass or AISBench chooses.

    Its code runs in a process of its own. It needs torch, which the peers' base class imports.

    Args:
        cls: dotted name of the class: ``opencompass.datasets.XiezhiRetriever``.
        kwargs: its arguments but for ``dataset``.
        input_columns: the columns by which it may compare rows; those of ``reader_cfg`` if left out.
    """

    runs_code: ClassVar = True
    named_in_locks: ClassVar = "ais_prompt.peers.code.retriever.PeerRetriever"

    gives_shots = True
    exclude_self = False

    def __init__(self, cls: str, kwargs: Mapping[str, Any] | None = None, input_columns: Sequence[str] = ()) -> None:
        self._cls = cls
        self._kwargs = dict(kwargs or {})
        self._input_columns = list(input_columns)
        self.ice_separator = str(self._kwargs.get("ice_separator", "\n"))
        self.ice_eos_token = str(self._kwargs.get("ice_eos_token", "\n"))

    @staticmethod
    def check_arguments(cls: str, kwargs: Mapping[str, Any] | None = None, input_columns: Sequence[str] = ()) -> None:  # noqa: ARG004
        """Import the class, and compare the arguments with its signature.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
        """
        call_peer(CheckCall("retriever", cls, kwargs or {}), cls, CHECK_SECONDS)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the rows that it chooses for every test row.

        Raises:
            AisPromptError: as `call_peer`; or it names rows that are not there.
        """
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for split, samples in (("train", train), ("test", test)):
                files.append(str(Path(folder) / f"{split}.arrow"))
                write_rows([sample.fields for sample in samples], files[-1])
            call = RetrieveCall(self._cls, self._kwargs, files[0], files[1], self._input_columns)
            found: list[list[int]] = call_peer(call, self._cls, LOAD_SECONDS)
        if len(found) != len(test):
            what = f"{self._cls} chooses examples for {len(found):,} of {len(test):,} questions"
            raise PartError(what, fix=_RETRIEVER_FIX)
        for row in (row for rows in found for row in rows if not 0 <= row < len(train)):
            raise PartError(f"{self._cls} chooses row {row} of {len(train):,} train rows", fix=_RETRIEVER_FIX)
        return RowLists(found)

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return all rows, because their code may take long."""
        return [range(len(train))] * len(test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:  # noqa: ARG002
        """Return the first train rows, without running their code."""
        return tuple(range(min(int(self._kwargs.get("ice_num", 1)), len(train))))
