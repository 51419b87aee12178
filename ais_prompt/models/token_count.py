"""Counting the tokens of a prompt that a server will tokenize itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.models.hf_tokenizer import encode


def count_prompt_tokens(tokenizer: Any, prompt: str | Sequence[dict[str, Any]]) -> int | None:
    """Tokens of a text or of messages in OpenAI form, special tokens included.

    Returns:
        None for messages with images and the like, and where the tokenizer has no chat template: what the server puts
        around the messages is not known then.

    Raises:
        PromptError: the chat template refuses the messages.
    """
    if isinstance(prompt, str):
        return len(encode(tokenizer, prompt, add_special_tokens=True))
    if not tokenizer.chat_template or not all(isinstance(message["content"], str) for message in prompt):
        return None
    try:
        ids = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=True, return_dict=False)
    except Exception as error:  # Jinja templates raise whatever they like
        raise PromptError(f"the tokenizer's chat template refuses the messages: {error}") from error
    return len(ids)
