"""Show no in-context examples."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import ShotIds
from ais_prompt.types import Sample


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
