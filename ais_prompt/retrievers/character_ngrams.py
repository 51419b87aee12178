"""An encoder without any weights: texts are near when they share runs of characters."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from ais_prompt.errors import ConfigError
from ais_prompt.registry import ENCODERS
from ais_prompt.retrievers.encoder import Embeddings
from ais_prompt.utils.progress import tracked


@ENCODERS.register_module()
class CharacterNgramEncoder:
    """Counts the runs of ``n`` characters in a text, hashed into a vector of fixed length (the hashing trick).

    It knows spelling and nothing of meaning, but needs no model, no download and no blanks between words, so it serves
    offline, and for languages that `BM25Retriever` cannot cut into words. Vectors have the length 1; texts without any
    character give zeros. Source: Weinberger et al., Feature Hashing for Large Scale Multitask Learning, 2009.

    Args:
        n: characters in a run; shorter texts are one run.
        dimensions: numbers in a vector; the more, the fewer runs share a place.

    Raises:
        ConfigError: ``n`` or ``dimensions`` is less than 1.
    """

    def __init__(self, n: int = 3, dimensions: int = 1024) -> None:
        for name, value in (("n", n), ("dimensions", dimensions)):
            if value < 1:
                raise ConfigError(f"{name} of CharacterNgramEncoder must be at least 1, not {value}")
        self.n = n
        self.dimensions = dimensions

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """Unit vectors, shape (texts, dimensions); the same on every machine."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for vector, text in zip(vectors, tracked(texts, "embedding texts", unit="texts"), strict=True):
            np.add.at(vector, [self._place(run) for run in self._runs(text.lower())], 1)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors

    def _runs(self, text: str) -> list[str]:
        return [text[start : start + self.n] for start in range(max(len(text) - self.n, 0) + 1)] if text else []

    def _place(self, run: str) -> int:
        # Not hash(): Python's own differs from run to run. Lone surrogates can stand in real data.
        return crc32(run.encode("utf-8", "surrogatepass")) % self.dimensions
