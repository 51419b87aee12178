"""Rows for which a network computes NaN: their answers mean nothing, and nobody would see it."""

from __future__ import annotations

from typing import Any, Final

from ais_prompt.types import Failure

NOT_A_NUMBER: Final = Failure("not_a_number", "the model computed NaN instead of the next token's probabilities")


class NotANumber:
    """Logits processor for ``generate`` that changes nothing and remembers the rows that held NaN."""

    def __init__(self) -> None:
        self._seen: Any = None

    def __call__(self, _input_ids: Any, scores: Any) -> Any:
        """Look at the scores of the next token, shape (rows, vocabulary)."""
        found = scores.amax(-1).isnan()
        self._seen = found if self._seen is None else self._seen | found
        return scores

    def rows(self) -> set[int]:
        """The numbers of these rows."""
        return set() if self._seen is None else set(self._seen.nonzero()[:, 0].tolist())
