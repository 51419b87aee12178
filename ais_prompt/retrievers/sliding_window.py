"""Show the train rows just before a question's own position, for data whose order has a meaning."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import OwnRows, RowLists, ShotIds, check_count, check_enough, own_rows, take
from ais_prompt.types import Sample
from ais_prompt.utils.text import counted


@RETRIEVERS.register_module()
class SlidingWindowRetriever:
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

    gives_shots = True

    def __init__(
        self,
        k: int,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        ice_num: int = 1,  # noqa: ARG002
        exclude_self: bool = False,
    ) -> None:
        self.k = check_count(k, "k")
        self.ice_separator = ice_separator
        self.ice_eos_token = ice_eos_token
        self.exclude_self = exclude_self

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

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return the rows that are shown."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the window of the first test row."""
        return self.retrieve(train, test)[0]
