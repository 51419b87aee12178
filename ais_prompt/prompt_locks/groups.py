"""Group changed prompts by the edit that changed them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, islice
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.prompt_locks.edit import REACHES, Edit, Reach, possible_edits
from ais_prompt.prompt_locks.values import compact_digest

Reason: TypeAlias = Literal["edit", "data", "other"]
"""Why prompts changed: one edit explains the whole change, the row changed, or neither is known."""

_MOST_EDITS: Final = 12
"""Maximum number of edits to search for; prompts that they do not explain get the reason ``other``."""
_MOST_SINGLES: Final = 4
"""Maximum number of edits that explain a single prompt; then the search stops."""
_MOST_CHANGES: Final = 30
"""Maximum number of changes in an edit. With more, the prompt was replaced, not its template edited."""
_LEARNT_FROM: Final = 3
"""Number of prompts from which an edit is derived."""
_PROBES: Final = 24
"""Number of prompts on which an edit is tried before it is tried on all."""


class ChangedPrompt(Struct, frozen=True):
    """A prompt that changed.

    Attributes:
        sample, row: id and number of its row now.
        number: which of the sample's prompts it is, from 0.
        digest: the digest of the old prompt.
        before, after: the old and new prompt as text; ``before`` is None if it is not known.
    """

    sample: str
    row: int
    number: int
    digest: str
    before: str | None
    after: str

    def is_before(self, text: str) -> bool:
        """Return whether a text is the old prompt."""
        return compact_digest(text) == self.digest


class Group(Struct, frozen=True):
    """Prompts that changed in the same way.

    Attributes:
        reason: why they changed.
        prompts: the prompts, in the order of the rows.
        edit: the edit, for the reason ``edit``.
    """

    reason: Reason
    prompts: Sequence[ChangedPrompt]
    edit: Edit | None = None


def group_prompts(changed: Sequence[ChangedPrompt]) -> list[Group]:
    """Group changed prompts by edit; prompts that no edit explains are the last group."""
    groups: list[Group] = []
    pending = list(changed)
    singles = 0
    while len(groups) < _MOST_EDITS and singles < _MOST_SINGLES and (known := _some_known(pending)):
        group = _largest_group(known, pending)
        groups = _with_group(groups, group)
        singles += len(group.prompts) == 1
        explained = set(map(_place, group.prompts))
        pending = [prompt for prompt in pending if _place(prompt) not in explained]
    if pending:  # an edit that explains one prompt only is then not informative
        pending += [group.prompts[0] for group in groups if len(group.prompts) == 1]
        groups = [group for group in groups if len(group.prompts) > 1]
        groups.append(Group("other", sorted(pending, key=_place)))
    return groups


def _with_group(groups: Sequence[Group], group: Group) -> list[Group]:
    """Add a group, merged with the group whose edit makes the same changes in other contexts."""
    same = [other for other in groups if other.edit and group.edit and other.edit.literals == group.edit.literals]
    prompts = sorted([prompt for one in [*same, group] for prompt in one.prompts], key=_place)
    return [*(other for other in groups if other not in same), replace(group, prompts=prompts)]


def _place(prompt: ChangedPrompt) -> tuple[int, int]:
    return prompt.row, prompt.number


def _largest_group(known: Sequence[ChangedPrompt], pending: Sequence[ChangedPrompt]) -> Group:
    """Return the prompts that changed like the first one whose old text is known."""
    first, others = known[0], [prompt for prompt in pending if prompt is not known[0]]
    edits = list(possible_edits([(prompt.before or "", prompt.after) for prompt in known]))
    for edit in edits:
        if explained := _explained(edit, others):
            return Group("edit", [first, *explained], edit)
    return Group("edit", [first], edits[0])


def _some_known(pending: Sequence[ChangedPrompt]) -> list[ChangedPrompt]:
    """Return the first prompts whose old text is known."""
    return list(islice((prompt for prompt in pending if prompt.before is not None), _LEARNT_FROM))


def _explained(edit: Edit, pending: Sequence[ChangedPrompt]) -> list[ChangedPrompt]:
    """Return the prompts that this edit explains completely, with their old text."""
    explained: list[ChangedPrompt] = []
    rest = list(pending) if len(edit.literals) <= _MOST_CHANGES else []
    while (reach := _best_reach(edit, rest)) is not None:
        undone = [replace(prompt, before=edit.undo(prompt.after, reach)) for prompt in rest]
        proved = [prompt.is_before(prompt.before or "") for prompt in undone]
        explained += compress(undone, proved)
        rest = [prompt for prompt, is_proved in zip(rest, proved, strict=True) if not is_proved]
    return explained


def _best_reach(edit: Edit, prompts: Sequence[ChangedPrompt]) -> Reach | None:
    """Return the reach that explains most of a few prompts; None if no reach explains any."""
    probes = prompts[:: max(1, len(prompts) // _PROBES)]
    proved = {reach: sum(prompt.is_before(edit.undo(prompt.after, reach)) for prompt in probes) for reach in REACHES}
    best = max(proved, key=lambda reach: proved[reach])
    return best if proved[best] else None
