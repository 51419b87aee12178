"""The same in-context examples for every question."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import ShotIds
from ais_prompt.types import Sample


@RETRIEVERS.register_module()
class FixKRetriever:
    """Shows the rows of ``fix_id_list`` in that order, repeats included.

    Args:
        fix_id_list: row numbers in the train split, from 0.
        ice_separator, ice_eos_token: between and after examples that are text.
    """

    gives_shots = True

    def __init__(self, fix_id_list: Sequence[int], ice_separator: str = "\n", ice_eos_token: str = "\n") -> None:
        self.fix_id_list = tuple(fix_id_list)
        self.ice_separator = ice_separator
        self.ice_eos_token = ice_eos_token

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """The fixed rows, for every test row.

        Raises:
            ConfigError: an id is not a row of the train split.
        """
        for shot in self.fix_id_list:
            if not 0 <= shot < len(train):
                rows = f"0 to {len(train) - 1}" if train else "no rows"
                raise ConfigError(
                    f"fix_id_list asks for row {shot}, but the train split has {rows}",
                    mend="choose ids within the train split; check train_split and train_range of reader_cfg",
                )
        return [self.fix_id_list] * len(test)
