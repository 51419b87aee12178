"""The protocol of retrievers, which choose the in-context examples of each question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, TypeAlias

from ais_prompt.types import Sample

ShotIds: TypeAlias = tuple[int, ...]
"""Row numbers in the train split, in the order in which they are shown."""


class Retriever(Protocol):
    """Choose the in-context examples.

    Attributes:
        gives_shots: False if it never shows examples, by design.
        exclude_self: whether it leaves out train rows that are equal to the test row in every column.
        ice_separator, ice_eos_token: text between and after examples that are text.
    """

    gives_shots: bool
    exclude_self: bool
    ice_separator: str
    ice_eos_token: str

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the shots of every test row, in order of the test rows.

        Raises:
            ConfigError: the train split has too few rows, or lacks a row or column.
        """

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return the train rows that each test row may be shown: `retrieve`, or all rows where that is slow.

        Raises:
            ConfigError: as `retrieve`, as far as that can be seen without comparing rows.
        """

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return shots that the first test row might get, quickly: `check` builds one prompt with them.

        It loads nothing heavy. A retriever that compares texts may return any rows, in their usual number.

        Raises:
            ConfigError: as `retrieve`, as far as that can be seen without comparing rows.
        """
