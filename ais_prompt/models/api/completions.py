"""The wire format of OpenAI's older endpoint ``completions``: a text is continued. It shares all else with `chat`.

Source: the API reference of OpenAI, "Completions", as other servers follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.models.api.chat import OpenAIEndpoint
from ais_prompt.models.api.token_choices import completion_token_fields
from ais_prompt.models.api.wire import BadBody
from ais_prompt.types import Prompt


def _only_text(prompt: Prompt) -> str:
    if not isinstance(prompt, str):
        raise PromptError("OpenAICompletionModel takes text, not messages", fix="use OpenAIChatModel for messages")
    return prompt


def _plain_text(choice: Mapping[str, Any]) -> tuple[str, str]:
    if not isinstance(choice.get("text"), str):
        raise BadBody("the choice has no text")
    return choice["text"], ""


COMPLETIONS: Final = OpenAIEndpoint(
    "completions",
    "Completions (OpenAICompletionModel)",
    "prompt",
    _only_text,
    _plain_text,
    token_fields=completion_token_fields,
)
