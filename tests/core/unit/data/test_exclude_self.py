"""``exclude_self``: a question is never shown with its own answer, whichever retriever chooses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import (
    BM25Retriever,
    CharacterNgramEncoder,
    FixKRetriever,
    RandomRetriever,
    Retriever,
    SlidingWindowRetriever,
    TopkRetriever,
    own_rows,
)
from ais_prompt.types import Sample
from tests.core.unit.data.rows import samples


def retrievers(exclude_self: bool) -> list[Retriever]:
    own: dict[str, Any] = {"exclude_self": exclude_self}
    return [
        FixKRetriever([0, 1, 0], **own),
        RandomRetriever(2, **own),
        SlidingWindowRetriever(2, **own),
        BM25Retriever(2, input_columns=["q"], **own),
        TopkRetriever(CharacterNgramEncoder(), 2, input_columns=["q"], **own),
    ]


@given(words=st.lists(st.sampled_from(["red", "blue", "green", "red blue"]), max_size=6), data=st.data())
def test_no_row_is_shown_to_itself_or_to_its_copies(words: list[str], data: st.DataObject) -> None:
    train = samples([*words, "white", "black", "grey"])
    test = samples(data.draw(st.permutations([sample.fields["q"] for sample in train])))
    for retriever in retrievers(exclude_self=True):
        for question, shots in zip(test, retriever.retrieve(train, test), strict=True):
            assert question.fields["q"] not in [train[row].fields["q"] for row in shots]


def test_without_the_option_a_shared_row_is_its_own_best_example() -> None:
    train = samples(["one dog", "two cats", "three birds"])
    best = [retriever.retrieve(train, train)[1][0] for retriever in retrievers(exclude_self=False)[-2:]]
    assert best == [1, 1]


def test_splits_that_share_nothing_are_not_changed() -> None:
    train, test = samples(["one dog", "two cats", "three birds"]), samples(["a dog", "a cat"])
    for plain, excluding in zip(retrievers(exclude_self=False), retrievers(exclude_self=True), strict=True):
        assert plain.retrieve(train, test) == excluding.retrieve(train, test)


@pytest.mark.parametrize(
    ("train", "test", "own"),
    [
        ({"q": ["a"], "n": 1}, {"n": 1, "q": ["a"]}, (0,)),
        ({"q": 1}, {"q": "1"}, ()),
        ({"q": "a"}, {"q": "a", "n": None}, ()),
    ],
)
def test_a_row_is_itself_if_all_its_columns_are(train: Any, test: Any, own: tuple[int, ...]) -> None:
    assert own_rows([Sample("x", 0, train)], [Sample("y", 0, test)], exclude_self=True) == [own]
