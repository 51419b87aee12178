"""The in-context examples that share the most telling words with the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ais_prompt.errors import ConfigError
from ais_prompt.registry import RETRIEVERS
from ais_prompt.retrievers.base import ShotIds
from ais_prompt.retrievers.choice import check_count, check_enough, own_rows, take
from ais_prompt.retrievers.row_lists import RowLists
from ais_prompt.retrievers.texts import RetrievalText
from ais_prompt.types import Sample
from ais_prompt.utils.imports import require, require_installed


@RETRIEVERS.register_module()
class BM25Retriever:
    """Shows the train rows with the highest BM25 score for the question, best first.

    As in OpenCompass: Okapi BM25 with the constants of ``rank_bm25``, over the words of nltk's tokenizer with their
    case kept; of rows with equal scores the later comes first; a train split with fewer rows than ``ice_num`` is shown
    whole. Words are what stands between blanks, so for Chinese `TopkRetriever` with a `CharacterNgramEncoder` serves
    better.

    Args:
        ice_num: examples for each question.
        ice_separator, ice_eos_token: between and after examples that are text.
        exclude_self: never show a test row among its own examples, where the two splits share rows.
        input_columns, input_template: what is compared, see `RetrievalText`.

    Raises:
        ConfigError: ``ice_num`` is negative.
        MissingExtra: ``rank_bm25`` or ``nltk`` is not installed.
    """

    gives_shots = True

    def __init__(
        self,
        ice_num: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        exclude_self: bool = False,
        input_columns: Sequence[str] | str = (),
        input_template: str | None = None,
    ) -> None:
        for package in ("rank_bm25", "nltk"):
            require_installed(package, extra="retrievers", why="BM25Retriever")
        self.ice_num = check_count(ice_num, "ice_num")
        self.ice_separator = ice_separator
        self.ice_eos_token = ice_eos_token
        self.exclude_self = exclude_self
        self.text = RetrievalText(input_columns, input_template)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """The best rows for every test row.

        Raises:
            ConfigError: there is not one word to compare with in the train split.
        """
        words = word_tokenizer()
        index = Bm25Index([words(text) for text in self.text.of(train)])
        own = own_rows(train, test, exclude_self=self.exclude_self)
        orders = (np.argsort(index.scores(words(text)), kind="stable")[::-1] for text in self.text.of(test))
        return RowLists(take(order, self.ice_num, rows) for order, rows in zip(orders, own, strict=True))

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """All rows: to find the nearest takes its time."""
        return [range(len(train))] * len(test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """The first train rows; nothing is compared."""
        check_enough(min(self.ice_num, 1), len(train), "ice_num")
        self.text.of([*train[:1], *test[:1]])
        return tuple(range(min(self.ice_num, len(train))))


class Bm25Index:
    """Okapi BM25 over an inverted index: the scores of ``rank_bm25`` to the last bit, in a fraction of its time.

    ``rank_bm25`` walks through all documents for every word of a query; here a word only touches those that have it.
    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009; ``rank_bm25`` fits
    the statistics and floors negative inverse document frequencies in its own way.

    Args:
        documents: the words of each document.

    Raises:
        ConfigError: no document has a word.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        if not any(documents):
            raise ConfigError(
                "BM25Retriever finds not one word in the train split",
                fix="check train_split, train_range and input_columns of reader_cfg",
            )
        fitted: Any = require("rank_bm25", extra="retrievers", why="BM25Retriever").BM25Okapi(documents)
        self._rows = len(documents)
        lengths = np.array(fitted.doc_len)
        damping = fitted.k1 * (1 - fitted.b + fitted.b * lengths / fitted.avgdl)
        self._weights: dict[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]] = {}
        for word, postings in _invert(fitted.doc_freqs).items():
            rows, counts = np.array(postings).T
            weights = fitted.idf[word] * (counts * (fitted.k1 + 1) / (counts + damping[rows]))
            self._weights[word] = (rows, weights)

    def scores(self, query: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of every document, shape (documents,); a word that stands twice in the query counts twice."""
        scores = np.zeros(self._rows)
        for word in query:
            if word in self._weights:
                rows, weights = self._weights[word]
                scores[rows] += weights
        return scores


def _invert(counts: Sequence[dict[str, int]]) -> dict[str, list[tuple[int, int]]]:
    """Word → (row, how often it stands there) for every row that has it."""
    postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for row, words in enumerate(counts):
        for word, count in words.items():
            postings[word].append((row, count))
    return postings


def word_tokenizer() -> Callable[[str], list[str]]:
    """A function from a text to its words and punctuation marks, by the rules of the Penn Treebank.

    nltk's ``word_tokenize`` first cuts the text into sentences with a model that must be downloaded, only to tell the
    full stop that ends one. Here what stands between blanks is cut by itself: that needs no download, and differs only
    after abbreviations (``Mr.`` becomes two words).

    Raises:
        MissingExtra: ``nltk`` is not installed.
    """
    rules: Any = require("nltk.tokenize.destructive", extra="retrievers", why="BM25Retriever").NLTKWordTokenizer()
    cut = lru_cache(maxsize=None)(rules.tokenize)
    return lambda text: [word for piece in text.split() for word in cut(piece)]
