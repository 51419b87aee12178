"""Retrievers that compare the texts of train rows with that of the question: BM25, and embeddings.

Encoders turn texts into vectors: by character n-grams without a model, or with a Hugging Face model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable
from zlib import crc32

import numpy as np
import numpy.typing as npt

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
from ais_prompt.errors import ConfigError, ModelError, PartError
from ais_prompt.parts import defined_at, part_class
from ais_prompt.registry import ENCODERS, RETRIEVERS
from ais_prompt.terminal import tracked, tracking
from ais_prompt.types import Sample
from ais_prompt.utils import lookup, require, require_installed

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
        # math.log and a sum from left to right: numpy's own logarithm and pairwise sum differ in the last bit.
        idf = np.array([log(len(documents) - n + 0.5) - log(n + 0.5) for n in found_in.tolist()])
        idf[idf < 0] = EPSILON * (np.cumsum(idf)[-1] / len(idf))
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
        vectors, asked = self._embed(train), self._embed(test)
        starts = range(0, len(test), _ROWS_AT_ONCE)
        scores = (row for start in starts for row in asked[start : start + _ROWS_AT_ONCE] @ vectors.T)
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


Embeddings: TypeAlias = npt.NDArray[np.float32]
"""One row for each text: shape (texts, dimensions)."""


@runtime_checkable
class Encoder(Protocol):
    """Turn texts into vectors. Making an encoder is cheap: the first call of `encode` loads weights."""

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """Return the embeddings of at least one text; each depends on its own text only.

        Raises:
            ModelError: the encoder cannot be loaded.
        """


def make_encoder(encoder: Encoder | Mapping[str, Any]) -> Encoder:
    """Return an encoder unchanged, or make the one that ``dict(type=..., **arguments)`` describes.

    Raises:
        ConfigError: it is neither of them, there is no encoder of that name, or it does not accept these arguments.
    """
    # str has a method `encode` too.
    if isinstance(encoder, Encoder) and not isinstance(encoder, str):
        return encoder
    if not isinstance(encoder, Mapping) or not isinstance(encoder.get("type"), str):
        raise ConfigError(f"{encoder!r} is not an encoder", fix="encoder=dict(type='HuggingFaceEncoder', path=...)")
    name, arguments = encoder["type"], {key: value for key, value in encoder.items() if key != "type"}
    made: Encoder = ENCODERS.make(name, arguments)
    return made


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
            lower = text.lower()
            starts = range(max(len(lower) - self.n, 0) + 1) if lower else ()
            # Not hash(), which differs between processes. Real data can contain lone surrogates.
            hashes = [crc32(lower[start : start + self.n].encode("utf-8", "surrogatepass")) for start in starts]
            np.add.at(vector, [number % self.dimensions for number in hashes], 1)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors


@ENCODERS.register_module()
class HuggingFaceEncoder:
    """Average a model's last hidden states over the tokens of a text.

    Most sentence encoders are trained for this (``all-mpnet-base-v2``; ``bge-m3`` and ``e5`` with ``normalize=True``).
    Source: Reimers and Gurevych, Sentence-BERT, 2019.

    Args:
        path: the model's folder, or else a hub id, which is downloaded.
        batch_size: texts in one batch.
        max_length: most tokens of a text; longer texts are truncated. The tokenizer may have a lower limit.
        normalize: scale every vector to length 1, so that the inner product is the cosine.
        device: ``cpu``, ``cuda``, ``cuda:1``, ...; None uses cuda if there is one.

    Raises:
        ConfigError: ``batch_size`` or ``max_length`` is less than 1.
        MissingExtra: torch is not installed.
        ModelError: ``path`` looks like a folder that does not exist.
    """

    def __init__(
        self,
        path: str,
        batch_size: int = 32,
        max_length: int = 512,
        normalize: bool = False,
        device: str | None = None,
    ) -> None:
        require_installed("torch", extra="local", why="HuggingFaceEncoder")
        if path.startswith((".", "/", "~")) and not Path(path).expanduser().is_dir():
            raise ModelError(f"the encoder's folder does not exist: {path}", fix="check the path, or give a hub id")
        if batch_size < 1 or max_length < 1:
            what = "batch_size and max_length of HuggingFaceEncoder must be at least 1"
            raise ConfigError(what, fix="leave them out for the defaults")
        self.path = path
        self.batch_size = batch_size
        self.max_length = max_length
        self.normalize = normalize
        self.device = device
        self._loaded: tuple[Any, Any] | None = None

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """Return float32 vectors, shape (texts, hidden size). The first call loads the model.

        Raises:
            ModelError: the model or its tokenizer cannot be loaded.
        """
        torch: Any = require("torch", extra="local", why="HuggingFaceEncoder")
        tokenizer, network = self._load(torch)
        # Batches of similar lengths, because a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        vectors = []
        with tracking("embedding texts", len(texts), "texts") as advance:
            for start in range(0, len(order), self.batch_size):
                # An empty text could have no tokens, which networks refuse.
                batch = [texts[row] or " " for row in order[start : start + self.batch_size]]
                vectors.append(self._mean_states(torch, tokenizer, network, batch))
                advance(len(batch))
        return np.concatenate(vectors)[np.argsort(order)]

    def _mean_states(self, torch: Any, tokenizer: Any, network: Any, texts: Sequence[str]) -> Embeddings:
        limit = min(self.max_length, tokenizer.model_max_length)
        tokens = tokenizer(list(texts), padding=True, truncation=True, max_length=limit, return_tensors="pt")
        tokens = tokens.to(network.device)
        with torch.inference_mode():
            states = network(**tokens).last_hidden_state.float()
        mask = tokens["attention_mask"].unsqueeze(-1)
        means = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        if self.normalize:
            means = torch.nn.functional.normalize(means, dim=1)
        vectors: Embeddings = means.cpu().numpy()
        return vectors

    def _load(self, torch: Any) -> tuple[Any, Any]:
        if self._loaded is None:
            from transformers import AutoModel, AutoTokenizer

            try:
                with lookup(self.path):
                    tokenizer = AutoTokenizer.from_pretrained(self.path)
                    network = AutoModel.from_pretrained(self.path).eval()
            except Exception as error:  # the library and its Rust parts can raise anything
                cause = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise ModelError(
                    f"cannot load the encoder {self.path}: {cause}",
                    fix="give a folder with a model and its tokenizer, or a hub id and a connection",
                ) from error
            tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
            tokenizer.padding_side = "right"
            network.to(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))
            self._loaded = tokenizer, network
        return self._loaded
