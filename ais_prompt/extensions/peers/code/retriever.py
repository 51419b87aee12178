"""Choose the in-context examples with a retriever of OpenCompass or AISBench."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import PartError
from ais_prompt.extensions.peers.code.arrow_file import write_rows
from ais_prompt.extensions.peers.code.calls import CheckCall, RetrieveCall
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, LOAD_SECONDS, call_peer
from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import RowLists, ShotIds
from ais_prompt.types import Sample

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
