"""Retrievers that choose rows by their positions: none, fixed rows, rows at random, and the rows before a question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ais_prompt.data.retriever import (
    OwnRows,
    RowLists,
    ShotIds,
    ShowsExamples,
    check_count,
    check_enough,
    own_rows,
    take,
)
from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.types import Sample
from ais_prompt.utils import counted


@RETRIEVERS.register_module()
class ZeroRetriever:
    """Choose no examples.

    Args:
        ice_eos_token: text in place of the examples; empty by default.
        ice_separator: ignored; accepted because configs of OpenCompass may have it.
    """

    gives_shots = False
    exclude_self = False

    def __init__(self, ice_eos_token: str = "", ice_separator: str = "") -> None:
        self.ice_eos_token = ice_eos_token
        self.ice_separator = ice_separator

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:  # noqa: ARG002
        """Return no rows for every test row."""
        return [()] * len(test)

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return no rows for every test row."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:  # noqa: ARG002
        """Return no rows."""
        return ()


@RETRIEVERS.register_module()
class FixKRetriever(ShowsExamples):
    """Choose the rows of ``fix_id_list`` in that order, repeats included.

    Args:
        fix_id_list: row numbers in the train split, from 0.
        ice_separator, ice_eos_token: text between and after examples that are text.
        ice_num: ignored; accepted because configs of OpenCompass may have it.
        exclude_self: never show a test row among its own examples, where the two splits share rows. It then has one
            example less.
    """

    def __init__(
        self,
        fix_id_list: Sequence[int],
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        ice_num: int = 1,  # noqa: ARG002
        exclude_self: bool = False,
    ) -> None:
        self.fix_id_list = tuple(fix_id_list)
        super().__init__(ice_separator, ice_eos_token, exclude_self)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the fixed rows for every test row.

        Raises:
            ConfigError: an id is not a row of the train split.
        """
        for shot in self.fix_id_list:
            if not 0 <= shot < len(train):
                rows = f"0 to {len(train) - 1}" if train else "no rows"
                raise ConfigError(
                    f"fix_id_list asks for row {shot}, but the train split has {rows}",
                    fix="choose ids within the train split; check train_split and train_range of reader_cfg",
                )
        own = own_rows(train, test, exclude_self=self.exclude_self)
        return RowLists(take(self.fix_id_list, len(self.fix_id_list), rows) for rows in own)


@RETRIEVERS.register_module()
class RandomRetriever(ShowsExamples):
    """Draw rows without replacement, the same ones in every run.

    The draws are those of OpenCompass and AISBench: numpy's ``RandomState``, whose stream never changes, seeded
    once, one permutation of the train rows for each test row. The global generator is not touched.

    Args:
        ice_num: examples for each question.
        seed: seed of the draws, 0 to 2**32 - 1.
        ice_separator, ice_eos_token: text between and after examples that are text.
        exclude_self: never show a test row among its own examples, where the two splits share rows.

    Raises:
        ConfigError: ``ice_num`` is negative, or ``seed`` out of range.
    """

    def __init__(
        self,
        ice_num: int = 1,
        seed: int = 43,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        exclude_self: bool = False,
    ) -> None:
        if not 0 <= seed < 2**32:
            raise ConfigError(f"seed cannot be {seed}", fix="choose one from 0 to 4294967295")
        self.ice_num = check_count(ice_num, "ice_num")
        self.seed = seed
        super().__init__(ice_separator, ice_eos_token, exclude_self)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return a draw for every test row.

        Raises:
            ConfigError: the train split has fewer rows than ``ice_num``.
        """
        own = own_rows(train, test, exclude_self=self.exclude_self)
        check_enough(self.ice_num, len(train), "ice_num", own)
        generator = np.random.RandomState(self.seed)
        # choice(n, ice_num, replace=False) takes the head of a permutation. All of it is drawn here, so that leaving a
        # row out does not change the draws of later test rows.
        return RowLists(take(generator.permutation(len(train)), self.ice_num, rows) for rows in own)


@RETRIEVERS.register_module()
class SlidingWindowRetriever(ShowsExamples):
    """Choose the train rows ``i-k`` to ``i-1`` for test row ``i``; before the first train row come the last ones.

    Args:
        k: examples for each question.
        ice_separator, ice_eos_token: text between and after examples that are text.
        ice_num: ignored; accepted because configs of OpenCompass may have it.
        exclude_self: never show a test row among its own examples, where the two splits share rows. The window then
            reaches further back.

    Raises:
        ConfigError: ``k`` is negative.
    """

    def __init__(
        self,
        k: int,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        ice_num: int = 1,  # noqa: ARG002
        exclude_self: bool = False,
    ) -> None:
        self.k = check_count(k, "k")
        super().__init__(ice_separator, ice_eos_token, exclude_self)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the window of every test row.

        Raises:
            ConfigError: the train split has fewer rows than the window, or ends before the last test row's.
        """
        own = own_rows(train, test, exclude_self=self.exclude_self)
        check_enough(self.k, len(train), "k", own)
        if self.k and len(test) > len(train) + 1:
            raise ConfigError(
                f"the train split has {counted(len(train), 'row')}, but the window of the last of {len(test)} test "
                f"rows ends at train row {len(test) - 2}",
                fix="use another retriever, or cut the test split with test_range of reader_cfg",
            )
        return RowLists(self._window(row, len(train), rows) for row, rows in enumerate(own))

    def _window(self, test_row: int, train_rows: int, own: OwnRows) -> ShotIds:
        backwards = (row % train_rows for row in range(test_row - 1, test_row - 1 - train_rows, -1))
        return take(backwards, self.k, own)[::-1]

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the window of the first test row."""
        return self.retrieve(train, test)[0]
