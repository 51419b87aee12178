"""What a retriever is: it says which training rows are shown before each question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, TypeAlias

from ais_prompt.types import Sample

ShotIds: TypeAlias = tuple[int, ...]
"""Row numbers in the train split, in the order in which they are shown."""


class Retriever(Protocol):
    """Chooses the in-context examples.

    Attributes:
        gives_shots: False if it never shows any, by design.
        exclude_self: whether it leaves the train rows out that are the test row itself, column for column.
        ice_separator, ice_eos_token: between and after examples that are text.
    """

    gives_shots: bool
    exclude_self: bool
    ice_separator: str
    ice_eos_token: str

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """The shots of every test row, in order of the test rows.

        Raises:
            ConfigError: the train split cannot give what was asked for.
        """

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """For every test row the train rows that it may be shown: `retrieve`, or all where that is slow.

        Raises:
            ConfigError: as `retrieve`, as far as that can be seen without looking for rows.
        """

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Shots that the first test row might get, found at once: the check builds one prompt with them.

        Nothing heavy is loaded for it, so a retriever that compares texts may give any rows, as many as it will.

        Raises:
            ConfigError: as `retrieve`, as far as that can be seen so soon.
        """
