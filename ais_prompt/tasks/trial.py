"""The prompts of one sample, as they would be sent, and once more with plain data to see what the templates write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.chat.language_model import LanguageModelFormat
from ais_prompt.inferencers import Desk, Inferencer, Preview
from ais_prompt.models.base import AsyncModel
from ais_prompt.prompts.markers import has_marker
from ais_prompt.tasks.warnings import GOLD, Trial
from ais_prompt.types import Sample, TaskSpec

PLAIN: Final = "\ue001"
"""Stands for a text of the data: it cannot be taken for a placeholder, a role or a newline of a template."""


def trials(task: TaskSpec, inferencer: Inferencer, desk: Desk, sample: Sample, shots: Sequence[Sample]) -> list[Trial]:
    """Every prompt about a sample.

    Raises:
        AisPromptError: one of them cannot be built.
    """
    seen = inferencer.preview(sample, shots, desk)
    meta = desk.chat.meta if isinstance(desk.chat, LanguageModelFormat) else None
    return [
        Trial(
            task,
            preview,
            plain,
            meta,
            gives_messages=task.model.prompt_template is None and desk.model.prompt_style != "text",
            served=isinstance(desk.model, AsyncModel),
            columns=tuple(sample.fields),
        )
        for preview, plain in zip(seen, _plain(task, inferencer, desk, sample, shots, len(seen)), strict=True)
    ]


def _plain(
    task: TaskSpec, inferencer: Inferencer, desk: Desk, sample: Sample, shots: Sequence[Sample], count: int
) -> Sequence[Preview | None]:
    """The same prompts of plain data; None for each if a part of the user's cannot work with such data."""
    gold = task.dataset.reader.output_column
    try:
        found = inferencer.preview(_with_gold_mark(_plain_sample(sample), gold), list(map(_plain_sample, shots)), desk)
    except Exception:  # templates and formats may be the user's own, and expect whatever they like of a value
        found = []
    return found if len(found) == count else [None] * count


def _plain_sample(sample: Sample) -> Sample:
    """A sample of its own, because examples are known by their ids. Its label stays, for tables by label."""
    return replace(
        sample, id=f"plain {sample.id}", fields={name: _plain_value(value) for name, value in sample.fields.items()}
    )


def _plain_value(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain_value(entry) for entry in value]
    if isinstance(value, Mapping):  # a message: its role and its shape must stay
        return {key: _without_braces(entry) for key, entry in value.items()}
    if has_marker(value):
        return _without_braces(value)
    return PLAIN if isinstance(value, str) and value.strip() else value


def _without_braces(value: Any) -> Any:
    return value.replace("{", "(").replace("}", ")") if isinstance(value, str) else value


def _with_gold_mark(sample: Sample, column: str | None) -> Sample:
    if column is None or column not in sample.fields:
        return sample
    value = sample.fields[column]
    # Of a dialogue only the last answer is asked for; the earlier ones are part of the question.
    marked = [*value[:-1], GOLD] if isinstance(value, list) and value else GOLD
    return replace(sample, fields={**sample.fields, column: marked})
