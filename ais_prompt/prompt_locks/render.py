"""All prompts of a config, as they would be sent; no weights are loaded and nobody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ais_prompt.errors import AisPromptError
from ais_prompt.models.base import Model
from ais_prompt.plan.build import build_model
from ais_prompt.plan.inference import Inference, prepare
from ais_prompt.plan.partition import partition
from ais_prompt.prompt_locks.parts import task_parts
from ais_prompt.prompt_locks.text import prompt_of_text, text_of_prompt
from ais_prompt.prompt_locks.values import Parts, TaskPrompts, compact_digest
from ais_prompt.types import RunSpec, Sample, TaskSpec


def render_run(spec: RunSpec) -> Iterator[tuple[TaskPrompts, Model]]:
    """The prompts of each task with the model that they are for; tokens are not counted.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    for model_spec, tasks in groupby(partition(spec), key=lambda task: task.model):
        model = build_model(model_spec)
        for task in tasks:
            yield render_task(task, model), model


def render_task(task: TaskSpec, model: Model) -> TaskPrompts:
    """Every prompt of a task: all labels of a choice, and all turns of a dialogue with the gold answers in place.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    work = prepare(task, model)
    # A lock is about whole rows: a shot shows its gold as well.
    texts = {sample.row_id: _texts(work, sample) for sample in work.data.test}
    return task_prompts(task, texts, task_parts(task, model, work))


def task_prompts(task: TaskSpec, texts: dict[str, tuple[str, ...]], parts: Parts) -> TaskPrompts:
    """The prompts of a task whose texts are all known."""
    digests = {sample: tuple(map(compact_digest, of_sample)) for sample, of_sample in texts.items()}
    characters = sum(len(text) for of_sample in texts.values() for text in of_sample)
    return TaskPrompts(task.model.abbr, task.dataset.abbr, parts, digests, texts, characters)


def count_tokens(model: Model, texts: Iterable[Sequence[str]]) -> int | None:
    """Tokens of all prompts together; None if the model has no tokenizer at hand, or a prompt cannot be counted."""
    total = 0
    try:
        for of_sample in texts:
            for text in of_sample:
                counted = model.count_tokens(prompt_of_text(text))
                if counted is None:
                    return None
                total += counted
    except AisPromptError:  # its chat template may refuse messages that the server takes
        return None
    return total


def _texts(work: Inference, sample: Sample) -> tuple[str, ...]:
    try:
        views = work.inferencer.preview(sample, work.shots(sample), work.context)
    except AisPromptError as error:
        error.where = error.where or f"sample {sample.id}, row {sample.index}"
        raise
    return tuple(text_of_prompt(view.prompt) for view in views)
