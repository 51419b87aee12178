"""No in-context examples."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import ShotIds
from ais_prompt.types import Sample


@RETRIEVERS.register_module()
class ZeroRetriever:
    """Shows no examples.

    Args:
        ice_eos_token: text that takes the place of the examples; nothing by default.
        ice_separator: between examples, of which there are none; accepted because the peers' configs may have it.
    """

    gives_shots = False
    exclude_self = False

    def __init__(self, ice_eos_token: str = "", ice_separator: str = "") -> None:
        self.ice_eos_token = ice_eos_token
        self.ice_separator = ice_separator

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:  # noqa: ARG002
        """Nothing, for every row."""
        return [()] * len(test)

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Nothing, for every row."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:  # noqa: ARG002
        """Nothing."""
        return ()
