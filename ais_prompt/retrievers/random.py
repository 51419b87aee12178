"""Draw in-context examples at random for each question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import RowLists, ShotIds, check_count, check_enough, own_rows, take
from ais_prompt.types import Sample


@RETRIEVERS.register_module()
class RandomRetriever:
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

    gives_shots = True

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
        self.ice_separator = ice_separator
        self.ice_eos_token = ice_eos_token
        self.exclude_self = exclude_self

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

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return the rows that are shown."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the draw of the first test row."""
        return self.retrieve(train, test[:1])[0]
