"""Show the same in-context examples before every question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import RowLists, ShotIds, own_rows, take
from ais_prompt.types import Sample


@RETRIEVERS.register_module()
class FixKRetriever:
    """Choose the rows of ``fix_id_list`` in that order, repeats included.

    Args:
        fix_id_list: row numbers in the train split, from 0.
        ice_separator, ice_eos_token: text between and after examples that are text.
        ice_num: ignored; accepted because configs of OpenCompass may have it.
        exclude_self: never show a test row among its own examples, where the two splits share rows. It then has one
            example less.
    """

    gives_shots = True

    def __init__(
        self,
        fix_id_list: Sequence[int],
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        ice_num: int = 1,  # noqa: ARG002
        exclude_self: bool = False,
    ) -> None:
        self.fix_id_list = tuple(fix_id_list)
        self.ice_separator = ice_separator
        self.ice_eos_token = ice_eos_token
        self.exclude_self = exclude_self

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

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return the rows that are shown."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the shots of the first test row."""
        return self.retrieve(train, test[:1])[0]
