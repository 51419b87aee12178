"""The tokens of a prompt, their number without a tokenizer, and whether that is too long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.models.tokens.tokenizer import encode
from ais_prompt.types import Content, Failure, Prompt

_WORD_OR_HAN: Final = re.compile(r"[A-Za-z0-9]+|[\u4e00-\u9fff]")


def prompt_token_ids(tokenizer: Any, prompt: str | Sequence[dict[str, Any]]) -> list[int] | None:
    """Ids of the tokens of a text or of messages in OpenAI form, special tokens included.

    Returns:
        None for messages with images and the like, and where the tokenizer has no chat template: what the server puts
        around the messages is not known then.

    Raises:
        PromptError: the chat template refuses the messages.
    """
    if isinstance(prompt, str):
        return encode(tokenizer, prompt, add_special_tokens=True)
    if not tokenizer.chat_template or not all(isinstance(message["content"], str) for message in prompt):
        return None
    try:
        ids: list[int] = tokenizer.apply_chat_template(
            prompt, add_generation_prompt=True, tokenize=True, return_dict=False
        )
    except Exception as error:  # Jinja templates raise whatever they like
        raise PromptError(f"the tokenizer's chat template refuses the messages: {error}") from error
    return ids


def estimate_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has: a word of Latin letters and digits is one, so is a Chinese character.

    Nothing else counts. This is how OpenCompass estimates the prompts of models behind an API (`get_token_len`); the
    texts of messages are joined without a separator.
    """
    text = prompt if isinstance(prompt, str) else "".join(_text(message.content) for message in prompt)
    return len(_WORD_OR_HAN.findall(text))


def refuse_too_long(tokens: int, limit: int | None) -> Failure | None:
    """Why a prompt is not sent; None if it fits. Others cut it silently."""
    if limit is None or tokens <= limit:
        return None
    return Failure("too_long", f"the prompt has {tokens} tokens, more than max_seq_len={limit}")


def _text(content: Content) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content if "text" in part)
