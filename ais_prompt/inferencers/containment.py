"""What a part raises while one sample is worked on costs this sample, not its task."""

from __future__ import annotations

from typing import Final

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.types import Failure
from ais_prompt.utils.guard import part_error

RAISED: Final = "raised"
"""Kind of the failure of a sample about which a part raised, or returned something of the wrong type."""


def ends_task(error: Exception) -> bool:
    """Whether an error ends its task: all that are not about one sample."""
    return isinstance(error, MemoryError) or (isinstance(error, AisPromptError) and not isinstance(error, PartError))


def failure_of(error: Exception, name: str) -> Failure:
    """The failure of a sample about which something was raised.

    Args:
        error: what was raised.
        name: what raised it, if the error does not say so itself.
    """
    known = error if isinstance(error, PartError) else part_error(error, name, None)
    return Failure(RAISED, known.what, where=known.where)
