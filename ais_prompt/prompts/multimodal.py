"""`MMPromptTemplate`: dialogues with images, audio and video, from a column with AISBench's markers.

The rules are those of AISBench, with its faults fixed: the markers may be in any input column, the other columns are
filled too, a value that is a URL gets no prefix from the template, and in-context examples are shown with their media.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template, WarnOnce
from ais_prompt.prompts.compiled import (
    SECTIONS,
    CompiledDialogueTemplate,
    Tokens,
    check_dialogue,
    check_token,
    has_token,
    missing_token,
    section_items,
)
from ais_prompt.prompts.prompt_list import Item, PromptList, column_keys, column_marks, compile_text
from ais_prompt.registry import TEMPLATES
from ais_prompt.utils import has_scheme, listed

END: Final = "<AIS_CONTENT_TAG>"
"""The marker at the end of each piece; the last piece may lack it."""

STARTS: Final[dict[str, str]] = {
    "text": "<AIS_TEXT_START>",
    "image": "<AIS_IMAGE_START>",
    "video": "<AIS_VIDEO_START>",
    "audio": "<AIS_AUDIO_START>",
}
"""Modality → the marker at the start of its pieces."""


def has_marker(value: object) -> bool:
    """Return whether a value is a text that contains a start marker."""
    return isinstance(value, str) and any(start in value for start in STARTS.values())


CONTENT: Final = "content"
"""The column of the pieces in AISBench."""

PLACEHOLDERS: Final = {"text": "{question}", "image": "{image}", "video": "{video}", "audio": "{audio}"}
"""Modality → the placeholder of its value."""


@TEMPLATES.register_module()
class MMPromptTemplate(Template):
    """A dialogue template whose turns may have ``prompt_mm`` instead of ``prompt``.

    ``prompt_mm`` maps a modality (``text``, ``image``, ``video``, ``audio``) to a part in OpenAI form::

        prompt_mm={
            "text": {"type": "text", "text": "{question}"},
            "image": {"type": "image_url", "image_url": {"url": "file://{image}"}},
        }

    Each piece of the row's marked column (``<AIS_IMAGE_START>cat.png<AIS_CONTENT_TAG>``) becomes one such part, in the
    order of the row. The column is ``content`` if it has markers, else the column that has.

    Args:
        template: a dialogue. The other columns are filled in text parts, prompts and texts. The gold is removed, so its
            placeholder is not filled.
        ice_token: the place of the in-context examples: in a text, or in the ``prompt`` of a turn if they are texts.
        sep_token: deleted from texts and prompts.

    Raises:
        PromptError: the template has the wrong shape.
    """

    form: Form = "dialogue"

    def __init__(self, template: Mapping[str, Any], ice_token: str | None = None, sep_token: str | None = None) -> None:
        self.template = check_dialogue(template, type(self).__name__)
        self.ice_token = check_token("ice_token", ice_token)
        self.sep_token = check_token("sep_token", sep_token)
        self._warn = WarnOnce(logging.getLogger(__name__))
        _check_media_turns([item for section in template.values() for item in section_items(section)])

    def check_ice_token(self) -> None:
        """Check that ``ice_token`` is in a text or in the ``prompt`` of a turn.

        Raises:
            PromptError: it is not, so the examples would be lost.
        """
        if self.ice_token is not None and not has_token(self.template, self.ice_token):
            raise missing_token("template", self.ice_token)

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the fields without the gold."""
        return {name: value for name, value in fields.items() if name != column}

    def render(
        self,
        fields: Mapping[str, Any],
        *,
        examples: Filled = "",
        label: Any = None,  # noqa: ARG002  # a dialogue has no labels
        keep_sep: bool = False,  # noqa: ARG002  # media have no perplexity
    ) -> PromptList:
        """Fill the dialogue; turns with media have a list of parts as ``prompt_mm``.

        Raises:
            PromptError: no column has markers, ``prompt_mm`` lacks the modality of a piece, or the examples do not fit
                the template.
        """
        sections = {name: self.template[name] for name in SECTIONS if name in self.template}
        return self._rendered(sections, fields, (self.sep_token,), self.ice_token, examples)

    def render_example(
        self,
        fields: Mapping[str, Any],
        label: Any = None,  # noqa: ARG002  # a dialogue has no labels
        drop: Sequence[str] = (),
    ) -> PromptList:
        """Render one in-context example: the round with its media, answer included, without the tokens.

        Raises:
            PromptError: as `render`.
        """
        tokens = (self.ice_token, self.sep_token, *drop)
        return self._rendered({"ice": self.template["round"]}, fields, tokens, None, "")

    def _rendered(
        self,
        sections: Mapping[str, Any],
        fields: Mapping[str, Any],
        drop: Tokens,
        ice_token: str | None,
        examples: Filled,
    ) -> PromptList:
        content = _content_column(fields)
        pieces = list(self._pieces(str(fields[content])))
        columns = {name: value for name, value in fields.items() if name != content}
        template = CompiledDialogueTemplate(sections, column_keys(columns), drop, ice_token)
        texts = column_marks(columns)
        return template.fill(columns, examples).with_items(lambda item: _with_parts(item, pieces, texts))

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the media parts of the row.

        Raises:
            PromptError: as `render`.
        """
        turns = [item for item in self.render(fields) if not isinstance(item, str)]
        return [part for turn in turns for part in turn.get("prompt_mm", []) if part["type"] != "text"]

    def _pieces(self, content: str) -> Iterator[tuple[str, str]]:
        """Yield modality and value of each piece, in order.

        A piece is the text between two `END` markers. The marker of its modality must be at its beginning; one further
        inside has no effect.
        """
        for piece in content.split(END):
            modality = next((name for name, start in STARTS.items() if piece.startswith(start)), None)
            if modality is not None:
                yield modality, piece.replace(STARTS[modality], "")
            elif piece.strip():
                self._warn("text without a start marker is lost; the first one is %r", piece[:80])


def _content_column(fields: Mapping[str, Any]) -> str:
    tagged = [name for name, value in fields.items() if has_marker(value)]
    if CONTENT in fields and (has_marker(fields[CONTENT]) or not tagged):
        return CONTENT
    if len(tagged) == 1:
        return tagged[0]
    found = f"the columns {listed(tagged)} have markers" if tagged else "no column has markers"
    raise PromptError(
        f"{found} such as {STARTS['image']}, but exactly one must say what the parts are (the row has "
        f"{listed(fields)})",
        fix=f"name the column {CONTENT!r}, and write e.g. <AIS_IMAGE_START>cat.png<AIS_CONTENT_TAG> in it",
    )


def _with_parts(item: Item, pieces: Sequence[tuple[str, str]], columns: Mapping[str, object]) -> Item:
    """Return the item with the row's pieces as parts; texts and the turns of examples stay unchanged."""
    if isinstance(item, str) or not isinstance(item.get("prompt_mm"), Mapping):
        return item
    entries: Mapping[str, Any] = item["prompt_mm"]
    parts: list[dict[str, Any]] = []
    for modality, value in pieces:
        if modality not in entries:
            raise PromptError(
                f"the row has a piece of {modality}, but prompt_mm has only {', '.join(entries)}",
                fix=f"add {modality!r} to prompt_mm",
            )
        parts.append(_with_value(entries[modality], PLACEHOLDERS[modality], value, columns))
    return {**item, "prompt_mm": parts}


