"""Compare the prompts of two sides, each a config or a run, task by task.

The prompts of a config are rendered, those of a run are read from its predictions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import starmap
from pathlib import Path
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.checks import checked
from ais_prompt.config import Options, find_config
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.evidence.locks.drift import Drift, TaskDrift, compare_task
from ais_prompt.extensions.evidence.locks.prompt_lock import count_tokens, render_tasks, task_prompts, template_parts
from ais_prompt.models import Model
from ais_prompt.plan import stored_spec, with_model
from ais_prompt.preview import TaskPrompts, text_of_prompt
from ais_prompt.store import RunFolder, locate_run, read_predictions
from ais_prompt.types import ChatMessage, Prediction, Prompt, RunSpec, prompt_from_json


class SideTask(Struct, frozen=True):
    """The prompts of a task, and the model that counts their tokens; None for the prompts of a run."""

    prompts: TaskPrompts
    model: Model | None = None


class Side(Struct, frozen=True):
    """One side of a comparison.

    Attributes:
        name: the name that the user gave.
        tasks: the prompts of each task.
        is_run: whether it is a run. Of the parts of a run only the templates are known.
    """

    name: str
    tasks: Sequence[SideTask]
    is_run: bool = False


def open_side(name: str, work_dir: Path, model: str | None = None) -> Side:
    """Render the prompts of a config, or read those of a run.

    Args:
        name: path or shipped name of a config, or a run as `locate_run` finds it.
        work_dir: the folder to search for runs.
        model: ``abbr`` of the only model to take; None for all.

    Raises:
        ConfigError: the name is neither a config nor a run, the config has faults, the run has no predictions, or the
            model is unknown.
        AisPromptError: a prompt cannot be built, or the run cannot be read.
    """
    config = None
    with suppress(ConfigError):  # it is a run, then
        config = None if Path(name).is_dir() else find_config(name)
    if config is None:
        folder = _run(name, work_dir)
        sent = list(_sent_prompts(with_model(stored_spec(folder), model), folder))
        if not sent:
            fix = "wait until it has ended, or resume it: aisprompt run … -r"
            raise ConfigError("the run has no predictions yet", where=str(folder.root), fix=fix)
        return Side(name, list(map(SideTask, sent)), is_run=True)
    plan, _ = checked(Options(str(config), allow_code_execution="unsafe"))  # nothing is executed here
    chosen = {one.abbr for one in with_model(plan.spec, model).models}
    tasks = [task for task in plan.tasks if task.spec.model.abbr in chosen]
    return Side(name, list(starmap(SideTask, render_tasks(tasks))))


def _run(name: str, work_dir: Path) -> RunFolder:
    try:
        return locate_run(work_dir, name)
    except ConfigError as error:
        fix = f"name a .py file, a shipped config, or a run; {error.fix}"
        raise ConfigError(f"{name!r} is neither a config nor a run", where=error.where, fix=fix) from None


def compare_sides(before: Side, after: Side) -> Drift:
    """Compare two sides task by task.

    If each side has only one model, the two are compared even if their names differ; the same for datasets.
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
    """Return name before → name after."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    if len(old) == len(new) == 1:
        return dict(zip(old, new, strict=True))
    return {name: name for name in old if name in new}


def _drift(before: SideTask, after: SideTask, *, templates_only: bool) -> TaskDrift:
    """Compare the prompts of a task; tokens are counted only if something changed."""
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


def _sent_prompts(spec: RunSpec, folder: RunFolder) -> Iterator[TaskPrompts]:
    """Yield the prompts of each task that has predictions."""
    for task in spec.tasks:
        path = folder.predictions(task.model.abbr, task.dataset.abbr)
        if path.is_file():
            texts = {
                prediction.row_digest: tuple(map(text_of_prompt, _prompts(prediction)))
                for prediction in read_predictions(path)
            }
            yield task_prompts(task, texts, {"templates": template_parts(task)})


def _prompts(prediction: Prediction) -> tuple[Prompt, ...]:
    """Return the prompt of each label, of each turn, or the only prompt."""
    of_labels = [found["prompt"] for found in prediction.labels.values() if "prompt" in found]
    if of_labels:
        return tuple(map(prompt_from_json, of_labels))
    origin = prediction.origin_prompt
    if isinstance(origin, str) or isinstance(next(iter(origin), None), ChatMessage):
        return (cast(Prompt, origin),)
    return cast("tuple[Prompt, ...]", origin)
