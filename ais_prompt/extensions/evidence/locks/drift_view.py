"""Show a drift: in the terminal with a coloured difference for each kind of change, or as a document.

The title of a group says in a few words how its prompts have changed: "newline added before `A:`".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal, TypedDict

from msgspec import field
from rich.console import Console
from rich.text import Text

from ais_prompt.extensions.evidence.locks.drift import (
    PACKAGES,
    ChangedPrompt,
    Drift,
    Group,
    PartChange,
    Reason,
    TaskDrift,
)
from ais_prompt.preview import changed_words, changes_title, prompt_of_text, readable
from ais_prompt.terminal import print_heading
from ais_prompt.types import Document, prompt_to_json
from ais_prompt.utils import counted, printable, shortened

_MOST_GROUPS: Final = 8
_MOST_ROWS: Final = 10
_MOST_PLACES: Final = 3
"""Maximum number of places to show of one prompt."""
_NEWLINE: Final = "⏎"
"""Shown for a changed line that is empty."""
_LONGEST_LINE: Final = 100
"""Maximum characters to show of an unchanged line, or of an unchanged part of a line."""
_LONGEST_CHANGE: Final = 600
"""Maximum characters to show of a change."""
_MOST_LINES: Final = 24
"""Maximum lines to show of one difference."""
_AROUND: Final = 1
"""Unchanged lines to show around a changed place."""
_READABLE: Final = {"decoding", PACKAGES}
"""Kinds of parts whose values are readable, not digests."""
_TITLES: Final = {
    "data": "the data of the row changed",
    "other": "changed, each in another way",
    "unknown": "changed; the lock has only their digests",
}


def print_drift(drift: Drift, console: Console) -> None:
    """Print the changes, and the number of unchanged tasks."""
    for task in drift.tasks:
        if not task.is_none:
            _print_task(task, console)
    before, after = drift.sides
    for name in drift.only_before:
        _print(Text(printable(f"{name}: only in {before}"), style="red"), console)
    for name in drift.only_after:
        _print(Text(printable(f"{name}: only in {after}"), style="green"), console)
    if drift.made_with and not drift.is_none:
        _print(Text(f"packages: {', '.join(map(part_title, drift.made_with))}", style="dim"), console)
    same = [task for task in drift.tasks if task.is_none]
    if same:
        prompts = sum(map(_count, same))
        _print(Text(f"Unchanged: {counted(len(same), 'task')}, {counted(prompts, 'prompt')}"), console)


def _print_task(task: TaskDrift, console: Console) -> None:
    names = dict.fromkeys((task.before.name, task.after.name))
    print_heading(" → ".join(names), console)
    for line in _facts(task):
        _print(line, console)
    for group in task.groups[:_MOST_GROUPS]:
        _print_group(group, console)
    if len(task.groups) > _MOST_GROUPS:
        _print(Text(f"… and {len(task.groups) - _MOST_GROUPS} more kinds of change; --json has all"), console)
    console.print()


def _facts(task: TaskDrift) -> Iterator[Text]:
    yield Text(f"{task.changed:,} of {_count(task):,} prompts changed{_lengths(task)}")
    for kind, changes in groupby(task.parts, key=lambda change: change.kind):
        yield Text.assemble((f"{kind}: ", "bold"), printable(", ".join(map(part_title, changes))))
    for what, rows in (("changed", task.changed_rows), ("new", task.added_rows), ("gone", task.removed_rows)):
        if rows:
            yield Text(f"{counted(len(rows), 'row')} {what}: {_numbers(rows)}")
    if task.reordered:
        yield Text("the rows are in another order")


def _lengths(task: TaskDrift) -> str:
    before, after = task.before, task.after
    if before.tokens is not None and after.tokens is not None:
        return f", {_from_to(before.tokens, after.tokens)} tokens"
    return f", {_from_to(before.characters, after.characters)} characters"


def _from_to(before: int, after: int) -> str:
    return f"{before:,} → {after:,} ({after - before:+,})"


def _count(task: TaskDrift) -> int:
    return sum(map(len, task.after.digests.values()))


def _print_group(group: Group, console: Console) -> None:
    count = len(group.prompts)
    title = f"{counted(count, 'prompt')}: {group_title(group)}"
    _print(Text(printable(title), style="bold yellow"), console)
    shown = next((prompt for prompt in group.prompts if prompt.before is not None), None)
    if shown is None:
        _print(Text(f"  rows {_numbers([prompt.row for prompt in group.prompts])}", style="dim"), console)
        return
    _print(Text(f"  row {shown.row}, sample {shown.sample}", style="dim"), console)
    lines = list(_difference(shown))
    for line in lines[:_MOST_LINES]:
        _print(line, console)
    if len(lines) > _MOST_LINES:
        _print(Text(f"  … {len(lines) - _MOST_LINES} more lines", style="dim"), console)


def _numbers(rows: Sequence[int]) -> str:
    rows = list(dict.fromkeys(rows))
    return ", ".join(map(str, rows[:_MOST_ROWS])) + (", …" if len(rows) > _MOST_ROWS else "")


def _difference(prompt: ChangedPrompt) -> Iterator[Text]:
    """Yield the changed lines of a prompt, with the lines around them."""
    before, after = (readable(text).split("\n") for text in (prompt.before or "", prompt.after))
    places = list(difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_AROUND))
    for place in places[:_MOST_PLACES]:
        yield Text("  ⋮", style="dim")
        for tag, i, j, k, m in place:
            if tag == "equal":
                yield from (Text(f"   {shortened(line, _LONGEST_LINE)}", style="dim") for line in before[i:j])
            else:
                yield from _changed_lines(before[i:j], after[k:m])
    if len(places) > _MOST_PLACES:
        yield Text(f"  ⋮ {counted(len(places) - _MOST_PLACES, 'more place')} in this prompt", style="dim")


def _changed_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Text]:
    """Yield the old lines in red and the new lines in green, with the differences highlighted."""
    old, new = Text(), Text()
    for was, now in changed_words("\n".join(before), "\n".join(after)):
        same = was == now
        old.append(_elided(was) if same else _visible(was), "red" if same else "bold white on red")
        new.append(_elided(now) if same else _visible(now), "green" if same else "bold white on green")
    for sign, style, text, lines in (("-", "red", old, before), ("+", "green", new, after)):
        if lines:
            for line in text.split("\n", allow_blank=True):
                yield Text.assemble("  ", (sign, style), line or (_NEWLINE, style))


def _elided(same: str) -> str:
    """Shorten an unchanged part of a changed line in its middle."""
    half = _LONGEST_LINE // 2
    return same if len(same) <= _LONGEST_LINE else f"{same[:half]}…{same[-half:]}"


def _visible(changed: str) -> str:
    """Shorten a changed text, and make its spaces visible if it consists of spaces only."""
    if not changed.strip():
        return changed.replace(" ", "·").replace("\t", "→")
    return changed if len(changed) <= _LONGEST_CHANGE else f"{changed[:_LONGEST_CHANGE]}…"


def _print(line: Text, console: Console) -> None:
    console.print(line, soft_wrap=True, highlight=False)


def drift_fields(drift: Drift) -> dict[str, Any]:
    """Return the fields of `DriftDocument`: all changes, with one prompt in full for each group."""
    return {
        "equal": drift.is_none,
        "sides": list(drift.sides),
        "tasks": [_task(task) for task in drift.tasks],
        "only_before": list(drift.only_before),
        "only_after": list(drift.only_after),
        "packages": list(drift.made_with),
    }


def _task(task: TaskDrift) -> TaskChanges:
    return {
        "before": task.before.name,
        "after": task.after.name,
        "equal": task.is_none,
        "prompts": _count(task),
        "changed": task.changed,
        "characters": [task.before.characters, task.after.characters],
        "tokens": [task.before.tokens, task.after.tokens],
        "parts": list(task.parts),
        "rows": {
            "changed": list(task.changed_rows),
            "added": list(task.added_rows),
            "removed": list(task.removed_rows),
            "reordered": task.reordered,
        },
        "groups": [_group(group) for group in task.groups],
    }


def _group(group: Group) -> GroupEntry:
    shown = next((prompt for prompt in group.prompts if prompt.before is not None), group.prompts[0])
    return {
        "reason": group.reason,
        "title": group_title(group),
        "prompts": [{"id": prompt.sample, "row": prompt.row, "number": prompt.number} for prompt in group.prompts],
        "example": _example(shown),
    }


def _example(prompt: ChangedPrompt) -> PromptExample:
    return {
        "id": prompt.sample,
        "before": None if prompt.before is None else prompt_to_json(prompt_of_text(prompt.before)),
        "after": prompt_to_json(prompt_of_text(prompt.after)),
    }


class RowChanges(TypedDict):
    """Numbers of rows: of those whose data changed and of new ones now, of removed ones before."""

    changed: list[int]
    added: list[int]
    removed: list[int]
    reordered: bool


class PromptExample(TypedDict):
    """A changed prompt in full, as messages or as a text; ``before`` is null if the lock has only its digest."""

    id: str
    before: Any
    after: Any


class GroupEntry(TypedDict):
    """Prompts that changed in the same way: the reason, the change in a few words, all of them, and one in full."""

    reason: Reason
    title: str
    prompts: list[dict[str, Any]]
    example: PromptExample


class TaskChanges(TypedDict):
    """What changed in the prompts of one model on one dataset; of characters and tokens, the numbers before and now."""

    before: str
    after: str
    equal: bool
    prompts: int
    changed: int
    characters: list[int]
    tokens: list[int | None]
    parts: list[PartChange]
    rows: RowChanges
    groups: list[GroupEntry]


class DriftDocument(Document, kw_only=True):
    """What ``lock --check`` and ``diff`` print.

    Attributes:
        equal: whether nothing changed.
        sides: the names of the two sides.
        tasks: the tasks on both sides.
        only_before, only_after: names of the tasks on one side only.
        packages: versions that differ; alone they are no change.
    """

    kind: Literal["lock", "diff"]
    equal: bool = True
    sides: list[str] = field(default_factory=list)
    tasks: list[TaskChanges] = field(default_factory=list)
    only_before: list[str] = field(default_factory=list)
    only_after: list[str] = field(default_factory=list)
    packages: list[PartChange] = field(default_factory=list)


def group_title(group: Group) -> str:
    """Describe the change of a group of prompts."""
    return _TITLES.get(group.reason) or changes_title(group.changes)


def part_title(change: PartChange) -> str:
    """Describe the change of a part; without values if they are digests."""
    if change.before is None:
        return f"{change.name} is new"
    if change.after is None:
        return f"{change.name} is gone"
    if change.kind in _READABLE:
        return f"{change.name} {change.before} → {change.after}"
    return f"{change.name} changed"
