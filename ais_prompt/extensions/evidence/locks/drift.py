"""Drift: which parts, rows and prompts of a config have changed, and how.

Rows are matched by their digests. Changed prompts are grouped by equal difference, so that one edit of a template is
one group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.preview import LEAST_ALIKE, Hunk, Parts, TaskPrompts, compact_digest, hunks
from ais_prompt.terminal import tracked

PACKAGES: Final = "packages"
"""The kind of parts that are versions of packages."""
Reason: TypeAlias = Literal["edit", "data", "other", "unknown"]
"""Why prompts changed.

``edit``: the same places changed in the same way. ``data``: the row changed. ``other``: each prompt changed in another
way. ``unknown``: only the digests of the old prompts are known.
"""
_MOST_SINGLES: Final = 4
"""Maximum number of prompts to show with a difference of their own; more are one group, ``other``."""


class RowMatch(Struct, frozen=True):
    """The rows of two versions of a dataset, matched.

    Attributes:
        changed: id before and after of rows whose data changed.
        added, removed: ids of added and removed rows.
        reordered: whether the rows in both versions are in another order.
    """

    changed: Sequence[tuple[str, str]]
    added: Sequence[str]
    removed: Sequence[str]
    reordered: bool


def match_rows(before: Sequence[str], after: Sequence[str]) -> RowMatch:
    """Match the ids of two versions of a dataset.

    A row counts as changed if an old id is gone and a new id is in the same place: equally many rows after the same row
    that is in both versions. So rows added or removed further up do not matter.
    """
    old, new = set(before), set(after)
    gone, come = _places(before, new), _places(after, old)
    changed = [(gone[place], sample) for place, sample in come.items() if place in gone]
    return RowMatch(
        changed,
        added=[sample for place, sample in come.items() if place not in gone],
        removed=[sample for place, sample in gone.items() if place not in come],
        reordered=[sample for sample in before if sample in new] != [sample for sample in after if sample in old],
    )


def _places(ids: Sequence[str], others: Container[str]) -> dict[tuple[str, int], str]:
    """Return the places of the ids that are not among ``others``: (last id that is, rows after it) → id."""
    places = {}
    last, distance = "", 0
    for sample in ids:
        last, distance = (sample, 0) if sample in others else (last, distance + 1)
        if distance:
            places[last, distance] = sample
    return places


class PartChange(Struct, frozen=True):
    """A part that changed; ``before`` is None for a new part, ``after`` for a removed one."""

    kind: str
    name: str
    before: Any
    after: Any


class TaskDrift(Struct, frozen=True):
    """The changes in the prompts of one model on one dataset.

    Attributes:
        before, after: both sides.
        parts: the parts that changed.
        groups: the prompts that changed, the largest group first; those known by digest only are last.
        changed_rows: numbers of the rows whose data changed, whether their prompts did or not.
        added_rows: numbers of the new rows.
        removed_rows: former numbers of the removed rows.
        reordered: whether rows on both sides are in another order.
    """

    before: TaskPrompts
    after: TaskPrompts
    parts: Sequence[PartChange]
    groups: Sequence[Group]
    changed_rows: Sequence[int]
    added_rows: Sequence[int]
    removed_rows: Sequence[int]
    reordered: bool

    @property
    def is_none(self) -> bool:
        """Whether nothing changed at all."""
        rows = self.changed_rows or self.added_rows or self.removed_rows or self.reordered
        return not (self.parts or self.groups or rows)

    @property
    def changed(self) -> int:
        """Number of changed prompts, without those of added and removed rows."""
        return sum(len(group.prompts) for group in self.groups)


class Drift(Struct, frozen=True):
    """The changes in all prompts of a config.

    Attributes:
        sides: the names of the two sides.
        tasks: the tasks on both sides, in order.
        only_before, only_after: names of the tasks on one side only.
        made_with: packages whose versions differ. They do not count as drift, but can be its cause.
    """

    sides: tuple[str, str]
    tasks: Sequence[TaskDrift]
    only_before: Sequence[str] = ()
    only_after: Sequence[str] = ()
    made_with: Sequence[PartChange] = ()

    @property
    def is_none(self) -> bool:
        """Whether nothing changed at all."""
        return not (self.only_before or self.only_after) and all(task.is_none for task in self.tasks)


def _row_numbers(task: TaskPrompts) -> dict[str, int]:
    return {sample: row for row, sample in enumerate(task.digests)}


def compare_task(before: TaskPrompts, after: TaskPrompts) -> TaskDrift:
    """Compare the prompts of a task.

    Args:
        before: the former prompts; for some of them only the digests are known.
        after: the prompts now, all in full.
    """
    rows = match_rows(list(before.digests), list(after.digests))
    old_numbers, numbers = _row_numbers(before), _row_numbers(after)
    stayed = [sample for sample in after.digests if sample in before.digests]
    work = tracked(stayed, f"comparing {after.model}/{after.dataset}", unit="samples")
    changed = [found for sample in work for found in _changed_prompts(before, after, sample, sample, numbers)]
    of_data = [found for old, new in rows.changed for found in _changed_prompts(before, after, old, new, numbers)]
    groups = group_prompts(changed) + ([Group("data", of_data)] if of_data else [])
    return TaskDrift(
        before,
        after,
        changed_parts(before.parts, after.parts),
        sorted(groups, key=lambda group: (group.reason == "unknown", -len(group.prompts))),
        changed_rows=[numbers[new] for _, new in rows.changed],
        added_rows=[numbers[sample] for sample in rows.added],
        removed_rows=[old_numbers[sample] for sample in rows.removed],
        reordered=rows.reordered,
    )


def changed_parts(before: Parts, after: Parts) -> list[PartChange]:
    """Return the parts that differ, in order."""
    nothing: Mapping[str, Any] = {}
    return [
        PartChange(kind, name, old.get(name), new.get(name))
        for kind in dict.fromkeys(chain(before, after))
        for old, new in [(before.get(kind, nothing), after.get(kind, nothing))]
        for name in dict.fromkeys(chain(old, new))
        if old.get(name) != new.get(name)
    ]


def _changed_prompts(
    before: TaskPrompts, after: TaskPrompts, old: str, new: str, numbers: Mapping[str, int]
) -> Iterable[ChangedPrompt]:
    """Yield the changed prompts of a sample; a new or removed prompt is compared with an empty text."""
    digests, texts = before.digests[old], after.texts[new]
    known: Sequence[str | None] = before.texts.get(old) or [None] * len(digests)
    for number in range(max(len(digests), len(texts))):
        digest = digests[number] if number < len(digests) else compact_digest("")
        text = texts[number] if number < len(texts) else ""
        if digest != compact_digest(text):
            was = known[number] if number < len(digests) else ""
            yield ChangedPrompt(new, numbers[new], number, was, text)


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
