"""Answers that repeat a secret, such as a key that the server was sent."""

from __future__ import annotations

from msgspec.structs import replace

from ais_prompt.types import Completion
from ais_prompt.utils.secrets import SECRETS


def without_secrets(completion: Completion) -> Completion:
    """The completion with ``***`` in place of secrets, and their number in ``redacted``.

    It is what is recorded, scored and shown to the model in the next turn, so that a resumed run sees the same.
    """
    text, in_text = SECRETS.hide_and_count(completion.text)
    reasoning, in_reasoning = SECRETS.hide_and_count(completion.reasoning)
    if failure := completion.failure:
        failure = replace(failure, message=SECRETS.hide_in_message(failure.message))
    if not (in_text or in_reasoning or failure):
        return completion
    redacted = in_text + in_reasoning
    return replace(completion, text=text, reasoning=reasoning, failure=failure, redacted=redacted)
