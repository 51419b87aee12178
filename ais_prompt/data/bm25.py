"""Choose the in-context examples that share rare words with the question: Okapi BM25."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from math import log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ais_prompt.data.retriever import (
    RetrievalText,
    RowLists,
    ShotIds,
    ShowsExamples,
    check_count,
    check_enough,
    own_rows,
    take,
)
from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.terminal import tracked
from ais_prompt.types import Sample
from ais_prompt.utils import require, require_installed

K1: Final = 1.5
"""How much further occurrences of a word add: the higher, the later they stop to count."""
B: Final = 0.75
"""How far long documents are held against short ones: 0 not at all, 1 in proportion to their length."""
EPSILON: Final = 0.25
"""Floor of the inverse document frequency, as a share of the mean over all words."""


@RETRIEVERS.register_module()
class BM25Retriever(ShowsExamples):
    """Choose the train rows with the highest BM25 score for the question, best first.

    As in OpenCompass: Okapi BM25 with the constants of ``rank_bm25``, over the words of nltk's tokenizer with their
    case kept. Of rows with equal scores the later comes first. A train split with fewer rows than ``ice_num`` is shown
    whole. Words are separated by blanks, so use `TopkRetriever` with a `CharacterNgramEncoder` for Chinese.

    Args:
        ice_num: examples for each question.
        ice_separator, ice_eos_token: between and after examples that are text.
        exclude_self: never show a test row among its own examples, where the two splits share rows.
        input_columns: the columns that are compared, joined by blanks; those of ``reader_cfg`` if left out.
        input_template: a text with ``{column}`` that is compared instead; that of ``reader_cfg`` if left out.

    Raises:
        ConfigError: ``ice_num`` is negative.
        MissingExtra: ``nltk`` is not installed.
    """

    def __init__(
        self,
        ice_num: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        exclude_self: bool = False,
        input_columns: Sequence[str] | str = (),
        input_template: str | None = None,
    ) -> None:
        super().__init__(ice_separator, ice_eos_token, exclude_self)
        require_installed("nltk", extra="retrievers", why="BM25Retriever")
        self.ice_num = check_count(ice_num, "ice_num")
        self.text = RetrievalText(input_columns, input_template)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the best rows of every test row.

        Raises:
            ConfigError: no row of the train split has a word.
        """
        words = word_tokenizer()
        index = Bm25Index([words(text) for text in tracked(self.text.of(train), "splitting train rows into words")])
        own = own_rows(train, test, exclude_self=self.exclude_self)
        questions = tracked(self.text.of(test), "ranking train rows by BM25", unit="questions")
        orders = (np.argsort(index.scores(words(text)), kind="stable")[::-1] for text in questions)
        return RowLists(take(order, self.ice_num, rows) for order, rows in zip(orders, own, strict=True))

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return all rows, because finding the best takes long."""
        return [range(len(train))] * len(test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the first train rows, without comparing anything."""
        check_enough(min(self.ice_num, 1), len(train), "ice_num")
        self.text.of([*train[:1], *test[:1]])
        return tuple(range(min(self.ice_num, len(train))))


class Bm25Index:
    """Score documents by Okapi BM25, over an inverted index: a word only touches the documents that have it.

    The score of a document D for a query Q is the sum over the words q of Q (a repeated word counts again) of

        idf(q) · f(q, D) · (k1 + 1) / (f(q, D) + k1 · (1 − b + b · |D| / mean |D|))

    with f(q, D) the occurrences of q in D, |D| the words of D, k1 = 1.5 and b = 0.75. For a word in n of N documents,
    idf = ln(N − n + 0.5) − ln(n + 0.5). It is negative for words in more than half of the documents; those get 0.25
    times the mean idf of all words instead, as in the package ``rank_bm25``, whose scores these are to the last bit.
    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, section 3.4.

    Args:
        documents: the words of each document.

    Raises:
        ConfigError: no document has a word.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        if not any(documents):
            raise ConfigError(
                "BM25Retriever found no words in the train split",
                fix="check train_split, train_range and input_columns of reader_cfg",
            )
        numbers: dict[str, int] = {}
        words = np.array([numbers.setdefault(word, len(numbers)) for document in documents for word in document])
        lengths = np.array([len(document) for document in documents])
        rows = np.repeat(np.arange(len(documents)), lengths)
        pairs, counts = np.unique(words * len(documents) + rows, return_counts=True)  # sorted by word, then by row
        words, self._rows = np.divmod(pairs, len(documents))
        damping = K1 * (1 - B + B * lengths / lengths.mean())
        found_in = np.bincount(words)
        idf = _inverse_document_frequencies(found_in, len(documents))
        self._weights = idf[words] * (counts * (K1 + 1) / (counts + damping[self._rows]))
        ends = np.cumsum(found_in).tolist()
        self._postings = dict(zip(numbers, map(slice, [0, *ends], ends), strict=True))
        self._documents = len(documents)

    def scores(self, query: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the score of every document, shape (documents,)."""
        scores = np.zeros(self._documents)
        for word in query:
            if postings := self._postings.get(word):
                scores[self._rows[postings]] += self._weights[postings]
        return scores


def _inverse_document_frequencies(found_in: npt.NDArray[np.intp], documents: int) -> npt.NDArray[np.float64]:
    """Return the idf of each word, with the floor. ``found_in`` counts the documents that have it."""
    # math.log and a sum from left to right: numpy's own logarithm and pairwise sum differ in the last bit.
    idf = np.array([log(documents - n + 0.5) - log(n + 0.5) for n in found_in.tolist()])
    idf[idf < 0] = EPSILON * (np.cumsum(idf)[-1] / len(idf))
    return idf


def word_tokenizer() -> Callable[[str], list[str]]:
    """Return a function that splits a text into words and punctuation marks, by the rules of the Penn Treebank.

    nltk's ``word_tokenize`` first splits the text into sentences with a model that must be downloaded, only to find the
    full stops that end one. Here each piece between blanks is split by itself: that needs no download, and differs only
    after abbreviations (``Mr.`` becomes two words).

    Raises:
        MissingExtra: ``nltk`` is not installed.
    """
    rules: Any = require("nltk.tokenize.destructive", extra="retrievers", why="BM25Retriever").NLTKWordTokenizer()
    cut = lru_cache(maxsize=None)(rules.tokenize)
    return lambda text: [word for piece in text.split() for word in cut(piece)]
