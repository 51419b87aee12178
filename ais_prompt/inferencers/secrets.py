"""Redact secrets in answers, such as an API key that a server repeats."""

from __future__ import annotations

from msgspec.structs import replace

from ais_prompt.types import Completion
from ais_prompt.utils.secrets import SECRETS


def without_secrets(completion: Completion) -> Completion:
    """Return the completion with ``***`` in place of secrets, and their number in ``redacted``.

    The redacted text is recorded, scored and sent in the next turn, so that a resumed run sends the same requests.
    """
    text, in_text = SECRETS.hide_and_count(completion.text)
    reasoning, in_reasoning = SECRETS.hide_and_count(completion.reasoning)
    if failure := completion.failure:
        failure = replace(failure, message=SECRETS.hide_in_message(failure.message))
    if not (in_text or in_reasoning or failure):
        return completion
    redacted = in_text + in_reasoning
    return replace(completion, text=text, reasoning=reasoning, failure=failure, redacted=redacted)
