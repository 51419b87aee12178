"""Contain errors of parts: an error that a part raises about one sample fails that sample, not its task."""

from __future__ import annotations

from typing import Final

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.types import Failure
from ais_prompt.utils.guard import part_error

RAISED: Final = "raised"
"""The kind of failure of a sample for which a part raised an error, or returned a value of the wrong type."""
UNUSABLE_ROW: Final = "unusable_row"
"""The kind of failure of a sample whose row cannot be asked: a column is missing, or holds another kind of value."""
RETRY_HINT: Final = "fix the cause and go on with `-r`: what was answered is kept"


def ends_task(error: Exception) -> bool:
    """Return whether an error ends its task, because it is not about a single sample."""
    return isinstance(error, MemoryError) or (isinstance(error, AisPromptError) and not isinstance(error, PartError))


def failure_of(error: Exception, name: str) -> Failure:
    """Return the failure of a sample for which a part raised an error.

    Args:
        error: the error.
        name: the part that raised it, for errors that do not name it.
    """
    known = error if isinstance(error, PartError) else part_error(error, name, None)
    return Failure(RAISED, known.what, where=known.where)
