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
    calls, in_calls = completion.tool_calls, 0
    if calls:
        hidden = [SECRETS.hide_and_count(call.arguments) for call in calls]
        calls = tuple(replace(call, arguments=text) for call, (text, _) in zip(calls, hidden, strict=True))
        in_calls = sum(count for _, count in hidden)
    if failure := completion.failure:
        failure = replace(failure, message=SECRETS.hide_in_message(failure.message))
    redacted = in_text + in_reasoning + in_calls
    if not (redacted or failure):
        return completion
    return replace(completion, text=text, reasoning=reasoning, failure=failure, redacted=redacted, tool_calls=calls)
