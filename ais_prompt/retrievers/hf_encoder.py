"""Embed texts with a Hugging Face model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.registry import ENCODERS
from ais_prompt.retrievers.encoder import Embeddings
from ais_prompt.utils.imports import require, require_installed
from ais_prompt.utils.lookups import lookup
from ais_prompt.utils.progress import tracking


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
