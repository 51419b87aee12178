"""Group changed prompts by equal difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.preview.differences import LEAST_ALIKE, Hunk, hunks
from ais_prompt.utils.progress import tracked

Reason: TypeAlias = Literal["edit", "data", "other", "unknown"]
"""Why prompts changed.

``edit``: the same places changed in the same way. ``data``: the row changed. ``other``: each prompt changed in another
way. ``unknown``: only the digests of the old prompts are known.
"""

_MOST_SINGLES: Final = 4
"""Maximum number of prompts to show with a difference of their own; more are one group, ``other``."""


class ChangedPrompt(Struct, frozen=True):
    """A prompt that changed.

    Attributes:
        sample, row: id and number of its row now.
        number: which of the sample's prompts it is, from 0.
        before, after: the old and new prompt as text; ``before`` is None if it is not known.
    """

    sample: str
    row: int
    number: int
    before: str | None
    after: str


class Group(Struct, frozen=True):
    """Prompts that changed in the same way.

    Attributes:
        reason: why they changed.
        prompts: the prompts, in the order of the rows.
        changes: the changed places of the first prompt, for the reason ``edit``.
    """

    reason: Reason
    prompts: Sequence[ChangedPrompt]
    changes: Sequence[Hunk] = ()


def group_prompts(changed: Sequence[ChangedPrompt]) -> list[Group]:
    """Group changed prompts by the texts that were replaced, added or removed, wherever they are in a prompt."""
    groups: list[Group] = []
    pending = [prompt for prompt in changed if prompt.before is not None]
    # First replace lines with little in common as a whole, which fits replaced examples. Then compare the prompts
    # that are left word by word, which fits a new template around the same question.
    for least_alike in (LEAST_ALIKE, 0.0):
        equal = _by_difference(pending, least_alike)
        groups += [group for group in equal if len(group.prompts) > 1]
        pending = [group.prompts[0] for group in equal if len(group.prompts) == 1]
    if len(pending) > _MOST_SINGLES:
        groups.append(Group("other", pending))
    else:
        groups += _by_difference(pending, LEAST_ALIKE)
    unknown = [prompt for prompt in changed if prompt.before is None]
    return [*groups, Group("unknown", unknown)] if unknown else groups


def _by_difference(prompts: Sequence[ChangedPrompt], least_alike: float) -> list[Group]:
    equal = defaultdict(list)
    for prompt in tracked(prompts, "comparing changed prompts", unit="prompts"):
        changes = hunks(prompt.before or "", prompt.after, least_alike)
        equal[frozenset((hunk.old, hunk.new) for hunk in changes)].append((prompt, changes))
    return [Group("edit", [prompt for prompt, _ in found], found[0][1]) for found in equal.values()]
