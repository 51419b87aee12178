"""Encoders turn texts into vectors: by character n-grams without a model, or with a Hugging Face model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.registry import ENCODERS
from ais_prompt.terminal import tracked, tracking
from ais_prompt.utils import lookup, require, require_installed

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
