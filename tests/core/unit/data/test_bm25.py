"""BM25Retriever and Bm25Index: the scores and ranks of rank_bm25."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import Bm25Index, BM25Retriever, word_tokenizer
from ais_prompt.errors import ConfigError
from ais_prompt.types import Sample
from tests.core.unit.data.rows import samples

TRAIN = samples(
    ["the cat sat on the mat", "a dog chased the cat", "stock prices fell sharply", "the market opened higher", "Cat"]
)
WORDS = st.lists(st.sampled_from("abcdefg"), max_size=8)


GOLDEN = json.loads((Path(__file__).parent / "bm25_golden.json").read_text("utf-8"))
"""Texts and queries with the scores that rank_bm25 0.2.2 gives, and the ranks by them, equal ones from the last."""


@pytest.mark.thorough
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["title"])
def test_scores_and_ranks_of_rank_bm25_that_are_committed(case: Mapping[str, Any]) -> None:
    index = Bm25Index([text.split() for text in case["documents"]])
    train = samples(case["documents"])
    retriever = BM25Retriever(ice_num=len(train), input_columns="q")
    for expected in case["queries"]:
        assert index.scores(expected["query"].split()) == pytest.approx(expected["scores"], rel=1e-12)
        assert retriever.retrieve(train, samples([expected["query"]])) == [tuple(expected["ranks"])]


@given(documents=st.lists(WORDS, min_size=1, max_size=12).filter(any), query=WORDS)
def test_the_scores_are_those_of_rank_bm25_to_the_last_bit(documents: list[list[str]], query: list[str]) -> None:
    rank_bm25 = pytest.importorskip("rank_bm25", reason="only the extra [dev] installs it")
    assert np.array_equal(Bm25Index(documents).scores(query), rank_bm25.BM25Okapi(documents).get_scores(query))


@pytest.mark.thorough
def test_the_best_come_first_and_of_equal_ones_the_later() -> None:
    retriever = BM25Retriever(ice_num=3, input_columns="q")
    questions = samples(["where did the cat sit", "market prices today", "nothing of it"])
    assert retriever.retrieve(TRAIN, questions) == [(0, 1, 3), (3, 2, 4), (4, 3, 2)]


def test_case_is_kept() -> None:
    retriever = BM25Retriever(input_columns=["q"])
    assert retriever.retrieve(TRAIN, samples(["Cat", "cat"])) == [(4,), (1,)]


def test_a_small_train_split_is_shown_whole() -> None:
    shots = BM25Retriever(ice_num=9, input_columns=["q"]).retrieve(TRAIN, samples(["dog"]))
    assert sorted(shots[0]) == [0, 1, 2, 3, 4]
    assert shots[0][0] == 1


def test_itself_is_left_out_with_all_its_copies() -> None:
    train = samples(["red dog", "red dog", "red cat", "white bird", "blue fish", "grey mouse", "black cow"])
    plain, excluding = (BM25Retriever(2, exclude_self=on, input_columns=["q"]) for on in (False, True))
    assert set(plain.retrieve(train, train[:1])[0]) == {0, 1}
    assert excluding.retrieve(train, train[:1]) == [(2, 6)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He didn't run (fast), e.g. 3.5 km.", ["He", "did", "n't", "run", "(", "fast", ")", ",", "e.g", "."]),
        ("One. Two! 30$?", ["One", ".", "Two", "!", "30", "$", "?"]),
        ("北京 是\u3000首都", ["北京", "是", "首都"]),
        (" \n\t", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert word_tokenizer()(text)[: len(words)] == words
    assert words or not word_tokenizer()(text)


def test_several_columns_and_other_values_than_text() -> None:
    train = [Sample(str(row), row, {"a": a, "b": b}) for row, (a, b) in enumerate([("x", 1), ("x", 2), ("y", 2)])]
    question = [Sample("t", 0, {"a": "y", "b": 2})]
    assert BM25Retriever(3, input_columns=["a", "b"]).retrieve(train, question)[0][0] == 2
    assert BM25Retriever(1, input_template="{b}").retrieve(train, [Sample("t", 0, {"a": "", "b": 1})]) == [(0,)]


@pytest.mark.parametrize("train", [[], samples(["", " "])])
def test_a_train_split_without_words_is_refused(train: list[Sample]) -> None:
    with pytest.raises(ConfigError, match="found no words in the train split"):
        BM25Retriever(input_columns=["q"]).retrieve(train, TRAIN)


def test_the_trial_sees_what_is_wrong_and_compares_nothing() -> None:
    assert BM25Retriever(2, input_columns=["q"]).trial(TRAIN, TRAIN) == (0, 1)
    assert BM25Retriever(9, input_columns=["q"]).trial(TRAIN, TRAIN) == (0, 1, 2, 3, 4)
    with pytest.raises(ConfigError, match="the column 'question'"):
        BM25Retriever(input_columns=["question"]).trial(TRAIN, TRAIN)
    with pytest.raises(ConfigError, match="train split has 0 rows"):
        BM25Retriever(input_columns=["q"]).trial([], TRAIN)
