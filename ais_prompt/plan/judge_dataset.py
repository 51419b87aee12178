"""The questions to a judge, as a dataset of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.types import (
    ChatMessage,
    DatasetSpec,
    EvalSpec,
    InferSpec,
    JudgeSpec,
    PartSpec,
    Prompts,
)
from ais_prompt.types.request import Content
from ais_prompt.utils.digest import canonical

ANSWER: Final = "prediction"
OTHER_ANSWER: Final = "prediction2"
CONVERSATION: Final = "conversation"
OTHER_CONVERSATION: Final = "conversation2"
GOLD: Final = "gold"
"""Columns of a judge's prompt, next to those of the row; they hide a row's own of these names."""


def judge_dataset(judge: JudgeSpec, dataset: DatasetSpec) -> DatasetSpec:
    """Return the judges' questions as a dataset: the same rows with the judge's prompt template."""
    asking = InferSpec(
        ice_template=None,
        prompt_template=judge.prompt_template,
        retriever=PartSpec("ZeroRetriever", where=judge.where),
        inferencer=PartSpec("GenInferencer", where=judge.where),
        where=judge.where,
    )
    # Without an output column nothing is hidden: the judge may see the gold.
    reader = replace(dataset.reader, output_column=None)
    return replace(dataset, reader=reader, infer=asking, eval=EvalSpec())


class ShownAnswer(Struct, frozen=True):
    """An answer as a judge sees it.

    Attributes:
        answer: after postprocessing.
        conversation: what was said before it; None if it is not the turn of a dialogue.
    """

    answer: Any
    conversation: str | None = None


def judge_fields(fields: Mapping[str, Any], shown: ShownAnswer, gold: Any) -> dict[str, Any]:
    """Return the columns of a judge's template: those of the row, the answer and the gold."""
    before = {} if shown.conversation is None else {CONVERSATION: shown.conversation}
    return {**fields, **before, ANSWER: shown.answer, GOLD: gold}


def shown_answer(answer: Any, prompt: Prompts) -> ShownAnswer:
    """Return an answer with the prompt of its turn, if it is one of a dialogue: else the prompt is empty."""
    return ShownAnswer(answer, _conversation_text(prompt) if prompt else None)


def _conversation_text(prompt: Prompts) -> str:
    """Return the prompt of a turn as a judge sees it: who says what, up to the question that the answer is about."""
    if isinstance(prompt, str):
        return prompt
    messages = [message for message in prompt if isinstance(message, ChatMessage)]
    return "\n\n".join(f"{message.role.capitalize()}: {_text(message.content)}" for message in messages)


def _text(content: Content) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) if "text" in part else canonical(dict(part)) for part in content)


def pair_fields(fields: Mapping[str, Any], first: ShownAnswer, second: ShownAnswer, gold: Any) -> dict[str, Any]:
    """Return the columns of a template that compares two answers."""
    before = {} if second.conversation is None else {OTHER_CONVERSATION: second.conversation}
    return {**judge_fields(fields, first, gold), **before, OTHER_ANSWER: second.answer}
