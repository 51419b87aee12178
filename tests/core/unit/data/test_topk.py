"""TopkRetriever: the nearest embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import Embeddings, TopkRetriever
from ais_prompt.errors import ConfigError, PartError
from tests.core.unit.data.rows import samples

VECTORS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=300)


class Given:
    """An encoder whose vectors are written in the texts."""

    def encode(self, texts: Sequence[str]) -> Embeddings:
        return np.array([[float(number) for number in text.split()] for text in texts], dtype=np.float32)


def rows(vectors: Sequence[Sequence[float]]) -> Any:
    return samples(" ".join(map(str, vector)) for vector in vectors)


def test_long_vectors_win_and_of_equal_ones_the_order_is_faiss_s() -> None:
    train = rows([(1, 0, 0), (0, 2, 0), (1, 1, 0), (0, 0, 3), (-1, 0, 0.5)])
    test = rows([(1, 1, 0), (0, 0.5, 1)])
    retriever = TopkRetriever(Given(), ice_num=3, input_columns=["q"])
    assert retriever.retrieve(train, test) == [(2, 1, 0), (3, 1, 2)]


@given(train=VECTORS, test=VECTORS, count=st.integers(0, 4))
def test_no_row_that_is_not_shown_is_nearer(train: list[Any], test: list[Any], count: int) -> None:
    count = min(count, len(train))
    chosen = TopkRetriever(Given(), count, input_columns=["q"]).retrieve(rows(train), rows(test))
    assert len(chosen) == len(test)
    for vector, shots in zip(test, chosen, strict=True):
        products = [float(np.dot(vector, other)) for other in train]
        assert [products[shot] for shot in shots] == sorted(products, reverse=True)[:count]
        assert len(set(shots)) == count


def test_more_than_there_are_is_refused() -> None:
    train = rows([(1, 1), (2, 2)])
    retriever = TopkRetriever(Given(), ice_num=2, input_columns=["q"], exclude_self=True)
    assert retriever.trial(train, train) == (0, 1)
    with pytest.raises(ConfigError, match="2 rows, 1 of them equal to a test row"):
        retriever.retrieve(train, train)
    with pytest.raises(ConfigError, match="ice_num asks for 3 examples"):
        TopkRetriever(Given(), ice_num=3, input_columns=["q"]).trial(train, train)


def test_an_encoder_may_be_a_config() -> None:
    encoder = {"type": "CharacterNgramEncoder", "n": 2}
    retriever = TopkRetriever(encoder, ice_num=1, input_columns=["q"])
    train = samples(["北京是首都", "上海是港口", "Paris is a capital"])
    assert retriever.retrieve(train, samples(["上海在哪", "Parisian"])) == [(1,), (2,)]
    assert encoder == {"type": "CharacterNgramEncoder", "n": 2}


@pytest.mark.parametrize(
    ("encoder", "what"),
    [
        ("CharacterNgramEncoder", "'CharacterNgramEncoder' is not an encoder"),
        ({"n": 2}, "is not an encoder"),
        ({"type": "CharacterNgramEncodr"}, "there is no encoder named 'CharacterNgramEncodr'"),
        ({"type": "CharacterNgramEncoder", "m": 2}, "CharacterNgramEncoder cannot be made"),
    ],
)
def test_what_is_no_encoder_is_refused(encoder: Any, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        TopkRetriever(encoder)


@pytest.mark.parametrize("vectors", [[1.0, 2.0], [[1.0], [float("nan")]], [[1.0]]])
def test_an_encoder_that_gives_something_else_than_vectors_is_refused(vectors: Any) -> None:
    class Broken:
        def encode(self, texts: Sequence[str]) -> Any:
            return vectors

    two = samples("ab")
    with pytest.raises(PartError, match="Broken must give one vector of finite numbers for each of 2 texts"):
        TopkRetriever(Broken(), input_columns=["q"]).retrieve(two, two)


def test_the_trial_embeds_nothing() -> None:
    class Heavy:
        def encode(self, texts: Sequence[str]) -> Embeddings:
            raise AssertionError

    assert TopkRetriever(Heavy(), 2, input_columns=["q"]).trial(samples("abc"), samples("x")) == (0, 1)
