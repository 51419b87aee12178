"""Two sides, compared task by task."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ais_prompt.prompt_locks.drift import Drift, TaskDrift, compare_task
from ais_prompt.prompt_locks.render import count_tokens
from ais_prompt.prompt_locks.sides import Side, SideTask
from ais_prompt.prompt_locks.values import TaskPrompts


def compare_sides(before: Side, after: Side) -> Drift:
    """Compare task by task. The only model of one side is compared with the only one of the other, whatever their
    names; the same for datasets.
    """
    old, new = _by_names(before), _by_names(after)
    models = _partners([model for model, _ in old], [model for model, _ in new])
    datasets = _partners([dataset for _, dataset in old], [dataset for _, dataset in new])
    templates_only = before.is_run or after.is_run
    drifts, gone = [], []
    for (model, dataset), task in old.items():
        partner = new.pop((models.get(model, ""), datasets.get(dataset, "")), None)
        if partner is None:
            gone.append(task.prompts.name)
        else:
            drifts.append(_drift(task, partner, templates_only=templates_only))
    return Drift((before.name, after.name), drifts, gone, [task.prompts.name for task in new.values()])


def _by_names(side: Side) -> dict[tuple[str, str], SideTask]:
    return {(task.prompts.model, task.prompts.dataset): task for task in side.tasks}


def _partners(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Name before → name after."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    if len(old) == len(new) == 1:
        return dict(zip(old, new, strict=True))
    return {name: name for name in old if name in new}


def _drift(before: SideTask, after: SideTask, *, templates_only: bool) -> TaskDrift:
    """What became of a task; tokens are counted only if there is something to tell."""
    if templates_only:
        before, after = _with_templates(before), _with_templates(after)
    drift = compare_task(before.prompts, after.prompts)
    return drift if drift.is_none else replace(drift, before=_counted(before), after=_counted(after))


def _with_templates(task: SideTask) -> SideTask:
    parts = {"templates": task.prompts.parts.get("templates", {})}
    return replace(task, prompts=replace(task.prompts, parts=parts))


def _counted(task: SideTask) -> TaskPrompts:
    tokens = None if task.model is None else count_tokens(task.model, task.prompts.texts.values())
    return replace(task.prompts, tokens=tokens)
