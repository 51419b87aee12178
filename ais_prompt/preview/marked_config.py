"""Mark the texts of a config: those of the dataset's templates, and those of the model's meta or role template.

Each mark holds the config path of its text, such as ``datasets[0].infer_cfg.prompt_template.template.round[0].prompt``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.preview.marks import Marks, Origin
from ais_prompt.prompts.role_format import ROLE_NAMES
from ais_prompt.types import ChatMessage, DatasetSpec, MetaTemplateSpec, ModelSpec, PartSpec
from ais_prompt.types.spec import RoleSpec

Wrap: TypeAlias = Callable[[str, str, str], str]
"""Marks a text, given its config path and the role that says it."""

SAID: Final = ("prompt", "content", "prompt_mm", "begin", "end")
"""The keys of a turn or message with texts that are sent."""

TEMPLATES: Final = ("template", "messages")
"""The arguments of templates that hold texts."""

_ROLE_OF: Final = {name: role for role, name in ROLE_NAMES.items()}


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


def _marked(value: Any, where: str, wrap: Wrap) -> Any:
    """Return a template, section, turn or message with marks in its texts."""
    if isinstance(value, str):
        return wrap(value, where, "")
    if isinstance(value, list | tuple):
        return [_marked(entry, f"{where}[{number}]", wrap) for number, entry in enumerate(value)]
    if not isinstance(value, Mapping) or "expand_column" in value:
        return value
    if isinstance(role := value.get("role"), str) and not set(SAID).isdisjoint(value):
        said = {key: _said(value[key], f"{where}.{key}", role, wrap) for key in SAID if key in value}
        return {**value, **said}
    return {key: _marked(entry, f"{where}.{key}", wrap) for key, entry in value.items()}


def _said(value: Any, where: str, role: str, wrap: Wrap) -> Any:
    """Return what a turn says with marks in its texts: a text, a list of texts and token ids, or parts."""
    if isinstance(value, str):
        return wrap(value, where, role)
    if isinstance(value, list | tuple):
        return [_said(entry, f"{where}[{number}]", role, wrap) for number, entry in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("text"), str):  # a part in OpenAI form
        return {**value, "text": wrap(value["text"], f"{where}.text", role)}
    return {
        key: _said(part, f"{where}.{key}", role, wrap) if isinstance(part, Mapping) and key == "text" else part
        for key, part in value.items()
    }


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
            key: _said(getattr(item, key), f"{place}.{key}", item.role, wrap) for key in ("begin", "end", "prompt")
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
            ChatMessage(one.role, _said(one.content, f"{where}[{number}].content", one.role, wrap))
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

    return {role: _said(texts, f"{where}.{role}", role, wrap) for role, texts in table.items()}
