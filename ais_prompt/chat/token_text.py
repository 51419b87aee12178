"""Token ids in meta templates, written as the text of their tokens.

A prompt is a text until the tokenizer of its model reads it. So an id becomes the text that this tokenizer reads as
exactly that id, which is what special tokens such as ``<|im_end|>`` have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.prompt_list import Turn


def is_token_id(value: Any) -> bool:
    """Whether a value can be the id of a token."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def text_of_tokens(value: Any, tokenizer: Callable[[], Any], where: str) -> str:
    """``begin`` or ``end`` of a meta template as text.

    Args:
        value: a text, a token id, or a list of both, whose texts are joined.
        tokenizer: gives the model's tokenizer, or None; called only for ids.
        where: the place in the config.

    Raises:
        ConfigError: it is something else, there is no tokenizer, or a token has no text of its own.
    """
    pieces = list(value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(piece, str) or is_token_id(piece) for piece in pieces):
        raise ConfigError(
            f"begin and end must be a text, a token id, or a list of them, not {value!r:.80}", where=where
        )
    ids = [piece for piece in pieces if not isinstance(piece, str)]
    known = tokenizer() if ids else None
    if ids and known is None:
        raise ConfigError(
            f"the token ids {ids} need the tokenizer of the model, which is not at hand",
            where=where,
            fix="give the model a tokenizer_path, or write the text of the tokens",
        )
    return "".join(piece if isinstance(piece, str) else _token_text(piece, known, where) for piece in pieces)


def text_of_turn(turn: Turn, key: str) -> str:
    """``begin`` or ``end`` of a dataset's turn: a text or a list of texts.

    Raises:
        PromptError: it is something else. A dataset serves all models, so it cannot hold the token ids of one.
    """
    pieces = turn[key] if isinstance(turn[key], list | tuple) else [turn[key]]
    if not all(isinstance(piece, str) for piece in pieces):
        what = f"{key!r} of a turn must be a text or a list of texts, not {turn[key]!r:.80}"
        raise PromptError(what, fix="token ids belong into the meta_template of their model")
    return "".join(pieces)


def _token_text(token: int, tokenizer: Any, where: str) -> str:
    """The text that the tokenizer reads as this token and no other.

    Raises:
        ConfigError: there is none.
    """
    try:
        text: str = tokenizer.decode([token], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        read = list(tokenizer(text, add_special_tokens=False)["input_ids"]) if text else []
    except (IndexError, KeyError, OverflowError, TypeError, ValueError):  # tokenizers differ in what they raise
        text, read = "", []
    if read == [token]:
        return text
    found = f"its text {text!r} is read as {read}" if text else "the tokenizer does not have it"
    raise ConfigError(
        f"the token {token} cannot be written as text: {found}",
        where=where,
        fix="write the text that the model was trained with",
    )
