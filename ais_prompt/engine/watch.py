"""What looks at predictions as they come, and says when enough was asked."""

from __future__ import annotations

from typing import Protocol

from ais_prompt.types import Prediction


class Watch(Protocol):
    """Looks at predictions as they come."""

    @property
    def decided(self) -> bool:
        """Whether enough was asked."""

    def see(self, prediction: Prediction) -> None:
        """One more prediction."""


class NeverEnough:
    """Asks every sample."""

    decided = False

    def see(self, prediction: Prediction) -> None:
        """Nothing comes of it."""
