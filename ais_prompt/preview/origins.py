"""Find where every character of a prompt comes from: data, template, example, or the model's format.

The prompt is made once more with marks around everything that goes into it: around each text of the config, each value
of the data, and each example. What is inside of no mark is the format's own. The prompt without its marks must be the
prompt that is sent, or else nothing is claimed.

A mark is a character of Unicode's private planes in front of a text, with another one behind it. Templates and chat
formats pass texts on as they are, so the marks reach the prompt. Each mark of a text of the config holds its config
path, such as ``datasets[0].infer_cfg.prompt_template.template.round[0].prompt``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, product
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from ais_prompt.inferencers import InferenceContext, Preview
from ais_prompt.plan import Task, build_context, build_templates, chat_format_of
from ais_prompt.prompts import (
    END,
    ROLE_NAMES,
    STARTS,
    ChatFormat,
    Filled,
    Item,
    MessagesFormat,
    Mode,
    PromptBuilder,
    Template,
    TokenizerChatFormat,
    has_marker,
)
from ais_prompt.terminal import silence
from ais_prompt.types import ChatMessage, DatasetSpec, MetaTemplateSpec, ModelSpec, PartSpec, RoleSpec, Sample
from ais_prompt.utils import prompt_texts

Kind: TypeAlias = Literal["data", "template", "meta template", "role template", "chat template", "unknown"]

BETWEEN_SHOTS: Final = 0
"""The shot of a text between in-context examples, or after the last one."""

_PLANES: Final = (range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))
_MARK: Final = re.compile(f"([{''.join(f'{chr(plane[0])}-{chr(plane[-1])}' for plane in _PLANES)}])")
_TEXT_PART: Final = re.compile(f"({re.escape(STARTS['text'])})(.*?)(?={re.escape(END)}|$)", re.DOTALL)
Wrap: TypeAlias = Callable[[str, str, str], str]
"""Marks a text, given its config path and the role that says it."""
SAID: Final = ("prompt", "content", "prompt_mm", "begin", "end")
"""The keys of a turn or message with texts that are sent."""
TEMPLATES: Final = ("template", "messages")
"""The arguments of templates that hold texts."""
_ROLE_OF: Final = {name: role for role, name in ROLE_NAMES.items()}


class Origin(Struct, frozen=True):
    """Where a piece of a prompt comes from.

    Attributes:
        kind: ``data``, a value of a row; ``template``, a text of the dataset's templates; or what the model's side
            writes around these: its meta template, its role template, or the chat template of its tokenizer.
            ``unknown`` where the format changes the texts.
        column: the column of a value; empty for others.
        shot: number of the in-context example that it belongs to, from 1, or `BETWEEN_SHOTS`; None outside of examples.
        where: config path of the text, or for data of the text with the placeholder,
            or of the inferencer that adds it; empty if the config has none.
        role: who says it; empty for a text without a role.
    """

    kind: Kind
    column: str = ""
    shot: int | None = None
    where: str = ""
    role: str = ""

    def inside(self, outer: Origin) -> Origin:
        """Return this origin with what it does not say from the text around it; the outermost role is the one sent."""
        shot = outer.shot if self.shot is None else self.shot
        return Origin(self.kind, self.column, shot, self.where or outer.where, outer.role or self.role)


class Span(Struct, frozen=True):
    """A piece of a prompt that comes from one place."""

    text: str
    origin: Origin

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"text": self.text, **asdict(self.origin)}


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
    chat = context.chat
    if isinstance(chat, TokenizerChatFormat):
        marking = _MarkingMessagesFormat(chat.messages, marks, where)
        return replace(context, chat=TokenizerChatFormat(marking, chat.tokenizer, chat.media_kinds))
    return replace(context, chat=_MarkingFormat(chat, marks, where))


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


class _MarkingFormat:
    """Mark the texts of the dataset's templates before the model's format gets them."""

    def __init__(self, chat: ChatFormat | MessagesFormat, marks: Marks, where: str) -> None:
        self._chat = chat
        self._marks = marks
        self._where = where

    def render(self, prompt: Filled, mode: Mode) -> Any:
        return self._chat.render(_wrapped(prompt, Origin("template", where=self._where), self._marks), mode)


class _MarkingMessagesFormat(_MarkingFormat):
    """Mark the texts that become messages of a chat template, and the messages."""

    def render(self, prompt: Filled, mode: Mode) -> tuple[ChatMessage, ...]:
        return tuple(
            replace(message, content=self._marks.wrap(message.content, Origin("meta template", role=message.role)))
            if isinstance(message.content, str)
            else message
            for message in super().render(prompt, mode)
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


class Marks:
    """Put marks around texts, and read them back.

    Args:
        outside: the origin of texts without marks.
        used: texts whose characters cannot be marks.
        around_blanks: whether white space at either end of a text is inside of its marks. A chat template that strips
            texts would find none to strip then.
        in_parts: whether a value with AISBench's markers of texts and media is a list of parts, of which only the texts
            are marked, or a text like any other.
    """

    def __init__(self, outside: Origin, used: Iterable[str], *, around_blanks: bool, in_parts: bool) -> None:
        self._outside = outside
        self._around_blanks = around_blanks
        self._in_parts = in_parts
        taken = set(chain.from_iterable(used))
        self._free = (sign for sign in map(chr, chain(*_PLANES)) if sign not in taken)
        self._origins: dict[str, Origin | None] = {}  # None for a mark behind a text

    def wrap(self, text: str, origin: Origin) -> str:
        """Put a text between two marks; an empty text stays as it is, and so does every text if no mark is left."""
        core = text if self._around_blanks else text.strip()
        before, behind = (next(self._free, ""), next(self._free, "")) if core else ("", "")
        if not behind:
            return text
        self._origins |= {before: origin, behind: None}
        return text.replace(core, f"{before}{core}{behind}", 1)

    def wrap_around(self, text: str, origin: Origin, tokens: Iterable[str]) -> str:
        """Put marks around what is between tokens, so that a token that is a whole text stays a whole text."""
        kept = [token for token in tokens if token]
        if not kept:
            return self.wrap(text, origin)
        pieces = re.split(f"({'|'.join(map(re.escape, kept))})", text)
        return "".join(piece if number % 2 else self.wrap(piece, origin) for number, piece in enumerate(pieces))

    def wrap_value(self, value: str, origin: Origin) -> str:
        """Return a value of the data with marks."""
        if not (self._in_parts and has_marker(value)):
            return self.wrap(value, origin)
        return _TEXT_PART.sub(lambda found: found[1] + self.wrap(found[2], origin), value)

    def read(self, text: str) -> tuple[Span, ...]:
        """Return the spans of a marked text."""
        return tuple(
            Span("".join(piece for piece, _ in group), origin)
            for origin, group in groupby(self._pieces(text), key=lambda pair: pair[1])
        )

    def _pieces(self, text: str) -> Iterator[tuple[str, Origin]]:
        around = [self._outside]
        for piece in _MARK.split(text):
            origin = self._origins.get(piece, around[-1])
            if piece not in self._origins:
                if piece:
                    yield piece, around[-1]
            elif origin is not None:
                around.append(origin.inside(around[-1]))
            elif len(around) > 1:
                around.pop()


def marked_dataset(spec: DatasetSpec, marks: Marks) -> DatasetSpec:
    """Return the dataset with marks in the texts of its templates."""
    infer = spec.infer
    ice, prompt = (part and _marked_part(part, marks) for part in (infer.ice_template, infer.prompt_template))
    return replace(spec, infer=replace(infer, ice_template=ice, prompt_template=prompt))


def marked_model(spec: ModelSpec, marks: Marks) -> ModelSpec:
    """Return the model with marks in the texts of its meta template and of its role template."""
    return replace(spec, meta_template=_marked_meta(spec, marks), prompt_template=_marked_roles(spec, marks))


def _marked_part(part: PartSpec, marks: Marks) -> PartSpec:
    tokens = [token for name in ("ice_token", "sep_token") if isinstance(token := part.args.get(name), str)]
    tokens += [] if "ice_token" in part.args else ["</E>"]  # the default of RawPromptTemplate

    def wrap(text: str, where: str, role: str) -> str:
        return marks.wrap_around(text, Origin("template", where=where, role=role), tokens)

    texts = {name: _marked(part.args[name], f"{part.where}.{name}", wrap) for name in TEMPLATES if name in part.args}
    return replace(part, args={**part.args, **texts})


def _marked(value: Any, where: str, wrap: Wrap, role: str | None = None) -> Any:
    """Return a template, section, turn or message with marks in its texts.

    With a role it is what a turn says: a text, a list of texts and token ids, or parts.
    """
    if isinstance(value, str):
        return wrap(value, where, role or "")
    if isinstance(value, list | tuple):
        return [_marked(entry, f"{where}[{number}]", wrap, role) for number, entry in enumerate(value)]
    if not isinstance(value, Mapping) or (role is None and "expand_column" in value):
        return value
    keys: Iterable[str] = value
    if role is not None:  # a part in OpenAI form
        keys = ["text"] if isinstance(value.get("text"), str | Mapping) else []
    elif isinstance(value.get("role"), str) and not set(SAID).isdisjoint(value):
        role, keys = value["role"], [key for key in SAID if key in value]
    return {**value, **{key: _marked(value[key], f"{where}.{key}", wrap, role) for key in keys}}


def _marked_meta(spec: ModelSpec, marks: Marks) -> MetaTemplateSpec | None:
    meta, where = spec.meta_template, f"{spec.where}.meta_template"
    if meta is None:
        return None

    def wrap(text: str, place: str, role: str) -> str:
        return marks.wrap(text, Origin("meta template", where=place, role=role))

    def marked(item: RoleSpec | str, place: str) -> Any:
        if isinstance(item, str):
            return wrap(item, place, "")
        texts = {
            key: _marked(getattr(item, key), f"{place}.{key}", wrap, item.role) for key in ("begin", "end", "prompt")
        }
        return replace(item, **texts)

    def marked_list(items: tuple[RoleSpec | str, ...] | None, place: str) -> Any:
        return items and tuple(marked(item, f"{place}[{number}]") for number, item in enumerate(items))

    return replace(
        meta,
        round=marked_list(meta.round, f"{where}.round"),
        reserved=marked_list(meta.reserved, f"{where}.reserved_roles"),
        begin=_marked(meta.begin, f"{where}.begin", wrap),
        end=_marked(meta.end, f"{where}.end", wrap),
        messages=tuple(
            ChatMessage(one.role, _marked(one.content, f"{where}[{number}].content", wrap, one.role))
            for number, one in enumerate(meta.messages)
        ),
    )


def _marked_roles(spec: ModelSpec, marks: Marks) -> Mapping[str, Any] | str | None:
    table = spec.prompt_template
    if not isinstance(table, Mapping):
        return table
    where = f"{spec.where}.prompt_template"

    def wrap(text: str, place: str, role: str) -> str:
        return marks.wrap(text, Origin("role template", where=place, role=_ROLE_OF.get(role, role)))

    return {role: _marked(texts, f"{where}.{role}", wrap, role) for role, texts in table.items()}
