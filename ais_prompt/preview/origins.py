"""Find where every character of a prompt comes from: data, template, example, or the model's format.

The prompt is made once more with marks around everything that goes into it: around each text of the config, each value
of the data, and each example. What is inside of no mark is the format's own. The prompt without its marks must be the
prompt that is sent, or else nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from ais_prompt.inferencers import InferenceContext, Preview
from ais_prompt.plan import Task, build_context, build_templates, chat_format_of
from ais_prompt.preview.marks import BETWEEN_SHOTS, SAID, Marks, Origin, Span, marked_dataset, marked_model
from ais_prompt.prompts import (
    ChatFormat,
    Filled,
    Item,
    MessagesFormat,
    Mode,
    PromptBuilder,
    Template,
    TokenizerChatFormat,
)
from ais_prompt.terminal import silence
from ais_prompt.types import ChatMessage, Prompt, Sample
from ais_prompt.utils import prompt_texts

Origins: TypeAlias = tuple[tuple[Span, ...], ...]
"""The spans of a prompt that is one text, or of each message in order; a message with media has those of its texts."""


class Way(NamedTuple):
    """How marks are set.

    Attributes:
        in_config: whether the texts of the config have marks of their own, or only what the templates make of them.
        in_lists: whether the entries of a list have marks of their own, as turns need, or the text of the whole list.
        in_parts, around_blanks: as in `Marks`.
    """

    in_config: bool
    in_lists: bool
    in_parts: bool
    around_blanks: bool


WAYS: Final = tuple(Way(*flags) for flags in product((True, False), (False, True), (False, True), (True, False)))
"""Tried in this order until the marks change nothing else in a prompt."""


def find_origins(task: Task, sample: Sample, shots: Sequence[Sample], seen: Sequence[Preview]) -> list[Origins | None]:
    """Return the origins of every prompt of a sample; None for one whose format changes its texts.

    Args:
        task: what the prompts belong to.
        sample, shots: the question and its in-context examples.
        seen: the prompts themselves.
    """
    found: list[Origins | None] = [None] * len(seen)
    used = [text for view in seen for text in prompt_texts(view.prompt)]
    for way in WAYS:
        if None not in found:
            break
        marks = Marks(_outside(task), used, around_blanks=way.around_blanks, in_parts=way.in_parts)
        marked = _marked_previews(task, sample, shots, marks, way)
        if len(marked) != len(seen):
            continue
        for number, (view, origins) in enumerate(zip(seen, marked, strict=True)):
            if found[number] is None and prompt_texts(view.prompt) == unmarked(origins):
                found[number] = origins
    return found


def _outside(task: Task) -> Origin:
    """Return the origin of the outermost texts."""
    model = task.spec.model
    if model.prompt_template is not None:
        return Origin("role template", where=f"{model.where}.prompt_template")
    if isinstance(task.context.chat, TokenizerChatFormat):
        return Origin("chat template")
    return Origin("meta template", where=f"{model.where}.meta_template" if model.meta_template else "")


def _marked_previews(task: Task, sample: Sample, shots: Sequence[Sample], marks: Marks, way: Way) -> list[Origins]:
    question = _marked_sample(sample, marks, None, in_lists=way.in_lists)
    examples = [
        _marked_sample(shot, marks, number, in_lists=way.in_lists) for number, shot in enumerate(shots, start=1)
    ]
    try:
        with silence():  # the prompt without marks had the warnings already
            context = _marked_context(task, examples, marks, in_config=way.in_config)
            views = task.inferencer.preview(question, examples, context)
        return [tuple(_placed(marks.read(text), task) for text in prompt_texts(view.prompt)) for view in views]
    except Exception:  # templates and formats may be the user's own, and expect whatever they like of a value
        return []


def _placed(spans: Iterable[Span], task: Task) -> tuple[Span, ...]:
    """Return spans in which values outside of every template, such as choices, have the place of the inferencer."""
    where = task.spec.dataset.infer.inferencer.where
    return tuple(
        replace(span, origin=replace(span.origin, where=where))
        if span.origin.kind == "data" and not span.origin.where
        else span
        for span in spans
    )


def _marked_context(task: Task, examples: Sequence[Sample], marks: Marks, *, in_config: bool) -> InferenceContext:
    dataset, model = task.spec.dataset, task.spec.model
    if in_config:
        dataset, model = marked_dataset(dataset, marks), marked_model(model, marks)
    ice, prompt = build_templates(dataset, task.inferencer)
    retriever, infer = task.dataset.retriever, dataset.infer
    separator, end = (
        marks.wrap(text, Origin("template", shot=BETWEEN_SHOTS, where=infer.retriever.where))
        for text in (retriever.ice_separator, retriever.ice_eos_token)
    )
    template = prompt or ice
    if ice is not None and template is not None and template.ice_token is not None:
        ice = _MarkedExamples(ice, examples, marks, infer.ice_template.where if infer.ice_template else "")
    else:
        ice = None
    builder = PromptBuilder(
        ice,
        template,
        output_column=dataset.reader.output_column,
        ice_separator=separator,
        ice_eos_token=end,
        mask=task.inferencer.mask or "",
        shots_expected=retriever.gives_shots,
    )
    context = build_context(model, task.model, chat_format_of(model, task.model), builder, task.data)
    where = (infer.prompt_template or infer.ice_template or infer).where
    return replace(context, chat=_marking_format(context.chat, marks, where))


def _marked_sample(sample: Sample, marks: Marks, shot: int | None, *, in_lists: bool) -> Sample:
    """Return the sample under another id, since ids distinguish examples; its label stays, for label tables."""
    fields = {
        column: _marked_value(value, Origin("data", column, shot), marks, in_lists=in_lists)
        for column, value in sample.fields.items()
    }
    return replace(sample, id=f"{sample.id}, marked as example {shot}", fields=fields)


def _marked_value(value: Any, origin: Origin, marks: Marks, *, in_lists: bool) -> Any:
    """Return a value with marks in its entries or messages, or around its text."""
    if isinstance(value, list | tuple) and (in_lists or all(isinstance(entry, Mapping) for entry in value)):
        return [_marked_value(entry, origin, marks, in_lists=in_lists) for entry in value]
    if isinstance(value, Mapping):  # a message: its role must stay
        return {
            key: _wrapped_content(entry, origin, marks) if key == "content" else entry for key, entry in value.items()
        }
    return marks.wrap_value(str(value), origin)


class _MarkedExamples:
    """A template that marks each in-context example with its number."""

    def __init__(self, template: Template, examples: Sequence[Sample], marks: Marks, where: str) -> None:
        self._template = template
        self._examples = examples
        self._marks = marks
        self._where = where

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:
        number = next(number for number, shot in enumerate(self._examples, start=1) if shot.fields is fields)
        origin = Origin("template", shot=number, where=self._where)
        return _wrapped(self._template.render_example(fields, label=label, drop=drop), origin, self._marks)


def _marking_format(chat: ChatFormat, marks: Marks, where: str) -> ChatFormat:
    """Return a format of the same kind that marks the texts that it gets, and the messages of a chat template."""
    if isinstance(chat, TokenizerChatFormat):
        return TokenizerChatFormat(_MarkedMessages(chat.messages, marks, where), chat.tokenizer, chat.media_kinds)
    return _MarkingFormat(chat, marks, where)


class _MarkingFormat:
    """Mark the texts of the dataset's templates before the model's format gets them."""

    def __init__(self, chat: ChatFormat, marks: Marks, where: str) -> None:
        self._chat = chat
        self._marks = marks
        self._where = where

    def render(self, prompt: Filled, mode: Mode) -> Prompt:
        return self._chat.render(_wrapped(prompt, Origin("template", where=self._where), self._marks), mode)


class _MarkedMessages:
    """Mark the texts that become messages of a chat template, and the messages."""

    def __init__(self, messages: MessagesFormat, marks: Marks, where: str) -> None:
        self._messages = messages
        self._marks = marks
        self._where = where

    def render(self, prompt: Filled, mode: Mode) -> tuple[ChatMessage, ...]:
        marked = _wrapped(prompt, Origin("template", where=self._where), self._marks)
        return tuple(
            replace(message, content=self._marks.wrap(message.content, Origin("meta template", role=message.role)))
            if isinstance(message.content, str)
            else message
            for message in self._messages.render(marked, mode)
        )


def _wrapped(filled: Filled, origin: Origin, marks: Marks) -> Filled:
    """Return a filled template with marks around each of its texts; a turn also marks who says it."""
    if isinstance(filled, str):
        return marks.wrap(filled, origin)
    return filled.with_items(lambda item: _wrapped_item(item, origin, marks))


def _wrapped_item(item: Item, origin: Origin, marks: Marks) -> Item:
    if isinstance(item, str):
        return marks.wrap(item, origin)
    said = replace(origin, role=str(item.get("role", "")))
    return {key: _wrapped_content(value, said, marks) if key in SAID else value for key, value in item.items()}


def _wrapped_content(content: Any, origin: Origin, marks: Marks) -> Any:
    """Return a text, or parts in OpenAI form, with marks around the texts."""
    if isinstance(content, str):
        return marks.wrap(content, origin)
    if not isinstance(content, list | tuple):
        return content
    return [
        {**part, "text": marks.wrap(part["text"], origin)}
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        else _wrapped_content(part, origin, marks)
        if isinstance(part, str)
        else part
        for part in content
    ]


def unmarked(origins: Origins) -> list[str]:
    """Return the texts of a prompt, given their pieces."""
    return ["".join(span.text for span in spans) for spans in origins]
