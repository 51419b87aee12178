"""Build the prompts of one sample, and again with neutral data to see what the templates write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.checks.warning import GOLD, NEUTRAL_SHOT, NEUTRAL_TEXT, PromptProbe
from ais_prompt.inferencers import InferenceContext, Inferencer, Preview
from ais_prompt.models.base import AsyncModel
from ais_prompt.plan.build import knows_stop_tokens
from ais_prompt.prompts.api_format import ApiFormat
from ais_prompt.prompts.chat_formats import ChatFormat
from ais_prompt.prompts.format import MessagesFormat
from ais_prompt.prompts.message_media import LocalFilesFormat
from ais_prompt.prompts.meta_template import MetaTemplate
from ais_prompt.prompts.multimodal import has_marker
from ais_prompt.prompts.role_format import META_TEMPLATE, RoleTemplateFormat, RoleTemplateMessages, hides_answers
from ais_prompt.prompts.text_format import LanguageModelFormat
from ais_prompt.prompts.tokenizer_template import TokenizerChatFormat
from ais_prompt.types import Sample, TaskSpec

HARMLESS: Final = str.maketrans("{}\\", "()/")
"""What becomes of braces and backslashes in messages and media of the data, which keep their texts otherwise."""


def probe_prompts(
    task: TaskSpec, inferencer: Inferencer, context: InferenceContext, sample: Sample, shots: Sequence[Sample]
) -> list[PromptProbe]:
    """Build every prompt of a sample.

    Raises:
        AisPromptError: one of them cannot be built.
    """
    seen = inferencer.preview(sample, shots, context)
    meta = context.chat.meta if isinstance(context.chat, LanguageModelFormat) else None
    chat = context.chat.inner if isinstance(context.chat, LocalFilesFormat) else context.chat
    answers_hidden = isinstance(chat, RoleTemplateFormat | RoleTemplateMessages) and hides_answers(chat.template)
    return [
        PromptProbe(
            task,
            preview,
            neutral,
            meta,
            gives_messages=task.model.prompt_template is None and context.model.prompt_style != "text",
            served=isinstance(context.model, AsyncModel),
            fields=sample.fields,
            framing=_meta_template_of(context.chat),
            continued=inferencer.mask is not None,
            knows_stop_tokens=knows_stop_tokens(context.model),
            hides_answers=answers_hidden,
        )
        for preview, neutral in zip(
            seen, _neutral_previews(task, inferencer, context, sample, shots, len(seen)), strict=True
        )
    ]


def _meta_template_of(chat: ChatFormat | MessagesFormat) -> MetaTemplate | None:
    """Return the meta template of a format; None if it has none."""
    match chat:
        case RoleTemplateFormat():
            return META_TEMPLATE
        case LocalFilesFormat():
            return _meta_template_of(chat.inner)
        case TokenizerChatFormat():
            return _meta_template_of(chat.messages)
        case ApiFormat() | LanguageModelFormat():
            return chat.meta
        case _:
            return None


def _neutral_previews(
    task: TaskSpec,
    inferencer: Inferencer,
    context: InferenceContext,
    sample: Sample,
    shots: Sequence[Sample],
    count: int,
) -> Sequence[Preview | None]:
    """Build the same prompts with neutral data; None for each if a user-defined part cannot handle such data."""
    gold = task.dataset.reader.output_column
    try:
        found = inferencer.preview(
            _with_gold_mark(_neutral_sample(sample), gold),
            [_neutral_sample(shot, NEUTRAL_SHOT) for shot in shots],
            context,
        )
    except Exception:  # templates and formats may be the user's own, and expect whatever they like of a value
        found = []
    return found if len(found) == count else [None] * count


def _neutral_sample(sample: Sample, text: str = NEUTRAL_TEXT) -> Sample:
    """Return the sample under another id, since ids distinguish examples; its label stays, for label tables."""
    return replace(
        sample,
        id=f"neutral {sample.id}",
        fields={name: _neutral_value(value, text) for name, value in sample.fields.items()},
    )


def _neutral_value(value: Any, text: str) -> Any:
    if isinstance(value, list | tuple):
        return [_neutral_value(entry, text) for entry in value]
    if isinstance(value, Mapping):  # a message: its role and its shape must stay
        return {key: _harmless(entry) for key, entry in value.items()}
    if has_marker(value):
        return _harmless(value)
    return text if isinstance(value, str) and value.strip() else value


def _harmless(value: Any) -> Any:
    """Return a text without placeholders and escaped newlines, which would look like those of a template."""
    return value.translate(HARMLESS) if isinstance(value, str) else value


def _with_gold_mark(sample: Sample, column: str | None) -> Sample:
    if column is None or column not in sample.fields:
        return sample
    value = sample.fields[column]
    # Of a dialogue only the last answer is asked for; the earlier ones are part of the question.
    marked = [*value[:-1], GOLD] if isinstance(value, list) and value else GOLD
    return replace(sample, fields={**sample.fields, column: marked})
