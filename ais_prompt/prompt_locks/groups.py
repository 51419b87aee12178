"""Changed prompts, grouped by the way in which they changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, islice
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.prompt_locks.edit import REACHES, Edit, Reach, possible_edits
from ais_prompt.prompt_locks.values import compact_digest

Reason: TypeAlias = Literal["edit", "data", "other"]
"""Why prompts changed: one edit explains all of it, the row of the data changed, or neither is known."""

_MOST_EDITS: Final = 12
"""Different edits that are looked for; what they do not explain has changed otherwise."""
_MOST_SINGLES: Final = 4
"""Edits of a single prompt, after which there is little hope that others explain more."""
_MOST_CHANGES: Final = 30
"""Different changes of one edit. With more, two texts are other ones, and no template was edited."""
_LEARNT_FROM: Final = 3
"""Prompts from which an edit is learnt."""
_PROBES: Final = 24
"""Prompts on which an edit is tried before it is tried on all."""


class ChangedPrompt(Struct, frozen=True):
    """One prompt that is not what it was.

    Attributes:
        sample, row: id and number of its row now.
        number: which of the sample's prompts it is, from 0.
        digest: of the prompt as it was.
        before, after: the prompt as one text; ``before`` is None if it is not known.
    """

    sample: str
    row: int
    number: int
    digest: str
    before: str | None
    after: str

    def is_before(self, text: str) -> bool:
        """Whether a text is the prompt as it was."""
        return compact_digest(text) == self.digest


class Group(Struct, frozen=True):
    """Prompts that changed in the same way.

    Attributes:
        reason: why they changed.
        prompts: all of them, in order of the rows.
        edit: what was changed, for the reason ``edit``.
    """

    reason: Reason
    prompts: Sequence[ChangedPrompt]
    edit: Edit | None = None


def group_prompts(changed: Sequence[ChangedPrompt]) -> list[Group]:
    """Changed prompts by the edit that was made; those that no edit explains are the last group."""
    groups: list[Group] = []
    pending = list(changed)
    singles = 0
    while len(groups) < _MOST_EDITS and singles < _MOST_SINGLES and (known := _some_known(pending)):
        group = _largest_group(known, pending)
        groups = _with_group(groups, group)
        singles += len(group.prompts) == 1
        explained = set(map(_place, group.prompts))
        pending = [prompt for prompt in pending if _place(prompt) not in explained]
    if pending:  # then an edit of a single prompt is none that says much
        pending += [group.prompts[0] for group in groups if len(group.prompts) == 1]
        groups = [group for group in groups if len(group.prompts) > 1]
        groups.append(Group("other", sorted(pending, key=_place)))
    return groups


def _with_group(groups: Sequence[Group], group: Group) -> list[Group]:
    """The groups and one more, made one with that in which the same was changed at other places."""
    same = [other for other in groups if other.edit and group.edit and other.edit.literals == group.edit.literals]
    prompts = sorted([prompt for one in [*same, group] for prompt in one.prompts], key=_place)
    return [*(other for other in groups if other not in same), replace(group, prompts=prompts)]


def _place(prompt: ChangedPrompt) -> tuple[int, int]:
    return prompt.row, prompt.number


def _largest_group(known: Sequence[ChangedPrompt], pending: Sequence[ChangedPrompt]) -> Group:
    """The prompts that changed like the first known one."""
    first, others = known[0], [prompt for prompt in pending if prompt is not known[0]]
    edits = list(possible_edits([(prompt.before or "", prompt.after) for prompt in known]))
    for edit in edits:
        if explained := _explained(edit, others):
            return Group("edit", [first, *explained], edit)
    return Group("edit", [first], edits[0])


def _some_known(pending: Sequence[ChangedPrompt]) -> list[ChangedPrompt]:
    """The first prompts whose text before is known."""
    return list(islice((prompt for prompt in pending if prompt.before is not None), _LEARNT_FROM))


def _explained(edit: Edit, pending: Sequence[ChangedPrompt]) -> list[ChangedPrompt]:
    """The prompts of which this edit is all that changed, with their text before."""
    explained: list[ChangedPrompt] = []
    rest = list(pending) if len(edit.literals) <= _MOST_CHANGES else []
    while (reach := _best_reach(edit, rest)) is not None:
        undone = [replace(prompt, before=edit.undo(prompt.after, reach)) for prompt in rest]
        proved = [prompt.is_before(prompt.before or "") for prompt in undone]
        explained += compress(undone, proved)
        rest = [prompt for prompt, is_proved in zip(rest, proved, strict=True) if not is_proved]
    return explained


def _best_reach(edit: Edit, prompts: Sequence[ChangedPrompt]) -> Reach | None:
    """The reach that is right for most of some prompts; None if none is right for any, or there are no prompts."""
    probes = prompts[:: max(1, len(prompts) // _PROBES)]
    proved = {reach: sum(prompt.is_before(edit.undo(prompt.after, reach)) for prompt in probes) for reach in REACHES}
    best = max(proved, key=lambda reach: proved[reach])
    return best if proved[best] else None
