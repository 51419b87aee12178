"""Count the tokens of a prompt as it is sent, and how many tokens a piece of it adds."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.extensions.benchmarks.ruler.grammar import REFRAIN, Language
from ais_prompt.utils.hub import lookup

BYTES_PER_TOKEN: Final = 4
"""The rule without a tokenizer: four bytes of UTF-8 are a token, about right for English and for Chinese."""
_AT_ONCE: Final = 1024
"""Pieces that are tokenized together."""


class TokenCounter(Protocol):
    """Count tokens."""

    def count(self, prompt: str) -> int:
        """Return the tokens of a prompt as it is sent."""

    def costs(self, pieces: Sequence[str], joint: str, language: Language) -> NDArray[np.float64]:
        """Return how many tokens each piece adds behind another sentence and the text between them; shape (pieces,)."""


class EstimatedTokens:
    """Estimate tokens by `BYTES_PER_TOKEN`."""

    def count(self, prompt: str) -> int:
        """Return the estimate, rounded up."""
        return math.ceil(len(prompt.encode()) / BYTES_PER_TOKEN)

    def costs(self, pieces: Sequence[str], joint: str, language: Language) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the estimates of piece and joint, not rounded."""
        return np.array([len((joint + piece).encode()) / BYTES_PER_TOKEN for piece in pieces])


class TokenizerTokens:
    """Count the tokens of a Hugging Face tokenizer.

    Args:
        path: the folder of the tokenizer, or its hub id.
        chat_template: whether the prompt is sent as the message of a user, through the tokenizer's chat template; None
            if the tokenizer has one.

    Raises:
        ConfigError: the tokenizer cannot be loaded, or has no chat template where one is wanted.
    """

    def __init__(self, path: str, chat_template: bool | None = None) -> None:
        self._path = path
        self._tokenizer = _load(path)
        has_template = bool(getattr(self._tokenizer, "chat_template", None))
        if chat_template and not has_template:
            raise ConfigError(f"the tokenizer {path} has no chat template", fix="take chat_template=True out")
        self._applies_template = has_template if chat_template is None else chat_template

    def count(self, prompt: str) -> int:
        """Return the tokens of a prompt, special tokens and chat template included.

        Raises:
            PromptError: the chat template refuses the prompt.
        """
        if not self._applies_template:
            return self._lengths([prompt], special=True)[0]
        messages = [{"role": "user", "content": prompt}]
        try:
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # Jinja templates can raise anything
            what = f"the chat template of {self._path} refuses the prompt: {error}"
            raise PromptError(what, fix="name a tokenizer whose chat template takes a user's message") from error
        return self._lengths([text])[0]

    def costs(self, pieces: Sequence[str], joint: str, language: Language) -> NDArray[np.float64]:
        """Return the tokens that each piece adds."""
        before = REFRAIN[language][0]
        lengths: list[int] = []
        for start in range(0, len(pieces), _AT_ONCE):
            lengths += self._lengths([before + joint + piece for piece in pieces[start : start + _AT_ONCE]])
        return np.array(lengths, float) - self._lengths([before])[0]

    def _lengths(self, texts: list[str], *, special: bool = False) -> list[int]:
        if getattr(self._tokenizer, "is_fast", False):  # a third faster than through transformers
            encode = self._tokenizer.backend_tokenizer.encode_batch_fast
            return [len(one) for one in encode(texts, add_special_tokens=special)]
        return list(map(len, self._tokenizer(texts, add_special_tokens=special, verbose=False)["input_ids"]))


def _load(path: str) -> Any:
    folder = Path(path).expanduser()
    # Without torch, which tokenizers do not need, the import itself warns that models are not available.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        from transformers import AutoTokenizer

        if folder.is_dir():
            return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        with lookup(path):
            return AutoTokenizer.from_pretrained(path)
    except Exception as error:  # the library and its Rust parts raise nearly every exception there is
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        fix = "give the folder of a tokenizer, such as that of the model, or take tokenizer out for an estimate"
        raise ConfigError(f"the tokenizer {path!r} cannot be loaded: {why}", where="tokenizer", fix=fix) from error
