"""Contain what parts and servers do: an error about one sample fails that sample alone, and answers hold no secrets."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.parts import part_error
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Completion, Failure

RAISED: Final = "raised"
"""The kind of failure of a sample for which a part raised an error, or returned a value of the wrong type."""
UNUSABLE_ROW: Final = "unusable_row"
"""The kind of failure of a sample whose row cannot be asked: a column is missing, or holds another kind of value."""
RETRY_HINT: Final = "fix the cause and go on with `-r`: what was answered is kept"


def ends_task(error: Exception) -> bool:
    """Return whether an error ends its task, because it is not about a single sample."""
    return isinstance(error, MemoryError) or (isinstance(error, AisPromptError) and not isinstance(error, PartError))


def failure_of(error: BaseException, name: str) -> Failure:
    """Return the failure of a sample for which a part raised an error.

    Args:
        error: the error.
        name: the part that raised it, for errors that do not name it.
    """
    known = error if isinstance(error, PartError) else part_error(error, name, None)
    return Failure(RAISED, known.what, where=known.where)


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
    tokens = () if redacted else completion.tokens  # a secret may be in pieces
    changes = {"text": text, "reasoning": reasoning, "failure": failure, "redacted": redacted, "tool_calls": calls}
    return replace(completion, tokens=tokens, **changes)