def _with_value(entry: Any, placeholder: str, value: str, columns: Mapping[str, object]) -> Any:
    """Return a copy of an entry of ``prompt_mm`` with the piece's value filled in; columns are filled in text only."""
    if isinstance(entry, Mapping):
        return {key: _with_value(inner, placeholder, value, columns) for key, inner in entry.items()}
    if not isinstance(entry, str):
        return entry
    is_text = placeholder == PLACEHOLDERS["text"]
    if not is_text and placeholder in entry and has_scheme(value):
        return value
    values = {**(columns if is_text else {}), placeholder: value}
    return compile_text(entry, tuple(values)).fill(values)


def _check_media_turns(items: Sequence[Item]) -> None:
    turns = [item for item in items if isinstance(item, Mapping) and "prompt_mm" in item]
    if not turns:
        raise PromptError(
            "no turn has prompt_mm, so the parts would be lost", fix="use PromptTemplate for prompts without media"
        )
    for turn in turns:
        if "prompt" in turn:
            raise PromptError(f"a {turn.get('role')} turn has both prompt and prompt_mm", fix="keep one of them")
        _check_entries(turn["prompt_mm"])


def _check_entries(entries: Any) -> None:
    if not isinstance(entries, Mapping) or not entries:
        raise PromptError(
            f"prompt_mm must be a mapping from modality to part, not {entries!r}",
            fix="e.g. prompt_mm=dict(text=dict(type='text', text='{question}'))",
        )
    for modality, part in entries.items():
        if modality not in PLACEHOLDERS:
            raise PromptError(
                f"prompt_mm has {modality!r}, which is not a modality", fix=f"known: {', '.join(PLACEHOLDERS)}"
            )
        if not isinstance(part, Mapping) or not isinstance(part.get(str(part.get("type"))), str | Mapping):
            raise PromptError(
                f"the part {modality!r} of prompt_mm has no 'type' with a value of that name: {part!r}",
                fix="{'type': 'image_url', 'image_url': {'url': '{image}'}}",
            )
