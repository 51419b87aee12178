"""Text to tokens and back, for a model that is given text and continues it. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ModelError
from ais_prompt.models.huggingface.files import local_folder
from ais_prompt.models.huggingface.library import loading

CONTEXT_TOKENS: Final = 8
"""Tokens before a continuation that are decoded with it; see `continuation`."""


def load_tokenizer(path: str, options: Mapping[str, Any], *, trust_remote_code: bool) -> Any:
    """The tokenizer of a model, padding on the left, always with a pad token.

    Args:
        path: a folder, or else a hub id.
        options: further arguments of ``AutoTokenizer.from_pretrained``; they win over ours.
        trust_remote_code: may code that comes with the tokenizer be run?

    Raises:
        ModelError: it cannot be found or loaded, or it has no token to pad with.
    """
    folder = local_folder(path)
    arguments = {"trust_remote_code": trust_remote_code, "local_files_only": folder is not None, **options}
    with loading("tokenizer", path, local=folder is not None):
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(str(folder or path), **arguments)
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token is None:
        raise ModelError(
            "the tokenizer has no pad, eos or unk token, so prompts cannot be batched",
            where=path,
            fix="name one: tokenizer_kwargs=dict(pad_token='...')",
        )
    return tokenizer


def encode(tokenizer: Any, text: str, *, add_special_tokens: bool) -> list[int]:
    """Token ids of a prompt. A text that brings its own BOS is not given a second one."""
    brings_bos = bool(tokenizer.bos_token) and text.startswith(tokenizer.bos_token)
    # verbose=False: how long is too long is judged by the caller, in words of our own.
    ids: list[int] = tokenizer(text, add_special_tokens=add_special_tokens and not brings_bos, verbose=False)[
        "input_ids"
    ]
    return ids


def decode(tokenizer: Any, ids: Sequence[int]) -> str:
    """Text of tokens without the special ones, spaces exactly as the tokens say."""
    text: str = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text


def continuation(tokenizer: Any, prompt: Sequence[int], new: Sequence[int]) -> str:
    """Text that ``new`` tokens add to a ``prompt``, leading space included.

    Tokenizers in the manner of SentencePiece drop the space in front of the first token that they decode. So the
    end of the prompt is decoded along with the new tokens, and taken off again.
    """
    context = list(prompt[-CONTEXT_TOKENS:])
    before, whole = decode(tokenizer, context), decode(tokenizer, [*context, *new])
    # Bytes of one character on both sides of the border can change the text of the prompt's end.
    return whole[len(before) :] if whole.startswith(before) else decode(tokenizer, new)
