"""Drift as plain JSON values, for programs."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from ais_prompt.prompt_locks.drift import Drift, TaskDrift
from ais_prompt.prompt_locks.groups import ChangedPrompt, Group
from ais_prompt.prompt_locks.text import prompt_of_text
from ais_prompt.prompt_locks.wording import group_title
from ais_prompt.types import prompt_to_json


def drift_to_json(drift: Drift) -> dict[str, Any]:
    """Everything that changed; of each group of prompts one is shown in full."""
    return {
        "equal": drift.is_none,
        "sides": list(drift.sides),
        "tasks": [_task(task) for task in drift.tasks],
        "only_before": list(drift.only_before),
        "only_after": list(drift.only_after),
        "packages": [asdict(change) for change in drift.made_with],
    }


def _task(task: TaskDrift) -> dict[str, Any]:
    return {
        "before": task.before.name,
        "after": task.after.name,
        "equal": task.is_none,
        "prompts": sum(map(len, task.after.digests.values())),
        "changed": task.changed,
        "characters": [task.before.characters, task.after.characters],
        "tokens": [task.before.tokens, task.after.tokens],
        "parts": [asdict(change) for change in task.parts],
        "rows": {
            "changed": list(task.changed_rows),
            "added": list(task.added_rows),
            "removed": list(task.removed_rows),
            "reordered": task.reordered,
        },
        "groups": [_group(group) for group in task.groups],
    }


def _group(group: Group) -> dict[str, Any]:
    shown = next((prompt for prompt in group.prompts if prompt.before is not None), group.prompts[0])
    return {
        "reason": group.reason,
        "title": group_title(group),
        "prompts": [{"id": prompt.sample, "row": prompt.row, "number": prompt.number} for prompt in group.prompts],
        "example": _example(shown),
    }


def _example(prompt: ChangedPrompt) -> dict[str, Any]:
    return {
        "id": prompt.sample,
        "before": None if prompt.before is None else prompt_to_json(prompt_of_text(prompt.before)),
        "after": prompt_to_json(prompt_of_text(prompt.after)),
    }
