"""Embed texts by their character n-grams, without a model."""

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
    """Count the character n-grams of a text, hashed into a vector of fixed length (the hashing trick).

    It compares spelling, not meaning. It needs no model, no download and no blanks between words, so it works offline
    and for languages that `BM25Retriever` cannot split into words. Vectors have length 1; those of empty texts are 0.
    Source: Weinberger et al., Feature Hashing for Large Scale Multitask Learning, 2009.

    Args:
        n: characters of an n-gram; a shorter text is one n-gram.
        dimensions: length of a vector; the longer, the fewer n-grams share a dimension.

    Raises:
        ConfigError: ``n`` or ``dimensions`` is less than 1.
    """

    def __init__(self, n: int = 3, dimensions: int = 1024) -> None:
        for name, value in (("n", n), ("dimensions", dimensions)):
            if value < 1:
                what = f"{name} of CharacterNgramEncoder must be at least 1, not {value}"
                raise ConfigError(what, fix=f"leave {name} out for the default")
        self.n = n
        self.dimensions = dimensions

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """Return unit vectors, shape (texts, dimensions); the same on every machine."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for vector, text in zip(vectors, tracked(texts, "embedding texts", unit="texts"), strict=True):
            np.add.at(vector, [self._dimension(ngram) for ngram in self._ngrams(text.lower())], 1)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors

    def _ngrams(self, text: str) -> list[str]:
        return [text[start : start + self.n] for start in range(max(len(text) - self.n, 0) + 1)] if text else []

    def _dimension(self, ngram: str) -> int:
        # Not hash(), which differs between processes. Real data can contain lone surrogates.
        return crc32(ngram.encode("utf-8", "surrogatepass")) % self.dimensions
