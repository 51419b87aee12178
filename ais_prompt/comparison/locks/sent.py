"""Read the prompts that a run has sent from its predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from msgspec.structs import replace

from ais_prompt.checks.stored import stored_spec
from ais_prompt.comparison.locks.render import task_prompts, template_parts
from ais_prompt.errors import ConfigError
from ais_prompt.preview.values import TaskPrompts, text_of_prompt
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import ChatMessage, Prediction, Prompt, RunSpec, prompt_from_json
from ais_prompt.utils.text import listed


def sent_prompts(folder: RunFolder, model: str | None = None) -> list[TaskPrompts]:
    """Return the prompts of each task that has predictions.

    Args:
        folder: the run folder.
        model: ``abbr`` of the only model to take; None for all.

    Raises:
        ConfigError: the run has no predictions, or the model is unknown.
        AisPromptError: the run cannot be read.
    """
    spec = stored_spec(folder)
    found = list(_tasks(with_model(spec, model), folder))
    if not found:
        fix = "wait until it has ended, or resume it: aisprompt run … -r"
        raise ConfigError("the run has no predictions yet", where=str(folder.root), fix=fix)
    return found


def with_model(spec: RunSpec, abbr: str | None) -> RunSpec:
    """Return the config with only one of its models; with all of them if ``abbr`` is None.

    Raises:
        ConfigError: the model is unknown.
    """
    models = tuple(model for model in spec.models if abbr in (None, model.abbr))
    if not models:
        known = listed(model.abbr for model in spec.models)
        raise ConfigError(f"there is no model {abbr!r} in {spec.name}", where="--models", fix=f"it has: {known}")
    return replace(spec, models=models)


def _tasks(spec: RunSpec, folder: RunFolder) -> Iterator[TaskPrompts]:
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
