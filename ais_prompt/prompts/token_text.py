"""Convert token ids in meta templates to text.

A prompt is a text until the model's tokenizer encodes it. So an id is converted to the text that the tokenizer encodes
as exactly that id. Special tokens such as ``<|im_end|>`` have such a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ais_prompt.config.parse.meta_template import is_token_id
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.prompt_list import Turn


def text_of_tokens(value: Any, tokenizer: Callable[[], Any], where: str) -> str:
    """Return ``begin`` or ``end`` of a meta template as text.

    Args:
        value: a text, a token id, or a list of both, whose texts are joined.
        tokenizer: returns the model's tokenizer, or None; called only for ids.
        where: config path.

    Raises:
        ConfigError: the value has another type, there is no tokenizer, or a token has no text of its own.
    """
    pieces = list(value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(piece, str) or is_token_id(piece) for piece in pieces):
        raise ConfigError(
            f"begin and end must be a text, a token id, or a list of them, not {value!r:.80}",
            where=where,
            fix="e.g. begin='<s>' or begin=[1]",
        )
    ids = [piece for piece in pieces if not isinstance(piece, str)]
    known = tokenizer() if ids else None
    if ids and known is None:
        raise ConfigError(
            f"the token ids {ids} need the tokenizer of the model, which is not available",
            where=where,
            fix="give the model a tokenizer_path, or write the text of the tokens",
        )
    return "".join(piece if isinstance(piece, str) else _token_text(piece, known, where) for piece in pieces)


def text_of_turn(turn: Turn, key: str) -> str:
    """Return ``begin`` or ``end`` of a dataset's turn as text: a text or a list of texts.

    Raises:
        PromptError: it has another type. A dataset is for all models, so it cannot contain token ids of one.
    """
    pieces = turn[key] if isinstance(turn[key], list | tuple) else [turn[key]]
    if not all(isinstance(piece, str) for piece in pieces):
        what = f"{key!r} of a turn must be a text or a list of texts, not {turn[key]!r:.80}"
        raise PromptError(what, fix="token ids belong in the meta_template of their model")
    return "".join(pieces)


def _token_text(token: int, tokenizer: Any, where: str) -> str:
    """Return the text that the tokenizer encodes as exactly this token.

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
    found = f"its text {text!r} is encoded as {read}" if text else "the tokenizer does not have it"
    raise ConfigError(
        f"the token {token} cannot be written as text: {found}",
        where=where,
        fix="write the text that the model was trained with",
    )
