"""Choose the in-context examples whose embeddings are nearest to the question's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ais_prompt.data.encoders import Embeddings, Encoder, make_encoder
from ais_prompt.data.retriever import (
    OwnRows,
    RetrievalText,
    RowLists,
    ShotIds,
    ShowsExamples,
    check_count,
    check_enough,
    own_rows,
    take,
)
from ais_prompt.errors import PartError
from ais_prompt.parts import defined_at, part_class
from ais_prompt.registry import RETRIEVERS
from ais_prompt.terminal import tracked
from ais_prompt.types import Sample

_ROWS_AT_ONCE = 256
"""Test rows whose inner products are in memory together."""


@RETRIEVERS.register_module()
class TopkRetriever(ShowsExamples):
    """Choose the train rows with the greatest inner product of embeddings, best first.

    As in OpenCompass, embeddings are not normalized here: with an encoder that normalizes, the inner product is the
    cosine; with another one, long vectors win. Of rows with equal products the first ones are chosen, and the later of
    those is shown first. This is the order of the library ``faiss``, which OpenCompass uses.

    Args:
        encoder: turns texts into vectors: ``dict(type='HuggingFaceEncoder', path=...)``, or an object.
        ice_num: examples for each question.
        ice_separator, ice_eos_token: text between and after examples that are text.
        exclude_self: never show a test row among its own examples, where the two splits share rows.
        input_columns: the columns that are compared, joined by blanks; those of ``reader_cfg`` if left out.
        input_template: a text with ``{column}`` that is compared instead; that of ``reader_cfg`` if left out.

    Raises:
        ConfigError: ``ice_num`` is negative, or there is no such encoder.
    """

    def __init__(
        self,
        encoder: Encoder | Mapping[str, Any],
        ice_num: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        exclude_self: bool = False,
        input_columns: Sequence[str] | str = (),
        input_template: str | None = None,
    ) -> None:
        super().__init__(ice_separator, ice_eos_token, exclude_self)
        self.encoder = make_encoder(encoder)
        self.ice_num = check_count(ice_num, "ice_num")
        self.text = RetrievalText(input_columns, input_template)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the nearest rows of every test row.

        Raises:
            ConfigError: the train split has fewer rows than ``ice_num``.
            PartError: the encoder did not return one vector of finite numbers for each text.
            ModelError: the encoder cannot be loaded.
        """
        own = own_rows(train, test, exclude_self=self.exclude_self)
        check_enough(self.ice_num, len(train), "ice_num", own)
        if not (self.ice_num and test):
            return [()] * len(test)
        scores = _inner_products(self._embed(train), self._embed(test))
        questions = tracked(zip(scores, own, strict=True), "ranking train rows by embeddings", len(test), "questions")
        return RowLists(self._best(row_scores, rows) for row_scores, rows in questions)

    def _best(self, scores: npt.NDArray[np.float32], own: OwnRows) -> ShotIds:
        chosen = take(np.argsort(-scores, kind="stable"), self.ice_num, own)
        return tuple(sorted(chosen, key=lambda row: (scores[row], row), reverse=True))

    def _embed(self, samples: Sequence[Sample]) -> Embeddings:
        found = self.encoder.encode(self.text.of(samples))
        try:
            vectors = np.asarray(found, dtype=np.float32)
        except (TypeError, ValueError):  # lists of different lengths, or no numbers
            vectors = np.empty(0, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(samples) or not np.isfinite(vectors).all():
            raise PartError(
                f"{part_class(self.encoder).__name__} must give one vector of finite numbers for each of "
                f"{len(samples)} texts, not an array of shape {vectors.shape}",
                where=defined_at(self.encoder, "encode"),
                fix="use another encoder, or keep the model in float32",
            )
        return vectors

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return all rows, because finding the nearest takes long."""
        return [range(len(train))] * len(test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the first train rows, without embedding anything."""
        self.text.of([*train[:1], *test[:1]])
        check_enough(self.ice_num, len(train), "ice_num")
        return tuple(range(self.ice_num))


def _inner_products(train: Embeddings, test: Embeddings) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the inner products of each test vector with the train vectors, shape (train rows,)."""
    for start in range(0, len(test), _ROWS_AT_ONCE):
        yield from test[start : start + _ROWS_AT_ONCE] @ train.T
